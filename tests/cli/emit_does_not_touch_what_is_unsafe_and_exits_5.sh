# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
mkdir -p out elsewhere
ln -s "$PWD/elsewhere" "out/$(cd cache && echo 5D*)"
touch "out/$(cd cache && echo CP*)"
try tkbundle emit a.tkb out
ls elsewhere
try_line 'tkbundle emit a.tkb out --json 2>/dev/null >document'
outline <document
