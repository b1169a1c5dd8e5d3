# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try_line 'tkbundle show a.tkb 5D --json | json'
try_line 'tkbundle show cache 5D --json | json | grep -v -e size -e sentinels'
try_line 'tkbundle show cache OH --json | json | grep -e kind -e num_ -e signature'
try tkbundle show a.tkb NONE --json
try tkbundle show nowhere 5D --json
try tkbundle show a.tkb 5D --json --stage ptx
try tkbundle show a.tkb 5D --json --file add_kernel.ptx
