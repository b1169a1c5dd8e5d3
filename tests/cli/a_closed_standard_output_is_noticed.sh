# SPDX-License-Identifier: Apache-2.0
cache cache
rm cache/5D*/add_kernel.ptx
tkbundle collect cache -o a.tkb >/dev/null 2>&1 || true
try_line 'tkbundle ls a.tkb >&-'
try_line 'tkbundle ls - <&-'

# What is said must not get into the file that is opened next.
for closed in '>&-' '2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
	status=0
	(eval "tkbundle collect cache -o b.tkb $closed") >/dev/null 2>&1 ||
		status=$?
	echo "$closed: exit $status"
	cmp a.tkb b.tkb
	rm b.tkb
done
