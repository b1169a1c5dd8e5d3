# SPDX-License-Identifier: Apache-2.0
cache cache
rm cache/5D*/add_kernel.ptx
: >"$(echo cache/CP*/gelu_kernel.cubin)"
mkdir cache/EMPTY
touch cache/stray
try tkbundle collect cache -o a.tkb
tkbundle ls a.tkb
try_line 'tkbundle collect --json cache -o a.tkb 2>/dev/null | json'
