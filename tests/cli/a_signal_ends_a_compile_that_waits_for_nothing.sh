# SPDX-License-Identifier: Apache-2.0
. "$here/compiling.inc"
# More complaints than a pipe holds: it is in the midst of them when TERM comes.
mkfifo words
tkbundle compile $(seq -f 'there-is-no-such-input-%g.ptx' 4000) --target cuda:90 \
	-j 1 --cache root --keep-going >out 2>words &
exec 3<words
read -r first <&3
{
	kill -TERM $!
	cat <&3 >rest
	status=0
	wait $! || status=$?
} 2>shell
echo "$first"
grep -c cancelled rest
echo "exit $status"
sed 's/[1-9][0-9]*/N/g' out
