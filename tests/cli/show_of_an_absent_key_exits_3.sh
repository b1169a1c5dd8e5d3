# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try tkbundle show a.tkb ZZ
try tkbundle show cache ZZ
try tkbundle show cache ..
try tkbundle show cache ''
try tkbundle show cache .tkbundle
# One that is there, but not whole, is not said to be absent.
echo '{' >"$(echo cache/5DJU*)/add_kernel.json"
try tkbundle show cache 5DJU
try tkbundle launcher cache 5DJU -o add --signature i32
