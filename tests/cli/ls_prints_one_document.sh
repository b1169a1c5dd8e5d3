# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb --key OH --key 5D >/dev/null
tkbundle ls --json a.tkb | json
tkbundle ls --json --files a.tkb | json >with_files
grep -c sha256 with_files
grep -A 5 add_kernel.cubin with_files
tkbundle ls --json cache | outline
tkbundle ls --json cache | json | grep moved
tkbundle ls --json --files cache | json | grep -c -e sha256 || true
