#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A program that was built with the first headers runs with today's libraries.
#
#     client.sh CLIENT CACHE_ARCHIVE
#
# Prints TAP.

client=$1
archive=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/tkbundle-abi.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

cd "$work" || exit 1
tar -xzf "$archive" || exit 1
"$client" .triton/cache "$work/place" k.tkb >said 2>&1
cat >wanted <<-END
	collected 17, told 17
	verified 17, same files 1, would emit 17
	pushed 17, wanted 1, records 1, entries 17
END
echo 1..1
if diff wanted said >found; then
	echo "ok 1 - a client of the first version works"
else
	echo "not ok 1 - a client of the first version works"
	sed 's/^/# /' found
	exit 1
fi
