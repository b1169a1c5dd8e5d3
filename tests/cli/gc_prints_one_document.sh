# SPDX-License-Identifier: Apache-2.0
cache cache
age=0
for stamp in cache/*/__grp__* cache/*/*.autotune.json; do
	age=$((age + 1))
	touch -d "$age days ago" "$stamp"
done
document() {
	tkbundle gc cache --json "$@" | json | grep -v '"knows_use": [tf]'
}
document --max-entries 4 -n
document --max-entries 4
document --max-entries 4
