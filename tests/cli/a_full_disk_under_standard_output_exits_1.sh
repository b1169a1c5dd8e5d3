# SPDX-License-Identifier: Apache-2.0
[ -w /dev/full ] || skip "there is no /dev/full"
cache cache
fixture triton-3.6.0-h100 big
tkbundle collect cache -o a.tkb >/dev/null
rm cache/5D*/add_kernel.ptx
cp a.tkb bad.tkb
damage bad.tkb
for line in '--version' 'help' 'ls a.tkb' 'ls --json a.tkb' 'show a.tkb 5D' \
	'show a.tkb 5D --stage ptx' 'verify a.tkb' 'emit a.tkb out' \
	'collect cache -n' 'collect cache -o -' 'verify bad.tkb --json' \
	'doctor big/.triton/cache --json' \
	'doctor big/.triton/cache'; do
	status=0
	tkbundle $line >/dev/full 2>words || status=$?
	echo "$line: $status"
	tail -n 1 words
done
