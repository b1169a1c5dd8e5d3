#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shows on a GPU that kernels restored by tkbundle are not compiled again.
#
#   run.sh PROGRAM_DIR
#
# PROGRAM_DIR holds tkbundle. $PYTHON is a Python with PyTorch and Triton,
# by default python3. Prints what was checked and tables of times; the last
# line counts the checks. Takes about four minutes; leaves nothing behind.
# shellcheck disable=SC2317 # functions that check and need call
set -eu

# shellcheck source=tests/gpu/common.sh
. "$(dirname "$0")/common.sh"

# stamps HOME ZERO MOVED: so many group files' access times are so?
stamps() {
    local counts

    counts=$(cache stamps "$(root_of model "$1")") || return 1
    [ "$counts" = "$2 $3" ] && return
    echo "access times that are 0, and others: $counts"
    return 1
}

# check_emitted NAME COUNT: a first emit of COUNT entries.
check_emitted() {
    check "emit $1: emits all" says "$1" emitted "$2"
    check "emit $1: finds nothing there" says "$1" present 0
}

is_smaller() { [ "$(stat -c %s "$1")" -lt "$(stat -c %s "$2")" ]; }

# The first process of all reads libraries from the disk: not a cold start.
need "the Triton program runs" run prime model prime 1

need "cold: runs" run cold model first 1
kernels=$(cache kernels out/cold.after)
check "cold: there are kernels to speak of" test "$kernels" -ge 15
check "cold: Triton says that it compiled all $kernels" compiled cold "$kernels"
need "warm, in place: runs" run warm model first 3
check_warm "warm, in place" warm

first=$(root_of model first)
need "collect" tkb collect collect "$first" -o full.tkb
need "collect, lean" \
    tkb collect_lean collect "$first" -o lean.tkb --profile lean
need "collect, without locations" \
    tkb stripped_collect collect "$first" -o stripped.tkb --strip-locations
entries=$(cache field collected out/collect.json)
check "collect: leaves nothing out" says collect left_out_count 0
check "collect: finds nothing moved" says collect moved 0
check "collect, lean: the same entries" says collect_lean collected "$entries"
check "collect, lean: a smaller bundle" is_smaller lean.tkb full.tkb
for bundle in full lean; do
    check "ls: lists the $bundle bundle" tkb ls ls "$bundle.tkb"
    check "ls: all entries" says ls entry_count "$entries"
    check "verify: the $bundle bundle is intact" tkb verify verify "$bundle.tkb"
    check "verify: all entries" says verify verified "$entries"
done

# From here on the paths that the cache's group files record lead nowhere.
mv homes/first homes/gone
gone=$(root_of model gone)

# The control: what the checks find where kernels are compiled again.
mkdir -p homes/moved/.triton
cp -r "$gone" homes/moved/.triton/cache
need "cp -r: runs" run moved model moved 1
check "cp -r: all $kernels kernels are compiled again" wrote moved "$kernels"
check "cp -r: Triton says so" compiled moved "$kernels"
check "cp -r: results are those of the cold run" same_results moved

# A path that JSON has to escape.
full="a volume, mounted \"é\""
need "emit full" tkb full emit full.tkb "$(root_of model "$full")"
check_emitted full "$entries"
check "emit full: every file is the recorded one" \
    cache same "$gone" "$first" "$(root_of model "$full")"
check "emit full: group files' access times are 0" stamps "$full" "$kernels" 0
need "after emit, full: runs" run full model "$full" 3
check_warm "after emit, full" full
if cache atime "$work"; then
    check "use stamps: all group files were read" stamps "$full" 0 "$kernels"
    check "stats --used" tkb uses stats "$(root_of model "$full")" --used
    check "stats --used: all kernels were used" cache used "$kernels" out/uses.json
else
    echo "not checked: use stamps (access times do not move here)"
fi
check "emit full, again" tkb again emit full.tkb "$(root_of model "$full")"
check "emit full, again: all entries are present" says again present "$entries"
cache list "$(root_of model "$full")" >out/again.after
check "emit full, again: writes nothing" cmp -s out/full.after out/again.after
check "collect what was emitted" \
    tkb recollect collect "$(root_of model "$full")" -o again.tkb
check "collect what was emitted: the same bundle" cmp full.tkb again.tkb

need "emit lean" tkb lean emit lean.tkb "$(root_of model lean)"
check_emitted lean "$entries"
need "after emit, lean: runs" run lean model lean 3
check_warm "after emit, lean" lean

need "emit without locations" \
    tkb stripped emit stripped.tkb "$(root_of model stripped)"
check_emitted stripped "$entries"
need "after emit, without locations: runs" run stripped model stripped 1
check_warm "after emit, without locations" stripped

mkdir -p homes/relocated/.triton
cp -r "$gone" homes/relocated/.triton/cache
need "relocate a moved cache" \
    tkb relocated relocate "$(root_of model relocated)"
check "relocate a moved cache: all kernels" says relocated relocated "$kernels"
need "after relocate: runs" run relocated model relocated 1
check_warm "after relocate" relocated

