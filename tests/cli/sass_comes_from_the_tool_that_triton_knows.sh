# SPDX-License-Identifier: Apache-2.0
need_own_processes
unset CUDA_PATH TRITON_PTXAS_PATH TRITON_NVDISASM_PATH
cache cache
mkdir -p tools wheel cuda/bin
tool() {
	printf '#!/bin/sh\necho "%s $1 $2"\ncat "$3" >seen\n' "$2" >"$1"
	chmod +x "$1"
}

ln -s "$(command -v env)" "$(command -v tkbundle)" "$(command -v cat)" tools
if [ ! -x /usr/local/cuda/bin/nvdisasm ]; then
	tool wheel/nvdisasm 'nvdisasm beside ptxas'
	try_line 'TRITON_PTXAS_PATH=$PWD/wheel/ptxas PATH=$PWD/tools tkbundle show cache 5D --stage sass'
	cmp seen cache/5D*/add_kernel.cubin
	tool cuda/bin/nvdisasm 'nvdisasm of CUDA_PATH'
	try_line 'CUDA_PATH=$PWD/cuda TRITON_PTXAS_PATH=$PWD/wheel/ptxas PATH=$PWD/tools tkbundle show cache 5D --stage sass'
else
	skip "there is a real tool, which could come before the stand-ins"
fi
tool tools/nvdisasm 'nvdisasm of the PATH'
tool mine 'the named one'
try_line 'TRITON_NVDISASM_PATH=$PWD/mine PATH=$PWD/tools tkbundle show cache 5D --stage sass'
try_line 'TRITON_NVDISASM_PATH=$PWD/missing PATH=$PWD/tools tkbundle show cache 5D --stage sass'
try_line 'TRITON_NVDISASM_PATH=nvdisasm PATH=$PWD/tools tkbundle show cache 5D --stage sass'
try_line 'TRITON_NVDISASM_PATH= PATH=$PWD/tools tkbundle show cache 5D --stage sass'
