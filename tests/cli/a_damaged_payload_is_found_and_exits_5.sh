# SPDX-License-Identifier: Apache-2.0
cache cache
add=$(basename cache/5D*)
save cache a.tkb put "$add" 0 \
	launcher fx-1 add_kernel any "a payload" "$add"
damage a.tkb 100
try tkbundle verify a.tkb
tkbundle verify a.tkb --json 2>/dev/null | json | grep -v '"root"'
try tkbundle emit a.tkb out
try tkbundle merge a.tkb -o m.tkb
[ ! -e m.tkb ]
