# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try tkbundle show a.tkb ZZ
try tkbundle show cache ZZ
try tkbundle show cache ..
try tkbundle show cache ''
try tkbundle show cache .tkbundle
