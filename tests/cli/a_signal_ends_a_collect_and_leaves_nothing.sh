# SPDX-License-Identifier: Apache-2.0
[ -r /proc/self/status ] || skip "there is no /proc to see who is ready"
slow_cache cache 16

# Its fourth digit has SIGTERM, from the moment that long work begins.
is_ready() {
	grep -q '^SigCgt:.*[4-7c-f]...$' "/proc/$1/status"
}

{
	tkbundle collect cache -j 1 -o out.tkb &
	until is_ready $!; do
		sleep 0.01
	done
	kill -TERM $!
	status=0
	wait $! || status=$?
} 2>words
grep '^tkbundle' words
echo "exit $status"
ls -A
