# SPDX-License-Identifier: Apache-2.0
hide() {
	sed 's/([1-9][0-9.]* k*M*B)/($SIZE)/g; s/\("size": \)[1-9][0-9]*/\1$SIZE/; s/[0-9a-f]\{64\}/$DIGEST/g'
}
verify() {
	echo "\$ verify $*"
	status=0
	tkbundle verify --remote remote "$@" >out 2>err || status=$?
	cat out err | hide
	echo "= $status"
}
cache cache
tkbundle push a cache --remote remote >words
verify
verify a
verify none
damage remote/cas/*/* 100
verify
tkbundle verify --remote remote --json 2>err | json | hide
verify a --repair
# What it named is gone: a hole, until the next push.
verify
tkbundle push a cache --remote remote | hide
verify
# No record of any version, and one of a newer.
record() {
	echo "$1" >record
	mv record "remote/ref/a/$(sha256sum <record | cut -c 1-64)"
}
record 'no record'
record '{"version":9}'
tkbundle gc --remote remote >words 2>&1 || echo "gc: $?"
verify --repair
verify
try tkbundle verify remote
try tkbundle verify cache --repair
# A pull says what helps.
damage remote/cas/*/* 100
tkbundle pull a pulled --remote remote 2>&1 >words | hide
