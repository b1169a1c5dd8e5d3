# SPDX-License-Identifier: Apache-2.0
cache a
cp -R a b
damage "$(echo b/5D*/add_kernel.cubin)" 3000
tkbundle collect a -o a.tkb >/dev/null
damage a.tkb
try tkbundle diff a.tkb b
try tkbundle diff b a.tkb