# Two jobs pack a part each, and share some.
keys=("$gone"/*)
keys=("${keys[@]##*/}")
keys=("${keys[@]/#/--key=}")
half=$((${#keys[@]} / 2))
need "collect the first part" tkb part1 collect "$gone" -o part1.tkb \
    "${keys[@]:0:half + 2}"
need "collect the second part" tkb part2 collect "$gone" -o part2.tkb \
    "${keys[@]:half}"
need "merge" tkb merged merge -o merged.tkb part1.tkb part2.tkb
check "merge: all entries" says merged entry_count "$entries"
check "merge: the bundle of the whole" \
    says merged id "$(cache field id out/collect.json)"
need "emit what was merged" tkb emerged emit merged.tkb "$(root_of model merged)"
need "after emit of what was merged: runs" run merged model merged 1
check_warm "after emit of what was merged" merged

mkdir -p homes/repaired/.triton
cp -r "$gone" homes/repaired/.triton/cache
need "emit into a moved cache" \
    tkb repaired emit full.tkb "$(root_of model repaired)"
check "emit into a moved cache: all kernels are repaired" \
    says repaired repaired "$kernels"
need "after repair of a moved cache: runs" run repaired model repaired 1
check_warm "after repair of a moved cache" repaired

cache damage "$(root_of model "$full")"
need "emit into a damaged cache" \
    tkb damaged emit full.tkb "$(root_of model "$full")"
check "emit into a damaged cache: three kernels are repaired" \
    says damaged repaired 3
check "emit into a damaged cache: the rest is present" \
    says damaged present "$((entries - 3))"
check "emit into a damaged cache: every file is the recorded one" \
    cache same "$gone" "$first" "$(root_of model "$full")"
need "after repair of a damaged cache: runs" run damaged model "$full" 1
check_warm "after repair of a damaged cache" damaged

table+=$'\n'
row "Triton program, $kernels kernels" "s" "compiled"
row "---" "---:" "---:"
run_row "cold" cold
run_row "warm, in place" warm
run_row "moved with cp -r" moved
run_row "after emit, full" full
run_row "after emit, lean" lean
run_row "moved with cp -r, relocated" relocated
run_row "after emit of two merged parts" merged
run_row "moved with cp -r, repaired by emit" repaired
run_row "damaged, repaired by emit" damaged

table+=$'\n'
row "tkbundle, $entries entries" "ms" "bytes"
row "---" "---:" "---:"
row "collect, full" "$(<out/collect.ms)" "$(stat -c %s full.tkb)"
row "collect, lean" "$(<out/collect_lean.ms)" "$(stat -c %s lean.tkb)"
row "emit, full" "$(<out/full.ms)" "$(cache field size out/full.json)"
row "emit, lean" "$(<out/lean.ms)" "$(cache field size out/lean.json)"
row "emit, all present" "$(<out/again.ms)" "$(cache field size out/again.json)"
row "relocate" "$(<out/relocated.ms)" "-"
row "merge of two parts" "$(<out/merged.ms)" "$(stat -c %s merged.tkb)"

# Inductor. Only triton/ is restored, not its own cache of compiled graphs:
# the graph is compiled again, and asks Triton for every kernel.
graph_is_compiled() {
    [ "$(cache field graph_cache_hits "out/$1.runs" | sort -u)" = 0 ]
}

need "the Inductor program runs" run prime inductor prime 1
need "Inductor, cold: runs" run icold inductor ifirst 1
ikernels=$(cache kernels out/icold.after)
check "Inductor, cold: there are kernels to speak of" test "$ikernels" -ge 4
need "Inductor, warm in place: runs" run iwarm inductor ifirst 3
check "Inductor, warm in place: no kernel is compiled" wrote iwarm 0 0

need "Inductor, collect" \
    tkb icollect collect homes/ifirst/torchinductor -o inductor.tkb
need "Inductor, collect lean" tkb icollect_lean \
    collect homes/ifirst/torchinductor -o inductor-lean.tkb --profile lean
check "Inductor, collect: knows the layout" says icollect layout inductor
check "Inductor, collect: leaves nothing out" says icollect left_out_count 0
mv homes/ifirst homes/igone

mkdir homes/ifull homes/ilean
need "Inductor, emit" \
    tkb ifull emit inductor.tkb "$work/homes/ifull/torchinductor"
check "Inductor, emit: knows the layout" says ifull layout inductor
check "Inductor, emit: every file is the recorded one" \
    cache same "$(root_of inductor igone)" "$(root_of inductor ifirst)" \
    "$(root_of inductor ifull)"
need "Inductor, emit lean" \
    tkb ilean emit inductor-lean.tkb "$work/homes/ilean/torchinductor"

# Each run leaves a graph behind, which the next one must not find.
for profile in full lean; do
    for i in 1 2 3; do
        rm -rf "homes/i$profile/.triton"
        find "homes/i$profile/torchinductor" -mindepth 1 -maxdepth 1 \
            ! -name triton ! -name .tkbundle -exec rm -rf {} +
        need "Inductor, after emit, $profile: run $i" \
            run "i$profile$i" inductor "i$profile" 1
        check "Inductor, after emit, $profile: the graph is compiled again" \
            graph_is_compiled "i$profile$i"
        check "Inductor, after emit, $profile: no kernel is compiled" \
            wrote "i$profile$i" 0
        check "Inductor, after emit, $profile: nothing is written" \
            wrote "i$profile$i" 0 0
    done
    cat "out/i$profile"[123].runs >"out/i$profile.runs"
    cp "out/i${profile}1.written" "out/i$profile.written"
done

table+=$'\n'
row "Inductor program, $ikernels kernels" "s" "compiled"
row "---" "---:" "---:"
run_row "cold" icold
run_row "warm, in place (graph cached)" iwarm
run_row "after emit, full (graph compiled again)" ifull
run_row "after emit, lean (graph compiled again)" ilean

printf '\n%s, %s; %d s in all\n' "$(cache field device out/cold.runs)" \
    "$(cache field versions out/cold.runs)" "$SECONDS"
finish
