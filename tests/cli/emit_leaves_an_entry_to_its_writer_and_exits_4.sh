# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
writer="out/$(cd cache && echo 5D*)/tmp.pid_1_abc"
mkdir -p "$writer"
try tkbundle emit a.tkb out
try_line 'tkbundle emit a.tkb out --json 2>/dev/null >document'
json <document | grep -e busy
try tkbundle verify out
touch -d '20 minutes ago' "$writer"
try tkbundle emit a.tkb out
