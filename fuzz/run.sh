#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs each fuzz target for a while: run.sh BUILD_DIR SECONDS
# New inputs go to BUILD_DIR/corpus, the committed ones stay as they are. What
# is found is left in BUILD_DIR, and the exit status is 1.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
seconds=$2
failed=0

for seeds in "$here"/corpus/*; do
	target=${seeds##*/}
	mkdir -p "$build/corpus/$target"
	echo "== $target, $seconds s"
	(cd "$build" && "fuzz/${target}_fuzz" -max_total_time="$seconds" \
		-timeout=10 -print_final_stats=1 -dict="$here/tokens.dict" \
		"corpus/$target" "$seeds") \
		>"$build/$target.log" 2>&1 || failed=1
	grep -E 'number_of_executed|SUMMARY|ERROR|artifact' \
		"$build/$target.log" || true
done
exit "$failed"
