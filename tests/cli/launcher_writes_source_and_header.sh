# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
tkbundle collect cache -o lean.tkb --profile lean >/dev/null
add='*fp32:16, *fp32:16, *fp32:16, i32:16, 1024'
mkdir out
try tkbundle launcher cache 5DJU --signature "$add" -o out/add \
	--grid "(n + 1023) / 1024, 1, 1"
try tkbundle launcher a.tkb 5DJU --signature "$add" -o out/same \
	--grid "(n + 1023) / 1024, 1, 1" --out-name add_kernel
for end in c h; do
	sed 's/"same\./"add./' out/same.*.$end | cmp - out/add.*.$end
done
# A lean bundle has no names of arguments.
try tkbundle launcher lean.tkb 5DJU --signature "$add" -o out/lean \
	--num-warps 4 --num-stages 3 --grid "arg3 / 1024, 1, 1"
cat out/lean.*.h
sed -n '/^CUresult add_kernel_/,$p' out/add.*.c
ls out
