# SPDX-License-Identifier: Apache-2.0
cache cache
try tkbundle verify cache
tkbundle collect cache -o a.tkb >/dev/null
tkbundle emit a.tkb out >/dev/null
try tkbundle verify out -j2
try_line 'tkbundle verify out --json | json'
damage out/5D*/add_kernel.cubin 6936
rm out/QT*/softmax_kernel.json
try tkbundle verify out
try_line 'tkbundle verify out --json 2>/dev/null | json'
