# SPDX-License-Identifier: Apache-2.0
cache cache
add=$(basename cache/5D*)
softmax=$(basename cache/QT*)
save cache a.tkb lean put "$add" 0 \
	launcher "fx 1" add_kernel any "a payload" "$add" \
	launcher fx-2 "a kernel" all "" "$add,$softmax"
try tkbundle ls a.tkb
tkbundle ls a.tkb --json | json | sed -n '/"launchers"/,$p'
