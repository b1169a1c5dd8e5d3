# SPDX-License-Identifier: Apache-2.0
cache cache
add=$(basename cache/5D*)
softmax=$(basename cache/QT*)
save cache a.tkb put "$add" 0 \
	launcher fx-1 add_kernel any "a payload" "$add,$softmax" \
	launcher fx-2 softmax_kernel all "another" "$softmax,$add"
try tkbundle emit a.tkb out
try tkbundle emit a.tkb some --key 5D
tkbundle emit a.tkb some --key 5D --json 2>/dev/null | json |
	sed -n '/"launchers"/,$p'
try tkbundle emit a.tkb none --dry-run
try tkbundle emit a.tkb torchinductor_x
tkbundle emit a.tkb torchinductor_x --json | json |
	sed -n '/"launchers"/,$p'
