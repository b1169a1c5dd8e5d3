# SPDX-License-Identifier: Apache-2.0
cache a
cp -R a b
rm a/5D*/add_kernel.ptx b/5D*/add_kernel.ptx
try tkbundle diff a b
cp -R b c
rm c/QT*/softmax_kernel.cubin
try tkbundle diff a c
rm -r a/5D*
try tkbundle diff a b
try tkbundle diff b a
