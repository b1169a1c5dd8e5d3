# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb --key OH >/dev/null
cp a.tkb before.tkb
try tkbundle collect nowhere -o a.tkb
cmp a.tkb before.tkb
try tkbundle collect cache -o a.tkb
try cmp -s a.tkb before.tkb
ls -A
