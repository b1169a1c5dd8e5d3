# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
head -c 100 a.tkb >cut.tkb
: >empty.tkb
echo 'not a bundle' >text.tkb
tar -cf tar.tkb cache
for name in absent cut empty text tar; do
	try tkbundle emit $name.tkb out
	try tkbundle ls $name.tkb
	try tkbundle verify $name.tkb
done
try_line 'tkbundle emit cut.tkb out --json 2>/dev/null | json'
try tkbundle emit cache out
try test -e out
