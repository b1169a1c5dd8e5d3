# SPDX-License-Identifier: Apache-2.0
. "$here/compiling.inc"
kernels .
try tkbundle compile add.ptx matmul.ptx --target cuda:90,cuda:100 --cache root --ptxas /nowhere/ptxas
export TRITON_PTXAS_PATH=/nowhere/else
try tkbundle compile add.ptx --target cuda:90 --cache root
export TRITON_PTXAS_PATH=/dev/null
try tkbundle compile add.ptx --target cuda:90 --cache root
export TRITON_PTXAS_PATH=/bin/echo
try tkbundle compile add.ptx --target cuda:90 --cache root
