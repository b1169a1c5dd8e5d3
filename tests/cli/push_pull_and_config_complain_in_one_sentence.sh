# SPDX-License-Identifier: Apache-2.0
remote='--remote remote'
mkdir cache
for line in \
	"push a b c $remote" \
	"push a b $remote --bundle c.tkb" \
	"push a $remote --bundle c.tkb --layout triton" \
	"push a $remote --bundle c.tkb --key 5DJU" \
	"push a $remote --bundle c.tkb --device 0" \
	"push a $remote --bundle c.tkb --profile lean" \
	"push a $remote --bundle c.tkb --no-modules" \
	"push a $remote --bundle c.tkb --strict" \
	"push a $remote --bundle c.tkb -j 2" \
	"push - cache $remote --layout triton --no-compaction" \
	"push a $remote --layout inductor" \
	"push cache $remote --layout triton" \
	"push - cache $remote --layout triton" \
	"push a $remote -o b.tkb" \
	"pull a b c $remote" \
	"pull a b $remote -o c.tkb" \
	"pull a $remote -o c.tkb --key 5DJU" \
	"pull a $remote -o c.tkb --device 0" \
	"pull a $remote -o c.tkb --target cuda" \
	"pull a $remote -o c.tkb --layout triton" \
	"pull a $remote -o c.tkb --sync" \
	"pull a $remote -o c.tkb --engine vllm" \
	"pull a $remote -o c.tkb --tree vllm=x" \
	"doctor --wait 1s" \
	"pull a $remote -o c.tkb -n" \
	"pull a $remote -o - --json" \
	"pull a $remote -o - --best-effort -n" \
	"pull a $remote --device 0 --layout triton" \
	"emit a.tkb b --device 0 --layout triton" \
	"pull a $remote --layout tkb" \
	"pull a $remote --deadline 0s" \
	"pull a $remote --deadline 5" \
	"pull a $remote --deadline ''" \
	"pull a $remote --deadline 25h" \
	"pull a $remote --metrics ''" \
	"pull a $remote --best-effort=1" \
	"config a" \
	"config --remote remote"; do
	try_line "tkbundle $line"
done
ls
