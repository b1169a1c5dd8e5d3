# SPDX-License-Identifier: Apache-2.0
powerless true 2>/dev/null || skip "root cannot give up its powers here"
cache cache
chmod 000 cache/5D*/add_kernel.cubin cache/CP*/__grp__gelu_kernel.json
try powerless tkbundle verify cache
try powerless tkbundle collect cache -o a.tkb
try powerless tkbundle show cache 5D --stage cubin
chmod 000 a.tkb
try powerless tkbundle ls a.tkb
chmod 600 a.tkb
chmod 311 cache
try powerless tkbundle ls cache
chmod 755 cache
