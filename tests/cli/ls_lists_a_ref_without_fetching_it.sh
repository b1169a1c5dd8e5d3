# SPDX-License-Identifier: Apache-2.0
# Sizes of blobs are zstd's, and seconds pass.
cache cache
export TKBUNDLE_REMOTE=remote
{
	tkbundle push a cache --key 5DJU
	tkbundle push a cache
} >words
packed() {
	sed 's/records (.*)/records ($SIZE)/'
}
tkbundle ls --remote - a | packed
tkbundle ls --remote remote a --files | head -n 9
# Nothing of the data frames is read.
for blob in remote/cas/*/*; do
	size=$(wc -c <"$blob")
	head -c $((size / 2)) "$blob" >half && tail -c +$((size / 2 + 1)) "$blob" |
		tr '\000-\377' '\001-\377\000' >rest
	chmod u+w "$blob" && cat half rest >"$blob"
done
tkbundle ls --remote - a | packed | tail -n 8
tkbundle ls --remote - a --json | json |
	sed 's/\("\(packed_size\|age\)": \)[0-9]*/\1$N/' | sed -n '1,5p; /entry_count/,$p'
try tkbundle ls --remote - b
try tkbundle ls --remote - a --long
try tkbundle ls --deadline 3s cache
try tkbundle ls --remote absent a
rm -r remote/cas
try tkbundle ls --remote - a
