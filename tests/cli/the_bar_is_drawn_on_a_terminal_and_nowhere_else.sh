# SPDX-License-Identifier: Apache-2.0
script -qec true /dev/null </dev/null >/dev/null 2>&1 ||
	skip "script(1) gives no terminal here"
on_terminal() {
	TERM=$1 script -qec "$2" /dev/null </dev/null >shown
}

# Work that is over at once needs no bar: find how much is enough here.
for count in 4 8 16 32 64 128 256; do
	slow_cache cache$count $count
	on_terminal xterm "tkbundle collect -j1 -n cache$count"
	! grep -q '\[' shown || break
done

escape=$(printf '\033')
tr '\r' '\n' <shown | grep '^\[' >bars
grep -c -v -E "^\[#*\.*\] (looked at [0-9]+ of [0-9]+|[0-9.]+ [kMG]?B of [0-9.]+ [kMG]?B)(, [0-9.]+( [kMG]?B)?/s, [0-9]+[smh] left)?$escape\[K\$" bars || true
grep -o "$(printf '\r')$escape\[Kwould collect" shown | tr -d '\r\033'

on_terminal xterm "tkbundle collect -j1 -n --json cache$count >document"
grep -c '\[#*\.*\]' shown || true
on_terminal dumb "tkbundle collect -j1 -n cache$count"
grep -c '\[' shown || true
tkbundle collect -j1 -n cache$count >/dev/null
