# SPDX-License-Identifier: Apache-2.0
[ -r /proc/self/status ] || skip "there is no /proc to count threads in"
slow_cache cache 16

# The most threads that are seen at a time; a sanitizer may have one more.
count_threads() {
	most=0
	tkbundle collect cache -n -j "$1" >/dev/null &
	while threads=$(sed -n 's/^Threads:[^0-9]*//p' /proc/$!/status \
		2>/dev/null) && [ -n "$threads" ]; do
		[ "$threads" -le $most ] || most=$threads
	done
	wait $!
	echo $most
}

one=$(count_threads 1)
four=$(count_threads 4)
echo "four jobs have $((four - one)) threads more than one has"
