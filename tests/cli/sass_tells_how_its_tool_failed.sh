# SPDX-License-Identifier: Apache-2.0
unset CUDA_PATH TRITON_PTXAS_PATH TRITON_NVDISASM_PATH
cache cache
mkdir tools
export PATH="$PWD/tools:$PATH"
tool() {
	printf '#!/bin/sh\n%s\n' "$1" >tools/nvdisasm
	chmod +x tools/nvdisasm
}

tool 'echo half a line; echo "no such machine" >&2; exit 3'
try tkbundle show cache 5D --stage sass
tool 'kill -9 $$'
try tkbundle show cache 5D --stage sass
tool 'echo code'
[ -w /dev/full ] || exit 0
try_line 'tkbundle show cache 5D --stage sass >/dev/full'
