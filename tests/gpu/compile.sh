#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shows on a GPU that what was compiled without one is right, and is used.
#
#   compile.sh PROGRAM_DIR
#
# As run.sh; PROGRAM_DIR holds tkbundle-compile, too, as carry.sh makes it. Needs
# a C compiler and cuda.h. Takes about two minutes.
# shellcheck disable=SC2317 # functions that check and need call
set -eu

# shellcheck source=tests/gpu/common.sh
. "$(dirname "$0")/common.sh"

# Nothing that is compiled here sees the GPU.
compile() {
    local name=$1
    shift
    CUDA_VISIBLE_DEVICES='' tkb "$name" compile "$@"
}

# overriding NAME: the model with the kernels of NAME in place of Triton's.
overriding() {
    "$python" -B "$here/override.py" dump "$1" "out/$1.json" "$1.override" \
        >"out/$1.count" || return 1
    via=(env TRITON_KERNEL_OVERRIDE=1 TRITON_OVERRIDE_DIR="$work/$1.override")
    run "$1" model "$1" 1 || return 1
    via=()
    # Triton prints a line for each that it takes.
    grep -c '^Overriding kernel' "out/$1.runs" >"out/$1.taken"
    sed -i '/^{/!d' "out/$1.runs"
}

# same_bits NAME NAME: are there results, and are they the same?
same_bits() {
    cache field sha256 "out/$1.runs" >out/one &&
        cache field sha256 "out/$2.runs" >out/other &&
        test -s out/one && cmp out/one out/other
}

need "the Triton program runs" run prime model prime 1
via=(env TRITON_KERNEL_DUMP=1 TRITON_DUMP_DIR="$work/dump")
need "cold: runs" run cold model first 1
via=()
kernels=$(cache kernels out/cold.after)
cold=$(root_of model first)

# Triton's own, without the GPU.
made=$(root_of model made)
need "Triton's kernels compile without a GPU" compile triton \
    "$here/model.json" --python "$python" --target cuda:90 --cache "$made"
check "all $kernels of them" says triton compiled "$kernels"
mkdir kernels
for entry in "$cold"/*; do
    if ls "$entry"/*.cubin >/dev/null 2>&1; then cp -r "$entry" kernels; fi
done
check "their keys and bytes are those of the GPU" \
    cache same kernels "$cold" "$made"
need "warm, from those: runs" run made model made 1
check "warm, from those: no kernel is written to the cache" wrote made 0
check "warm, from those: Triton says that it compiled nothing" compiled made 0
check "warm, from those: results are those of the cold run" same_results made
run_row "cold" cold
run_row "warm, compiled without a GPU" made

# Triton's IR, by our LLVM and ptxas.
mapfile -t inputs < <(find "$cold" -name '*.llir' | sort)
compile plain "${inputs[@]}" --target cuda:90 --cache plain || true
need "Triton's IR compiles" says plain compiled "$kernels"
compile finalized "${inputs[@]}" --target cuda:90 --cache finalized --finalize ||
    true
need "and finalized" says finalized compiled "$kernels"
for name in plain finalized; do
    need "with cubins of ours, $name: runs, with results that are right" \
        overriding "$name"
    check "with cubins of ours, $name: all $kernels replaced Triton's" \
        test "$(cat "out/$name.count") $(cat "out/$name.taken")" = \
        "$kernels $kernels"
done
check "finalized: the results are those of the plain ones to the bit" \
    same_bits plain finalized
if same_bits plain cold; then
    echo "with cubins of ours the results are Triton's own to the bit"
fi

# What others prove by themselves: C launchers, weights in a module, and random
# kernels before and after --finalize.
for proof in launch gemv oracle; do
    if "$here/$proof.sh" "$(dirname "$tkbundle")" >"out/$proof" 2>&1; then
        check "$proof" true
    else
        check "$proof" false
    fi
    cat "out/$proof"
done
check "Triton uses what was compiled for it" \
    "$python" -B "$here/triton_made.py" "$tkbundle"
finish
