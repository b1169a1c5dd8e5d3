#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shows on a GPU that finalizing changes no result of 200 random kernels.
#
#   oracle.sh PROGRAM_DIR
#
# PROGRAM_DIR/oracle holds the kernels of tests/oracle and what they compute, as
# carry.sh makes it. Each is compiled without and with --finalize; both must leave
# the same bytes behind, those that tests/oracle/machine.h foretold. Needs a C
# compiler and ptxas. The last line is `N passed, N failed`.
# shellcheck disable=SC2154 # common.sh sets them
set -eu

# shellcheck source=tests/gpu/common.sh
. "$(dirname "$0")/common.sh"

kernels=$(dirname "$tkbundle")/oracle
count=$(find "$kernels" -name '*.ll' | wc -l)

# compiled NAME [OPTION]...: all kernels, as NUMBER.NAME.cubin.
compiled() {
    local name=$1
    shift
    seq 0 $((count - 1)) | xargs -P "$(nproc)" -I '{}' \
        "$tkbundle" compile "$kernels/{}.ll" --target cuda:90 "$@" \
        --emit cubin -o "{}.$name.cubin"
}

need "there are 200 kernels" test "$count" -ge 200
need "they compile" compiled plain
need "they compile, finalized" compiled finalized --finalize
differing=0
for ((i = 0; i < count; i++)); do
    cmp -s "$i.plain.cubin" "$i.finalized.cubin" ||
        differing=$((differing + 1))
done
check "finalizing changes the code of most" test $((2 * differing)) -gt "$count"
need "the program that runs them compiles" \
    cc -O2 -o oracle "$here/oracle/oracle.c" -ldl
check "both leave the same bytes behind" ./oracle "$kernels" "$count"
finish
