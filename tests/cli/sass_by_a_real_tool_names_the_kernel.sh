# SPDX-License-Identifier: Apache-2.0
for tool in "$here"/../../build/venv/lib/python3*/site-packages/triton/backends/nvidia/bin/nvdisasm; do
	[ ! -x "$tool" ] || export TRITON_NVDISASM_PATH="$tool"
done
[ -n "${TRITON_NVDISASM_PATH-}" ] || command -v nvdisasm >/dev/null ||
	command -v cuobjdump >/dev/null ||
	[ -x /usr/local/cuda/bin/nvdisasm ] ||
	skip "there is no nvdisasm and no cuobjdump"
cache cache
tkbundle collect cache -o a.tkb >/dev/null
tkbundle show a.tkb 5D --stage sass >sass
grep -q add_kernel sass && echo "the kernel is named"
grep -q EXIT sass && echo "and it ends"
