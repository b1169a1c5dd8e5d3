#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shows on a GPU what finalizing gives a kernel that holds its int8 weights.
#
#   gemv.sh PROGRAM_DIR
#
# The products of gemv/make.py, compiled without and with --finalize: what their
# PTX does, whether the numbers are right, and the time. Needs a C compiler and
# ptxas. The last line is `N passed, N failed`.
# shellcheck disable=SC2154 # common.sh sets them
set -eu

# shellcheck source=tests/gpu/common.sh
. "$(dirname "$0")/common.sh"

# compiled NAME [OPTION]...: NAME.ll as NAME.cubin and NAME.ptx.
compiled() {
    local name=$1 ll=${1%%.*}.ll stage
    shift
    for stage in ptx cubin; do
        "$tkbundle" compile "$ll" --target cuda:90 "$@" --emit "$stage" \
            -o "$name.$stage"
    done
}

# count PATTERN NAME: how many such instructions are there?
count() { grep -c -E "^[[:space:]]+(@[^ ]+ )?$1" "$2.ptx" || true; }

row "PTX of" "ld.global" "mad.lo, mul.lo" dp4a bytes
row --- --- --- --- ---
for layout in rows columns; do
    "$python" -B "$here/gemv/make.py" "$layout" >"$layout.ll"
    need "$layout: compiles" compiled "$layout"
    need "$layout: compiles, finalized" compiled "$layout.finalized" --finalize
    for name in "$layout" "$layout.finalized"; do
        row "$name" "$(count 'ld\.global' "$name")" \
            "$(count '(mad|mul)\.(lo|wide)' "$name")" \
            "$(count dp4a "$name")" "$(stat -c %s "$name.ptx")"
    done
    check "$layout: finalized, it uses dp4a" \
        test "$(count dp4a "$layout.finalized")" -ge 64
done
need "the program that runs them compiles" \
    cc -O2 -o gemv "$here/gemv/gemv.c" -ldl
for layout in rows columns; do
    check "$layout: both are right" \
        ./gemv "$layout.cubin" "$layout.finalized.cubin"
done
finish
