# SPDX-License-Identifier: Apache-2.0
echo text >text
try tkbundle stats nowhere
try tkbundle stats nowhere --used
try tkbundle stats text
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try tkbundle stats --used a.tkb
damage a.tkb
tkbundle stats a.tkb | head -n 2
try tkbundle stats --paths a.tkb
