# SPDX-License-Identifier: Apache-2.0
cache a
cp -R a b
sed -i 's/"triton_version": "3.6.0"/"triton_version": "3.6.1"/' b/5D*/add_kernel.json
sed -i 's/"warp_size": 32/"warp_size": 64/g' b/QT*/softmax_kernel.json
try tkbundle diff a b
tkbundle diff --json a b >document || true
json <document | grep -A 2 '"fact": '
