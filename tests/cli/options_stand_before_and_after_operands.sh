# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o wanted.tkb --device 3 >/dev/null
tkbundle collect --device 3 -owanted2.tkb cache >/dev/null
tkbundle collect --device=3 cache --output wanted3.tkb >/dev/null
tkbundle collect -j1 -o first -o wanted4.tkb --device 2 --device 3 cache \
	>/dev/null
for copy in wanted2 wanted3 wanted4; do
	cmp wanted.tkb $copy.tkb
done
try test -e first
try tkbundle collect -nj1 cache
try tkbundle show --file add_kernel.json wanted.tkb 5D >/dev/null
try tkbundle show wanted.tkb --file add_kernel.json 5D >/dev/null
