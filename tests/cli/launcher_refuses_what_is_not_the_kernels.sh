# SPDX-License-Identifier: Apache-2.0
cache cache
launch() {
	try tkbundle launcher cache "$@" -o out
}
launch 5DJU --signature "*fp32:16, *fp32:16, *fp32:16, i32, 1024"
launch 5DJU --signature "*fp32:16, *fp32:16, *fp32:16, 1024"
launch 5DJU --signature "*fp32:16, *fp16:16, *fp32:16, i32:16, 1024"
launch 5DJU --signature "*fp32:16, *fp32:16, *fp32:16, i64:16, 1024"
launch 5DJU --signature "*float, 1024"
launch 5DJU --signature "tensordesc<fp16[64]>, 1024"
launch 5DJU --signature "*fp32:16, *fp32:16, *fp32:16, i32:16, 1024" \
	--num-warps 8
launch 5DJU --signature "*fp32:16, *fp32:16, *fp32:16, i32:16, 1024" \
	--grid "m, 1, 1"
launch 5DJU --signature "*fp32:16, *fp32:16, *fp32:16, i32:16, 1024" \
	--grid 'system("x"), 1, 1'
launch 5DJU --signature "*fp32:16, *fp32:16, *fp32:16, i32:16, 1024" \
	--out-name "a b"
launch XXXX --signature "*fp32"
launch "$(cd cache && echo OH*)" --signature "*fp32"
for entry in cache/*/*.autotune.json; do
	launch "$(basename "$(dirname "$entry")" | cut -c 1-8)" --signature i32
done
launch 5DJU
launch 5DJU --signature "*fp32" --link
launch 5DJU more --signature "*fp32"
launch
try tkbundle launcher cache 5DJU --signature "*fp32"
try tkbundle launcher nowhere 5DJU --signature "*fp32" -o out
ls
