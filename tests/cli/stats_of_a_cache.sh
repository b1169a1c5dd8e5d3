# SPDX-License-Identifier: Apache-2.0
fixture triton-3.6.0-h100 unpacked
try tkbundle stats unpacked/.triton/cache
try tkbundle stats --paths unpacked/.triton/cache
# Of a unit, a lean bundle has all.
mkdir tree
echo '.version 8.7' >tree/a.ptx
tkbundle stats --tree t=tree | grep 'ptx$\|^lean'
tkbundle collect --tree t=tree --profile lean -o tree.tkb
