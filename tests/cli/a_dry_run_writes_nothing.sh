# SPDX-License-Identifier: Apache-2.0
cache cache
try tkbundle collect cache -o b.tkb -n
try tkbundle collect cache --dry-run
tkbundle collect cache -o a.tkb >/dev/null
try tkbundle emit a.tkb out -n
tkbundle emit --dry-run a.tkb out --json | outline
mkdir -p some
cp -r cache/OH* some
find some cache | sort >before
try tkbundle emit a.tkb some -n
try tkbundle emit a.tkb cache -n
find some cache | sort | cmp - before
ls
