# SPDX-License-Identifier: Apache-2.0
mkdir -p cache/triton
cache cache/triton/3
cp -R cache/triton/3 cache/triton/5
rm -r cache/triton/5/OH*
tkbundle collect cache -o both.tkb >/dev/null
tkbundle collect cache --device 5 -o one.tkb >/dev/null
try tkbundle diff both.tkb one.tkb
tkbundle diff --json both.tkb one.tkb >document || true
json <document | grep -A 6 -m 1 '"facts": '
tkbundle collect cache --device 3 --key 5D -o other.tkb >/dev/null
try tkbundle diff other.tkb one.tkb
# One key may stand for two entries, of disjoint devices.
damage "$(echo cache/triton/5/QT*/softmax_kernel.cubin)" 3000
try tkbundle diff both.tkb cache
tkbundle diff one.tkb cache | grep -A 3 softmax
