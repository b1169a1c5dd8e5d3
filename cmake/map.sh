#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Write MAP, a version script for the linker.
#
#     map.sh MAP LIST VERSION PRIVATE_VERSION NM [OBJECT]...
#
# The symbols in the file LIST, one a line, are of VERSION: for everybody. What
# else the OBJECTs, which become another library of ours, use of tkb_* and do not
# define is of PRIVATE_VERSION. All others stay inside.

set -e
map=$1
list=$2
version=$3
private=$4
nm=$5
shift 5
exec >"$map"

echo "$version {"
echo "global:"
sed 's/.*/	&;/' "$list"
echo "local:"
echo "	*;"
echo "};"
[ $# -gt 0 ] || exit 0

# `nm -P` prints "name type ...", and the names of the objects.
echo "$private {"
echo "global:"
"$nm" -P -g "$@" | awk -v list="$list" '
	BEGIN {
		while ((getline name < list) > 0)
			skip[name] = 1
	}
	$1 !~ /^tkb_/ { next }
	$2 == "U" { used[$1] = 1; next }
	{ skip[$1] = 1 }
	END {
		for (name in used)
			if (!(name in skip))
				print "\t" name ";"
	}' | sort
echo "};"
