# SPDX-License-Identifier: Apache-2.0
cache cache
age=0
for stamp in cache/*/__grp__* cache/*/*.autotune.json; do
	age=$((age + 1))
	touch -d "$age days ago" "$stamp"
done
remove() {
	try tkbundle gc cache "$@" | sed 's/, use unknown//'
}
remove --max-entries 5
remove --max-entries 3 -n
remove --max-entries=0 --dry-run
for size in 222640 222639 222253 222252 218k 218K 218KB 218Ki 218KiB 1M 2GB; do
	remove --max-size $size -n
done
remove --max-age 108h -n
remove --max-age 5000m -n
remove --max-age 300000s -n
remove --max-age 1d -n
remove --max-age 1s --max-size 9EB --max-entries 4 -n
remove --max-entries 3
ls cache
remove --max-entries 3
try tkbundle verify cache
