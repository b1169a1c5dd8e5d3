# SPDX-License-Identifier: Apache-2.0
# A container's user may be a number without a name, who has no home folder.
[ "$(id -u)" -eq 0 ] || skip "only root can become a user without a name"
chmod 755 "$work" "$own" .
nameless() {
	env -u HOME setpriv --reuid 12345 --clear-groups "$@"
}
nameless test -x "$PWD" || skip "no other user can be had here"
cache cache
tkbundle collect cache -o a.tkb >words
mkdir -m 777 theirs remote
cd theirs
try nameless tkbundle push a --bundle ../a.tkb --remote ../remote
try nameless tkbundle pull a -o b.tkb --remote ../remote
cmp ../a.tkb b.tkb
try nameless tkbundle pull a --remote ../remote
