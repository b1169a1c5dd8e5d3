# SPDX-License-Identifier: Apache-2.0
fixture triton-3.6.0-h100 .
tkbundle collect .triton/cache -o a.tkb >/dev/null
tkbundle collect .triton/cache --profile lean -o lean.tkb >/dev/null
try tkbundle ls -l .triton/cache
tkbundle ls -l .triton/cache | sed '$d' >of_cache
tkbundle ls --long a.tkb | sed '$d' | cmp - of_cache
# A lean bundle has no IR that would tell the signature.
try_line 'tkbundle ls -l lean.tkb | head -n 2'
try_line 'tkbundle show lean.tkb KRJX | grep -e warps -e stages -e signature'
try_line 'tkbundle ls -l a.tkb --json | json | grep -e num_ -e signature | sort | uniq -c'
try_line 'tkbundle ls a.tkb --json | grep -c num_warps'
# What it says is what a launcher takes.
signature=$(tkbundle show a.tkb KRJX | sed -n 's/^signature //p')
tkbundle launcher .triton/cache KRJX -o k --signature "$signature"
# Metadata that make no sense tell nothing, and are no failure.
key=$(ls .triton/cache | grep KRJX)
sed -i 's/"num_warps": 4/"num_warps": "x"/' ".triton/cache/$key/add_kernel.json"
try_line 'tkbundle show .triton/cache KRJX | grep -e warps -e signature'
