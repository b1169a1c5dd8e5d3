# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache --key 5D -o a.tkb >/dev/null
try tkbundle merge a.tkb none.tkb -o m.tkb
try tkbundle merge a.tkb cache -o m.tkb
try tkbundle merge a.tkb -o none/m.tkb
[ ! -e m.tkb ]
