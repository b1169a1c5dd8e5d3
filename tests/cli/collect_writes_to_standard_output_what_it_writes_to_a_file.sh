# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try_line 'tkbundle collect cache -o - >b.tkb'
cmp a.tkb b.tkb
try_line 'tkbundle collect cache -o /dev/stdout | cat >b.tkb'
cmp a.tkb b.tkb
try_line 'tkbundle collect cache -o /dev/fd/3 3>c.tkb'
cmp a.tkb c.tkb
# A summary there would overwrite the bundle: the link's file is opened anew.
ln -s /proc/self/fd/1 link
try_line 'tkbundle collect cache -o link >b.tkb'
cmp a.tkb b.tkb
try tkbundle collect cache --json -o -
