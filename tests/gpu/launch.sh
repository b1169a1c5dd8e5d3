#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shows on a GPU that kernels run from C alone, by their launchers.
#
#   launch.sh PROGRAM_DIR
#
# PROGRAM_DIR holds tkbundle. Vector add, softmax and matrix products are those
# of fixtures/triton-3.6.0-h100.tar.gz, for Hopper; the programs in launch/ hold
# them against the CPU. Where $PYTHON (by default python3) has Triton, kernels
# that it makes run as well: numbers of every type, clusters, cooperative and
# programmatic launches. Needs a C compiler, cuda.h and libcuda.so.1. Prints TAP;
# takes half a minute; leaves nothing behind.
set -eu

if [ $# -ne 1 ] || [ ! -x "$1/tkbundle" ]; then
    echo "usage: $0 PROGRAM_DIR (with tkbundle in it)" >&2
    exit 2
fi

here=$(cd "$(dirname "$0")" && pwd)
if [ -x "$here/unpack.sh" ]; then "$here/unpack.sh" "$1"; fi
tkbundle=$(cd "$1" && pwd)/tkbundle
python=${PYTHON:-python3}
compiler=${CC:-gcc}
work=$(mktemp -d "${TMPDIR:-/tmp}/tkbundle-launch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit

number=0
failed=0
report() {
    number=$((number + 1))
    [ "$1" = ok ] || failed=$((failed + 1))
    echo "$1 $number - $2"
}

# Where cuda.h is: CUDA's own, or one that comes with Triton.
find_header() {
    local folder

    for folder in "${CUDA_HOME:-/usr/local/cuda}/include" /usr/local/cuda/include \
        "$("$python" -c 'import os, triton
print(os.path.dirname(triton.__file__))' 2>/dev/null)"/backends/nvidia/include; do
        if [ -e "$folder/cuda.h" ]; then
            echo "$folder"
            return
        fi
    done
    return 1
}

find_library() {
    local found

    found=$(/sbin/ldconfig -p 2>/dev/null |
        sed -n 's/.*libcuda\.so\.1 .*=> //p' | head -n 1)
    for found in "$found" "${CUDA_HOME:-/usr/local/cuda}"/lib64/stubs/libcuda.so; do
        if [ -e "$found" ]; then
            echo "$found"
            return
        fi
    done
    return 1
}

if ! header=$(find_header); then
    echo "Bail out! there is no cuda.h"
    exit 1
fi
if ! library=$(find_library); then
    echo "Bail out! there is no libcuda.so.1"
    exit 1
fi

# launcher NAME ROOT KEY SIGNATURE [OPTION]...: write NAME.*; its header in
# $made, its function in $function.
launcher() {
    local name=$1 root=$2 key=$3 signature=$4
    shift 4

    "$tkbundle" launcher "$root" "$key" --signature "$signature" -o "$name" "$@" \
        >out || exit
    made=$(sed 's/.* and //' out)
    function=$(sed -n 's/^CUresult \([A-Za-z0-9_]*\)(CUstream.*/\1/p' "$made")
}

# names MACRO: options that tell a program the last launcher.
options=()
names() {
    options+=("-D$1=$function" "-D$1_HEADER=\"$made\"")
}

# proof NAME SOURCE...: build and run launch/NAME.c.
proof() {
    local name=$1 status=0 word rest
    shift

    if ! "$compiler" -std=c99 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -I. \
        -isystem "$header" -o "$name" "$here/launch/$name.c" "$@" \
        "${options[@]}" "$library" -lm -pthread >log 2>&1; then
        sed 's/^/# /' log
        report "not ok" "$name is built"
        return
    fi
    options=()
    report ok "$name is built"
    timeout 120 "./$name" >log 2>&1 || status=$?
    while read -r word rest; do
        case $word in
        ok) report ok "$name: ${rest//_/ }" ;;
        not) rest=${rest#ok } && report "not ok" "$name: ${rest//_/ }" ;;
        *) echo "$word $rest" ;;
        esac
    done <log
    if [ "$status" -gt 1 ]; then
        report "not ok" "$name ends (status $status)"
    elif [ "$status" -eq 1 ] && ! grep -q '^not ok' log; then
        report "not ok" "$name runs"
    fi
}

mkdir fixture
tar -xzf "$here/../../fixtures/triton-3.6.0-h100.tar.gz" -C fixture
root=fixture/.triton/cache

headers=()
three='*fp32:16, *fp32:16, *fp32:16'
for kernel in WEOK:i32:256 KRJX:i32,16:256 7L6S:i32:1024 SF67:i32,16:1024; do
    IFS=: read -r key type block <<<"$kernel"
    launcher add "$root" "$key" "$three, ${type/,/:}, $block" \
        --grid "(n + $((block - 1))) / $block, 1, 1"
    headers+=("$made")
done
"$tkbundle" launcher --link "${headers[@]}" -o add >/dev/null
proof add add*.c

launcher small "$root" EEJH '*fp32:16, *fp32:16, i32:16, i32:16, 512'
names SMALL
launcher middle "$root" D4QP '*fp32:16, *fp32:16, i32, i32, 1024'
names MIDDLE
launcher large "$root" ZPOL '*fp32:16, *fp32:16, i32:16, i32:16, 4096'
names LARGE
proof softmax small.*.c middle.*.c large.*.c

headers=()
three='*fp16:16, *fp16:16, *fp16:16'
three+=', i32:16, i32:16, i32:16, i32:16, i32:16, i32:16'
for kernel in D3PP:64:128:64 LFFP:128:128:64 MD5X:128:64:32 PP6F:128:256:64 \
    UHVQ:128:128:32 WKOV:64:64:32; do
    IFS=: read -r key rows columns depth <<<"$kernel"
    launcher matmul "$root" "$key" "$three, $rows, $columns, $depth" \
        --grid "M / $rows, N / $columns, 1"
    headers+=("$made")
done
"$tkbundle" launcher --link "${headers[@]}" -o matmul >/dev/null
proof matmul matmul*.c

if "$python" -c 'import triton' 2>/dev/null; then
    "$python" -B "$here/../launch/c_launcher/kernels.py" "$work/made_cache" >kernels
    while IFS='|' read -r use key signature; do
        case $use in
        scalars) macro=SCALARS ;;
        linked) macro=PLAIN ;;
        clustered) macro=CLUSTERED ;;
        programmatic) macro=PROGRAMMATIC ;;
        cooperative) macro=COOPERATIVE ;;
        *) continue ;;
        esac
        case " ${options[*]-} " in *" -D$macro="*) continue ;; esac
        launcher made made_cache "$key" "$signature"
        names "$macro"
    done <kernels
    proof made made.*.c
else
    report ok "kernels of Triton's # SKIP $python has no Triton"
fi

echo "1..$number"
[ "$failed" -eq 0 ]
