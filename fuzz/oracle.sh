#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs random kernels before and after --finalize: oracle.sh BUILD_DIR COUNT [SEED]
# COUNT modules from SEED (1000000) on, some thousand at a time on each core; a line
# is printed for each lot. To go on after a stop, give the seed of the first lot
# that is missing. What is found is made small and left in BUILD_DIR/oracle, and
# the exit status is 1.
set -euo pipefail
build=$(cd "$1" && pwd)
count=$2
seed=${3:-1000000}
lot=5000

# one FIRST COUNT: a lot.
one() {
	local log=$build/oracle/$1.txt

	if TKB_ORACLE_SEED=$1 TKB_ORACLE_MODULES=$2 \
		"$build/tests/oracle_test" 'oracle: finds_nothing_in_random*' \
		>"$log" 2>&1; then
		echo "$1: $(grep -a ' modules, ' "$log")"
		rm "$log"
	else
		echo "$1: FAILED, see $log"
		return 1
	fi
}
export -f one
export build

mkdir -p "$build/oracle"
for ((done = 0; done < count; done += lot)); do
	left=$((count - done))
	printf '%s %s\n' $((seed + done)) $((left < lot ? left : lot))
done | xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' one
