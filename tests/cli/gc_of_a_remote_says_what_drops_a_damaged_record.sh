# SPDX-License-Identifier: Apache-2.0
hide() {
	sed 's/[0-9a-f]\{64\}/$DIGEST/g'
}
record() {
	echo "$1" >record
	mv record "remote/ref/a/$(sha256sum <record | cut -c 1-64)"
}
cache cache
tkbundle push a cache --remote remote >words
# Of a newer version: nothing is damaged.
record '{"version":9}'
tkbundle gc --remote remote 2>&1 | hide
rm "remote/ref/a/$(echo '{"version":9}' | sha256sum | cut -c 1-64)"
record 'no record'
tkbundle gc --remote remote 2>&1 | hide
tkbundle verify --remote remote --repair >words 2>&1 || true
tkbundle gc --remote remote >words && echo done
