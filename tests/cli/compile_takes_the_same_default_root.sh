# SPDX-License-Identifier: Apache-2.0
. "$here/compiling.inc"
kernels .
{
	try tkbundle compile add.ptx --target cuda:90
	export TRITON_HOME="$PWD/triton"
	try tkbundle compile add.ptx --target cuda:90
	export TORCHINDUCTOR_CACHE_DIR="$PWD/inductor"
	try tkbundle compile add.ptx --target cuda:90
	try tkbundle ls inductor
	try tkbundle compile add.ptx --target cuda:90 --cache torchinductor_me
	export TRITON_CACHE_DIR="$PWD/here"
	try tkbundle compile add.ptx --target cuda:90
} | mask
