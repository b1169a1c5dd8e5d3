# SPDX-License-Identifier: Apache-2.0
. "$here/compiling.inc"
kernels .
{
	try tkbundle compile add.ptx softmax.ptx matmul.ptx --target cuda:90 \
		--cache root
	try tkbundle compile matmul.ptx add.ptx --target cuda:90 --cache root
	try_line 'tkbundle compile add.ptx ./add.ptx --target cuda:90 --cache other -v 2>/dev/null'
	try tkbundle verify root
	try tkbundle ls root
	try tkbundle collect root -o k.tkb
	try tkbundle emit k.tkb warm
	try tkbundle diff root warm
	try tkbundle push a root --remote remote
	try tkbundle pull a cold --remote remote
	try tkbundle compile add.ptx softmax.ptx --target cuda:90 --cache cold
} | mask
