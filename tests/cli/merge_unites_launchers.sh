# SPDX-License-Identifier: Apache-2.0
cache cache
add=$(basename cache/5D*)
softmax=$(basename cache/QT*)
save cache a.tkb put "$add" 0 \
	launcher fx-1 add_kernel any "the first" "$add"
save cache b.tkb put "$softmax" 0 \
	launcher fx-1 softmax_kernel all "is not used" "$softmax" \
	launcher fx-2 softmax_kernel all "is used" "$softmax,$add"
try tkbundle merge a.tkb b.tkb -o m.tkb
try tkbundle verify m.tkb
try tkbundle ls m.tkb
try tkbundle emit m.tkb out
tkbundle merge b.tkb a.tkb -o n.tkb --json | json |
	sed 's/"id": ".*"/"id": $ID/'
