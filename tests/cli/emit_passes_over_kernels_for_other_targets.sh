# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
try tkbundle emit a.tkb a --target cuda:90
try tkbundle emit a.tkb b --target cuda:80
ls b
try tkbundle emit a.tkb c --target cuda:90:64
try tkbundle emit a.tkb d --target cuda
try tkbundle emit a.tkb e --target hip:gfx942 --target=cuda:90:32
for target in :90 cuda:90:0 cuda:90:x cuda:90: ''; do
	try tkbundle emit a.tkb f --target "$target"
done
