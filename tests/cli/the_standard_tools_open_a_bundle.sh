# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
command -v zstd >/dev/null || skip "there is no zstd"
zstd -q -t a.tkb
tar --zstd -tf a.tkb
mkdir unpacked
tar --zstd -xf a.tkb -C unpacked
cmp unpacked/triton/5D*/add_kernel.cubin cache/5D*/add_kernel.cubin
head -n 1 unpacked/tkbundle.frames | sed 's/[0-9.]* \([0-9]*\)$/N \1/'
"$python" -m json.tool unpacked/tkbundle.json | sed -n 1,26p
