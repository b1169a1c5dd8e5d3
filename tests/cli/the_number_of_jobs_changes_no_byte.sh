# SPDX-License-Identifier: Apache-2.0
need_modules
fixture inductor-2.11-llama4-h100 .
try tkbundle collect .cache/torchinductor -o 1.tkb -j 1
try tkbundle collect .cache/torchinductor -o 3.tkb --jobs=3
cmp 1.tkb 3.tkb
try tkbundle emit 1.tkb root1 -j1
try tkbundle emit 1.tkb root3 --jobs 3
try tkbundle verify root3 -j2
try tkbundle verify 1.tkb -j5
tkbundle collect root3 -o again.tkb >/dev/null
cmp 1.tkb again.tkb
