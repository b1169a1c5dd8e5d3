# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache --key 5D --key CP -o a.tkb >/dev/null
tkbundle collect cache --key CP --key QT -o b.tkb >/dev/null
tkbundle merge a.tkb b.tkb -o m.tkb >/dev/null
try_line 'cat b.tkb | tkbundle merge a.tkb - -o - >n.tkb'
try_line 'tkbundle merge - b.tkb -o - <a.tkb | cat >o.tkb'
cmp m.tkb n.tkb
cmp m.tkb o.tkb
try_line 'tkbundle merge - -o p.tkb </dev/null'
[ ! -e p.tkb ]
