# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the proofs on a GPU share. Sourced with PROGRAM_DIR as $1; changes to a
# folder of its own, which goes in the end.

if [ $# -ne 1 ] || [ ! -x "$1/tkbundle" ]; then
    echo "usage: $0 PROGRAM_DIR (with tkbundle in it)" >&2
    exit 2
fi

tkbundle=$(cd "$1" && pwd)/tkbundle
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
"$here/unpack.sh" "$1"
work=$(mktemp -d "${TMPDIR:-/tmp}/tkbundle-gpu.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/homes" "$work/out"
cd "$work" || exit

# What would turn the caches off, or put them elsewhere.
unset TRITON_CACHE_DIR TRITON_HOME TRITON_CACHE_MANAGER TRITON_ALWAYS_COMPILE \
    TRITON_DUMP_DIR TRITON_OVERRIDE_DIR TRITON_KERNEL_DUMP \
    TRITON_KERNEL_OVERRIDE TRITON_STORE_BINARY_ONLY TRITON_CACHE_AUTOTUNING \
    TORCHINDUCTOR_CACHE_DIR TORCHINDUCTOR_FORCE_DISABLE_CACHES \
    TORCHINDUCTOR_FX_GRAPH_CACHE TORCHINDUCTOR_AUTOGRAD_CACHE TKBUNDLE_DISABLE

via=()
passed=0
failed=0
table=
finish() {
    printf '%s\n%d passed, %d failed\n' "$table" "$passed" "$failed"
    [ "$failed" -eq 0 ]
    exit
}

# check WHAT COMMAND...: count whether COMMAND succeeds.
check() {
    local what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
        echo "ok: $what"
    else
        failed=$((failed + 1))
        echo "FAILED: $what"
    fi
}

# need WHAT COMMAND...: the same, for what the rest depends on.
need() {
    local before=$failed
    check "$@"
    [ "$failed" -eq "$before" ] || finish
}

row() { table+=$(printf '| %s ' "$@")$'|\n'; }

cache() { "$python" -B "$here/cache.py" "$@"; }

# A program's folder of keys in a home.
root_of() {
    case $1 in
    model) echo "$work/homes/$2/.triton/cache" ;;
    inductor) echo "$work/homes/$2/torchinductor/triton/0" ;;
    esac
}

# run NAME PROGRAM HOME COUNT: run PROGRAM.py COUNT times, each a process,
# by the command in the array `via`, if there is one.
# Its lines go to out/NAME.runs, listings of the cache before the first and
# after the last to out/NAME.before and out/NAME.after; milliseconds of the last,
# from outside, to out/NAME.wall.
run() {
    local name=$1 program=$2 home=$work/homes/$3 count=$4 root start

    root=$(root_of "$program" "$3")
    mkdir -p "$home"
    rm -f "out/$name.runs"
    cache list "$root" >"out/$name.before" || return 1
    for ((i = 0; i < count; i++)); do
        start=${EPOCHREALTIME/[.,]/}
        if ! HOME=$home TORCHINDUCTOR_CACHE_DIR=$home/torchinductor \
            timeout 200 "${via[@]}" "$python" -B "$here/$program.py" \
            >>"out/$name.runs" 2>out/log; then
            tail -n 30 out/log
            return 1
        fi
        echo $(((${EPOCHREALTIME/[.,]/} - start) / 1000)) >"out/$name.wall"
    done
    cache list "$root" >"out/$name.after" || return 1
    cache written "$root" "out/$name.before" "out/$name.after" \
        >"out/$name.written" 2>"out/$name.changes"
}

# wrote NAME KERNELS [OTHERS]: did the runs write so many entries?
wrote() {
    local kernels others

    read -r kernels others <"out/$1.written"
    [ "$kernels" -eq "$2" ] && [ "$others" -eq "${3:-$others}" ] && return
    echo "wrote $kernels kernels and $others other entries:"
    cat "out/$1.changes"
    return 1
}

# compiled NAME COUNT: does Triton itself say so, for each run?
compiled() { [ "$(cache field compiled "out/$1.runs" | sort -u)" = "$2" ]; }

same_results() {
    [ "$(cache field sha256 "out/$1.runs" | sort -u)" = \
        "$(cache field sha256 out/cold.runs)" ]
}

# run_row WHAT NAME: a row of the table.
run_row() {
    local kernels others

    read -r kernels others <"out/$2.written"
    row "$1" "$(cache median seconds "out/$2.runs")" "$kernels"
}

# tkb NAME ARGUMENT...: run tkbundle. Its document goes to out/NAME.json,
# milliseconds to out/NAME.ms.
tkb() {
    local name=$1 start=${EPOCHREALTIME/[.,]/} status=0
    shift

    "$tkbundle" "$@" --json >"out/$name.json" 2>out/log || status=$?
    echo $(((${EPOCHREALTIME/[.,]/} - start) / 1000)) >"out/$name.ms"
    [ "$status" -eq 0 ] && return
    echo "tkbundle $1: exit status $status"
    cat out/log "out/$name.json"
    return 1
}

# says NAME MEMBER VALUE: does the document of a tkb say so?
says() {
    local value

    value=$(cache field "$2" "out/$1.json") || return 1
    [ "$value" = "$3" ] && return
    echo "$2 is $value, not $3"
    return 1
}

# check_warm WHAT NAME: nothing was compiled, and the results are right.
check_warm() {
    check "$1: nothing is written to the cache" wrote "$2" 0 0
    check "$1: Triton says that it compiled nothing" compiled "$2" 0
    check "$1: results are those of the cold run" same_results "$2"
}
