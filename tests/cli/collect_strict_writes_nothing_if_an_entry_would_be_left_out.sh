# SPDX-License-Identifier: Apache-2.0
cache cache
try tkbundle collect cache -o a.tkb --strict
rm cache/5D*/add_kernel.ptx cache/CP*/gelu_kernel.ptx
try tkbundle collect cache -o b.tkb --strict
try_line 'tkbundle collect cache -o - --strict | wc -c'
try tkbundle collect cache -n --strict
ls
