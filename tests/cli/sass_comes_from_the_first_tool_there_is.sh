# SPDX-License-Identifier: Apache-2.0
need_own_processes
unset CUDA_PATH TRITON_PTXAS_PATH TRITON_NVDISASM_PATH
cache cache
tkbundle collect cache -o a.tkb >/dev/null
mkdir -p tools cuda/bin
tool() {
	printf '#!/bin/sh\nfor file; do :; done\necho "%s ${*%% "$file"}"\ncat "$file" >seen\n' "$2" >"$1"
	chmod +x "$1"
}

if command -v nvdisasm || [ -x /usr/local/cuda/bin/nvdisasm ] ||
	command -v cuobjdump; then
	skip "there is a real tool, which would come before the stand-ins"
fi
export CUDA_HOME="$PWD/cuda" PATH="$PWD/tools:$PATH"
tool cuda/bin/cuobjdump 'cuobjdump of CUDA_HOME'
try tkbundle show cache 5D --stage sass
cmp seen cache/5D*/add_kernel.cubin
tool tools/cuobjdump 'cuobjdump of the PATH'
try tkbundle show cache 5D --stage sass
tool cuda/bin/nvdisasm 'nvdisasm of CUDA_HOME'
try tkbundle show cache 5D --stage sass
tool tools/nvdisasm 'nvdisasm of the PATH'
rm seen
try tkbundle show a.tkb 5D --stage sass
cmp seen cache/5D*/add_kernel.cubin
chmod -x tools/nvdisasm
try tkbundle show cache 5D --stage sass
try tkbundle show cache OH --stage sass
