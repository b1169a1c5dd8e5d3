# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try tkbundle emit a.tkb out
try tkbundle verify out
try tkbundle emit a.tkb out
rm out/5D*/add_kernel.ptx
try tkbundle emit a.tkb out
try tkbundle verify out
mv out moved
try tkbundle emit a.tkb moved
try tkbundle verify moved
