# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try_line 'tkbundle collect cache -o - >b.tkb'
cmp a.tkb b.tkb
try_line 'tkbundle collect cache -o /dev/stdout | cat >b.tkb'
cmp a.tkb b.tkb
try_line 'tkbundle collect cache -o /dev/fd/3 3>c.tkb'
cmp a.tkb c.tkb
# What is no open file of the user's is replaced, or not written.
tkbundle collect cache -o /proc/self/cwd/c.tkb >/dev/null
cmp a.tkb c.tkb
for number in 3 4 5 6 7 8 9; do
	tkbundle merge a.tkb c.tkb -o /dev/fd/$number || :
done 2>/dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
cmp a.tkb c.tkb
# A summary there would overwrite the bundle: the link's file is opened anew.
ln -s /proc/self/fd/1 link
try_line 'tkbundle collect cache -o link >b.tkb'
cmp a.tkb b.tkb
try tkbundle collect cache --json -o -
