# SPDX-License-Identifier: Apache-2.0
fixture triton-3.6.0-h100 .
tkbundle collect .triton/cache -o a.tkb >/dev/null
try tkbundle show a.tkb D
try tkbundle show .triton/cache D
try tkbundle emit a.tkb out --key D
status=0
tkbundle collect .triton/cache -o b.tkb --key D 2>/dev/null || status=$?
echo "collect: $status"
ls
