# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache --key 5D --key CP -o a.tkb >/dev/null
tkbundle collect cache --key CP --key QT -o b.tkb >/dev/null
try tkbundle merge a.tkb b.tkb -o m.tkb
try tkbundle verify m.tkb
tkbundle collect cache -o whole.tkb >/dev/null
try tkbundle merge whole.tkb m.tkb a.tkb -o n.tkb
cmp n.tkb whole.tkb
