#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The digest of the worker's sources, which is part of keys: any file changes it,
# their folder does not. Prints TAP.
#
#   worker_sources.sh CMAKE SOURCES
set -eu

cmake=$1
script=$2/tools/tkbundle-compile/worker/worker_sources.cmake
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
mkdir one two
count=0
failed=0

digest() {
	"$cmake" -DOUT=out.h -P "$script" -- "$@"
	grep -Eo '"[0-9a-f]{16}"' out.h
}

check() { # WHAT LEFT =|!= RIGHT
	count=$((count + 1))
	if [ -n "$2" ] && [ -n "$4" ] && [ "$2" "$3" "$4" ]; then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		failed=1
	fi
}

for folder in one two; do
	echo 'int a;' >$folder/a.c
	echo 'int b;' >$folder/b.c
done
first=$(digest one/a.c one/b.c)
check "the same files have the same digest elsewhere" \
	"$first" = "$(digest two/a.c two/b.c)"
check "one file less changes it" "$first" != "$(digest one/a.c)"
for file in a b; do
	echo 'int c;' >>two/$file.c
	check "a line more in $file.c changes it" \
		"$first" != "$(digest two/a.c two/b.c)"
	cp one/$file.c two/
done
echo "1..$count"
exit $failed
