# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
cp a.tkb longer.tkb
printf x >>longer.tkb
try tkbundle verify longer.tkb
size=$(wc -c <a.tkb)
head -c $((size - 1)) a.tkb >shorter.tkb
try tkbundle verify shorter.tkb
