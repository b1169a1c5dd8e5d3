# SPDX-License-Identifier: Apache-2.0
need_own_processes
for tool in nvdisasm cuobjdump; do
	[ ! -x /usr/local/cuda/bin/$tool ] ||
		skip "there is a $tool in /usr/local/cuda/bin"
done
unset CUDA_PATH TRITON_PTXAS_PATH TRITON_NVDISASM_PATH
cache cache
mkdir tools
ln -s "$(command -v env)" "$(command -v tkbundle)" tools
try_line 'PATH="$PWD/tools" tkbundle show cache 5D --stage sass'
