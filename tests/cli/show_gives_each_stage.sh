# SPDX-License-Identifier: Apache-2.0
cache cache
tkbundle collect cache -o a.tkb >/dev/null
for stage in ptx llir ttir ttgir source cubin; do
	for from in a.tkb cache; do
		tkbundle show $from 5D --stage $stage | cmp - cache/5D*/*.$stage
	done
	echo "$stage is the same"
done
try tkbundle show cache OH --stage ptx
try tkbundle show cache 5D --stage asm
try tkbundle show cache 5D --stage ptx --file add_kernel.ptx
