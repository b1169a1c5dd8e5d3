# SPDX-License-Identifier: Apache-2.0
cache a
cp -R a b
rm -r b/OH*
rm b/CP*/gelu_kernel.ptx
damage "$(echo b/5D*/add_kernel.cubin)" 3000
tkbundle collect a -o a.tkb >/dev/null
try_line 'tkbundle diff --json a.tkb b >document'
json <document
tkbundle diff --json b a.tkb 2>/dev/null >document || true
json <document | grep -e only_ -e count
tkbundle diff --json a a.tkb | json
