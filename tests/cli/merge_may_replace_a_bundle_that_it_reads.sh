# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache --key 5D -o a.tkb >/dev/null
tkbundle collect cache --key QT -o b.tkb >/dev/null
tkbundle merge a.tkb b.tkb -o m.tkb >/dev/null
try tkbundle merge a.tkb b.tkb -o a.tkb
cmp a.tkb m.tkb
try tkbundle merge a.tkb -o a.tkb
cmp a.tkb m.tkb
ls -A
