# SPDX-License-Identifier: Apache-2.0
fixture inductor-2.11-llama4-h100 .
tkbundle collect .cache/torchinductor -o a.tkb >/dev/null
try tkbundle verify a.tkb
try_line 'tkbundle verify a.tkb --json | json'
damage a.tkb
try tkbundle verify a.tkb -j 1
try_line 'tkbundle verify a.tkb -j 1 --json 2>/dev/null >document'
outline <document
grep -o '"reason":"[a-z]*"' document | sort | uniq -c
