# SPDX-License-Identifier: Apache-2.0
cache cache
touch -d '1 day ago' cache/*/*

# When the group files are gone, it waits for those who have just read one.
{
	tkbundle gc cache --max-entries 0 &
	while ls cache/*/__grp__* >files; do
		sleep 0.01
	done
	kill -TERM $!
	status=0
	wait $! || status=$?
} 2>words
grep '^tkbundle' words || true
echo "exit $status"
ls -A cache
