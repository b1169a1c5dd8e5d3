# SPDX-License-Identifier: Apache-2.0
need_modules
fixture inductor-2.11-llama4-h100 .
tkbundle collect .cache/torchinductor -o a.tkb >/dev/null
damage a.tkb
try tkbundle emit a.tkb out -j 1
try tkbundle verify out
try_line 'tkbundle emit --json a.tkb out -j 1 2>/dev/null >document'
outline <document
