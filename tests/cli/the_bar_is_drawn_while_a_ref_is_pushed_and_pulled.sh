# SPDX-License-Identifier: Apache-2.0
script -qec true /dev/null </dev/null >/dev/null 2>&1 ||
	skip "script(1) gives no terminal here"
on_terminal() {
	TERM=xterm script -qec "tkbundle $1 -j1 --remote remote" /dev/null \
		</dev/null >shown
}
escape=$(printf '\033')
bars() {
	tr '\r' '\n' <shown | grep '^\[' >bars
	grep -c -v -E "^\[#*\.*\] (looked at [0-9]+ of [0-9]+|[0-9.]+ [kMG]?B of [0-9.]+ [kMG]?B)(, [0-9.]+( [kMG]?B)?/s, [0-9]+[smh] left)?$escape\[K\$" \
		bars || true
	# What is done never becomes less; its share may, a little, when there is more.
	grep -v 'looked at' bars | sed 's/[^#]//g' |
		awk 'length < last - 1 { print } { last = length }'
}

# Work that is over at once needs no bar: find how much is enough here.
for count in 8 16 32 64 128 256; do
	slow_cache cache$count $count
	on_terminal "push a$count cache$count"
	! grep -q '\[' shown || break
done
bars
for count in 8 16 32 64 128 256 512; do
	[ -e cache$count ] || slow_cache cache$count $count
	tkbundle push b$count cache$count --remote remote >words
	on_terminal "pull b$count warm$count"
	! grep -q '\[' shown || break
done
bars
