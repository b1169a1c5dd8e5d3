#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shows on a GPU that a program under `tkbundle run` starts warm from a remote,
# and starts all the same, and how much later, where the remote is dead.
#
#   remote.sh PROGRAM_DIR
#
# As run.sh, without Inductor; takes about two minutes.
# shellcheck disable=SC2317 # functions that check and need call
set -eu

# shellcheck source=tests/gpu/common.sh
. "$(dirname "$0")/common.sh"

# line NAME: what `tkbundle run` said at the end.
line() { grep '^tkbundle: emitted' "out/$1.line" | tail -n 1; }

# under NAME HOME REMOTE: run the model once under `tkbundle run`. It uses no
# Inductor, whose folder would be taken for the cache.
under() {
    via=(env -u TORCHINDUCTOR_CACHE_DIR
        "$tkbundle" run --ref 'model/{arch}' --remote "$3" --)
    run "$1" model "$2" 1
    via=()
    cp out/log "out/$1.line"
}

# says_line NAME TEXT [REASON]: is that the line?
says_line() {
    [ "$(line "$1")" = "tkbundle: $2${3:+; $3}" ] && return
    echo "the line is '$(line "$1")', not 'tkbundle: $2'"
    return 1
}

# delay NAME REMOTE...: how many ms later does a command start?
delay() {
    local name=$1 start stop
    shift
    start=${EPOCHREALTIME/[.,]/}
    "$tkbundle" run --ref model/sm_90 --cache "$work/homes/$name" \
        --remote "$1" -- sh -c 'date +%s%6N' >"out/$name.at" 2>"out/$name.line"
    read -r stop <"out/$name.at"
    echo $(((stop - start) / 1000)) >"out/$name.ms"
}

need "the Triton program runs" run prime model prime 1
need "cold, without tkbundle: runs" run cold model plain 1
kernels=$(cache kernels out/cold.after)
need "warm, without tkbundle: runs" run warm model plain 3

remote=file://$work/remote
need "run, with an empty remote: runs" under empty first "$remote"
check "run, with an empty remote: results are those of the cold run" \
    same_results empty
check "run, with an empty remote: all $kernels kernels are compiled" \
    wrote empty "$kernels"
line empty
entries=$((kernels + $(cut -d ' ' -f 2 out/empty.written)))
check "run, with an empty remote: the line" says_line empty \
    "emitted 0, used 0, compiled anew $entries, pushed $entries" \
    "pull: ref 'model/sm_90' has no record in '$remote'"
need "refs" tkb refs refs --remote "$remote"
check "refs: {arch} is sm_90" grep -q '"model/sm_90"' out/refs.json

mv homes/first homes/gone
# Its caches are the second's before it runs: those that emit wrote.
need "run, in a fresh home: runs" under fresh second "$remote"
check "run, in a fresh home: Triton compiled nothing" compiled fresh 0
check "run, in a fresh home: results are those of the cold run" \
    same_results fresh
line fresh
check "run, in a fresh home: the line" says_line fresh \
    "emitted $entries, used $entries, compiled anew 0, pushed 0"
need "run, once more: runs" under again second "$remote"
check_warm "run, once more" again

# A port that nobody listens on, one that never answers, and no host at all.
"$python" -c 'import socket, time
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True)
time.sleep(600)' >out/port &
silent=$!
trap 'kill "$silent"; rm -rf "$work"' EXIT
while [ ! -s out/port ]; do sleep 0.1; done
port=$(<out/port)
: >out/none.at
start=${EPOCHREALTIME/[.,]/}
sh -c 'date +%s%6N' >out/none.at
read -r stop <out/none.at
echo $(((stop - start) / 1000)) >out/none.ms
need "a warm remote" delay warm_start "$remote"
need "nobody listens" delay refused "redis://127.0.0.1:1"
need "nobody answers" delay silent "redis://127.0.0.1:$port"
need "no such host" delay nowhere "http://192.0.2.1/cache"
for name in refused silent nowhere; do
    check "$name: the command starts at most 2.5 s later" \
        test "$(<out/$name.ms)" -lt 2500
    check "$name: the line says why" grep -q '^tkbundle: .*; pull: ' \
        "out/$name.line"
done

# From the start of tkbundle or Python to its end.
wall_row() { row "$1" "$(<"out/$2.wall")" "$3"; }

table+=$'\n'
row "Triton program, $kernels kernels, whole process" "ms" "compiled"
row "---" "---:" "---:"
wall_row "cold, without tkbundle" cold "$kernels"
wall_row "warm in place, without tkbundle" warm 0
wall_row "tkbundle run, empty remote" empty "$kernels"
wall_row "tkbundle run, fresh home" fresh 0
wall_row "tkbundle run, once more" again 0

table+=$'\n'
row "a command starts after" "ms"
row "---" "---:"
row "without tkbundle" "$(<out/none.ms)"
row "tkbundle run, $entries entries from a folder" \
    "$(<out/warm_start.ms)"
row "tkbundle run, nobody listens" "$(<out/refused.ms)"
row "tkbundle run, nobody answers (--wait 2s)" "$(<out/silent.ms)"
row "tkbundle run, no such host (--wait 2s)" "$(<out/nowhere.ms)"

printf '\n%s, %s; %d s in all\n' "$(cache field device out/cold.runs)" \
    "$(cache field versions out/cold.runs)" "$SECONDS"
finish
