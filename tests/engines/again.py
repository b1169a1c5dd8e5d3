# SPDX-License-Identifier: Apache-2.0
"""Units that an engine makes again, under the name that they had."""
import json
import os
import shutil
import socket

import building
from machines import TORCH, VLLM, Machine, contents, full
from scene import equal, read, require, test, write

TRAITS = "modelinfos/vllm-model_executor-models-llama-LlamaForCausalLM.json"
STALE = '{"hash": "1111", "modelinfo": {}}'
FRESH = '{"hash": "2222", "modelinfo": {}}'
# vLLM keeps one file for each model, which holds the hash of the model's source. If that
# is another one, the file is written again.
ENGINE = r"""
traits="$VLLM_CACHE_ROOT/$TRAITS"
grep -q 2222 "$traits" && exit
mkdir -p "${traits%/*}"
printf %s "$FRESH" >"$traits.new"
mv "$traits.new" "$traits"
"""


# The pull of a start with --wait 0s has ended, and `run` knows that.
AFTER_PULL = r"""
[ -r /proc/$PPID/task/$PPID/children ] || exit 9
sleep 0.5
while grep -qsz '^pull$' $(sed 's|[0-9]\+|/proc/&/cmdline|g' \
                            /proc/$PPID/task/$PPID/children) </dev/null
do sleep 0.05
done
sleep 0.5
"""


def start(scene, machine, script, *options, env=None, remote=None):
    return scene.shell(
        script, remote=remote, options=("--engine", machine.engine, "--require-warm", *options),
        env={**machine.environment, "VLLM_CACHE_ROOT": machine.tree, "TRAITS": TRAITS,
             "FRESH": FRESH, **(env or {})})


def stale_ref(scene):
    first = Machine(scene, "first", VLLM)
    write(first.path(TRAITS), STALE)
    return first.push()["pushed"]


@test("a unit that the engine makes again is no warm start, and takes the place of the "
      "ref's")
def _(scene):
    count = stale_ref(scene)
    for number, push in enumerate(("always", "on-exit")):
        machine = Machine(scene, f"m{number}")
        ended = start(scene, machine, ENGINE, "--push", push)
        equal(ended.status, 4 if number == 0 else 0, ended.err)
        equal(ended.counts(), (str(count), *(("0", "1", "1") if number == 0 else
                                             ("1", "0", "0"))), ended.err)
        equal("made anew: " + machine.path(TRAITS) in ended.err, number == 0, ended.err)
        # What it has made stays, and is warm.
        ended = start(scene, machine, ENGINE)
        equal((ended.status, ended.counts()[2:]), (0, ("0", "0")), ended.err)
        equal(read(machine.path(TRAITS)).decode(), FRESH)


@test("what was made again is in the ref, whatever else a record or a merge has under its "
      "name")
def _(scene):
    count = stale_ref(scene)
    start(scene, Machine(scene, "second"), ENGINE)
    other = Machine(scene, "other")
    write(other.path(TRAITS), STALE)
    write(other.path("modelinfos/other.json"), "{}")
    equal(other.push()["pushed"], 1)

    def fresh(name):
        machine = Machine(scene, name)
        equal(machine.pull()["emitted"], count + 1)
        equal(read(machine.path(TRAITS)).decode(), FRESH)
        equal(machine.pull()["emitted"], 0)
    fresh("third")
    scene.tkbundle("pull", "--remote", scene.remote, "-o", "a.tkb", "a/b")
    machine = Machine(scene, "fourth")
    machine.emit("a.tkb")
    equal(read(machine.path(TRAITS)).decode(), FRESH)
    for number in range(40):
        write(other.path(f"modelinfos/{number}.json"), "{}")
        other.push()
        count += 1
    records = json.loads(scene.tkbundle("refs", "--remote", scene.remote,
                                        "--json").out)["refs"][0]["records"]
    require(records < 32, records)
    fresh("fifth")
    # A copy that fits no better is not pushed again.
    scene.tkbundle("push", "--engine", "vllm", "--remote", scene.remote, "a/b", "--again",
                   "vllm/" + TRAITS, env=machine.environment)
    fresh("sixth")


@test("a unit to which an engine adds files is pushed again, and one that is made again "
      "twice, twice", full)
def _(scene, first):
    first.push()
    machine = Machine(scene, "second")
    plan = "torch_compile_cache/799209178a/rank_0_0/backbone/artifact_2"
    ended = start(scene, machine, f"""
        echo 1 >"$VLLM_CACHE_ROOT/{plan}"
        mkdir -p "$VLLM_CACHE_ROOT/modelinfos"
        echo 1 >"$VLLM_CACHE_ROOT/modelinfos/a.json"
        until grep -rq modelinfos/a.json "$REMOTE"; do sleep 0.05; done
        echo 2 >"$VLLM_CACHE_ROOT/modelinfos/a.json"
        """, "--quiet", "200ms", env={"REMOTE": scene.path("remote", "ref", "a,b")})
    equal(ended.status, 4, ended.err)
    equal(ended.counts()[2:], ("2", "3"), ended.err)
    machine = Machine(scene, "third")
    machine.pull()
    equal(read(machine.path(plan)), b"1\n")
    equal(read(machine.path("modelinfos/a.json")), b"2\n")


UNIT = "torch_compile_cache/torch_aot_compile/abc/rank_0_0"


def grow(scene, machine, script, *options):
    """Start a command that changes the unit, and give what a fresh machine has of it."""
    ended = start(scene, machine, f'unit="$VLLM_CACHE_ROOT/{UNIT}"\n{script}', *options,
                  env={"REMOTE": scene.path("remote", "ref", "a,b")})
    fresh = Machine(scene, os.path.relpath(machine.home, scene.path()) + "-fresh")
    fresh.pull()
    return ended, {name: read(fresh.path(UNIT, name)).decode()
                   for name in os.listdir(fresh.path(UNIT))}


@test("what a unit gets after it was pushed is pushed, whenever it is looked at")
def _(scene):
    # New here: its file is pushed, then it gets another one, or the file changes.
    for number, (add, rest) in enumerate((
            ("echo 2 >$unit/f2", {"f1": "1\n", "f2": "2\n"}),
            ("echo 2 >$unit/f1", {"f1": "2\n"}),
            ("echo 2 >$unit/f1; mv $unit/f1 $unit/f2", {"f2": "2\n"}))):
        for pause in ("", "sleep 1.5"):
            machine = Machine(scene, f"m{number}{pause[-1:]}")
            shutil.rmtree(scene.path("remote"), ignore_errors=True)
            ended, got = grow(scene, machine, f"""
                mkdir -p $unit
                echo 1 >$unit/f1
                until grep -rqs {UNIT} "$REMOTE"; do sleep 0.05; done
                {add}
                {pause}""", "--quiet", "300ms")
            equal((ended.status, ended.counts()[2:], got), (4, ("1", "2"), rest), ended.err)


@test("what is added to a unit of the ref is pushed, whatever its time, and however soon or "
      "late", full)
def _(scene, first):
    write(first.path(UNIT, "f1"), "1")
    first.push()
    rest = {"f1": "1"}
    for number, (script, options) in enumerate((
            ("echo 2 >$unit/f2", ()),
            ("echo 3 >$unit/f3; touch -d '2 days ago' $unit/f3", ()),
            ("sleep 0.5; echo 4 >$unit/f4; touch -d '2 days ago' $unit/f4; sleep 1",
             ("--quiet", "200ms")),
            (AFTER_PULL + "echo 5 >$unit/f5; sleep 1.5", ("--wait", "0s", "--quiet", "400ms")))):
        ended, got = grow(scene, Machine(scene, f"m{number}"), script, *options)
        rest[f"f{number + 2}"] = f"{number + 2}\n"
        equal((ended.counts()[2:], got), (("1", "1"), rest), ended.err)
    ended, got = grow(scene, Machine(scene, "anew"), "rm -r $unit; mkdir $unit; echo >$unit/g")
    equal((ended.counts()[2:], got), (("1", "1"), {"g": "\n"}), ended.err)


@test("a unit that is gone, or has a name that no unit can have, keeps no other from being "
      "pushed")
def _(scene):
    stale_ref(scene)
    ended = start(scene, Machine(scene, "second"), """
        pushed() {
            until [ "$(ls "$REMOTE" | grep -vc tmp)" -ge "$1" ]; do sleep 0.05; done
        }
        cd "$VLLM_CACHE_ROOT/modelinfos"
        for number in 1 2; do
            echo $number >"$(printf 'a\\nb').json"
            echo $number >c.json
            pushed $((1 + number))
        done
        echo "$FRESH" >"../$TRAITS"
        pushed 4
        rm "../$TRAITS"
        echo 1 >d.json
        pushed 5
        """, "--quiet", "300ms", env={"REMOTE": scene.path("remote", "ref", "a,b")})
    # Left out in the end is only the one whose name no unit can have.
    require("push: left out modelinfos/a" in ended.err and "missing" not in ended.err,
            ended.err)
    machine = Machine(scene, "third")
    machine.pull()
    equal(read(machine.path("modelinfos/c.json")), b"2\n")
    equal(read(machine.path("modelinfos/d.json")), b"1\n")
    equal(read(machine.path(TRAITS)).decode(), FRESH + "\n")


@test("a graph that is added beside others after a late pull is pushed, but not counted")
def _(scene):
    first = Machine(scene, "first", TORCH, engine="torch")
    write(first.path("fxgraph/ab/fabc/h1"), "1")
    first.push()
    ended = start(scene, Machine(scene, "second", engine="torch"), AFTER_PULL + """
        sleep 0.8
        echo 2 >"$TORCHINDUCTOR_CACHE_DIR/fxgraph/ab/fabc/h2"
        sleep 2.5""", "--wait", "0s", "--quiet", "600ms")
    equal((ended.status, ended.counts()[2:]), (0, ("0", "1")), ended.err)
    third = Machine(scene, "third", engine="torch")
    third.pull()
    equal(read(third.path("fxgraph/ab/fabc/h2")), b"2\n")


@test("a ref follows an engine that is updated and taken back, or that copies old files")
def _(scene):
    stale_ref(scene)
    for number, text in enumerate((FRESH, STALE, FRESH, "old")):
        machine = Machine(scene, f"m{number}")
        ended = start(scene, machine, f"""
            traits="$VLLM_CACHE_ROOT/$TRAITS"
            printf %s '{text}' >"$traits.new"
            [ '{text}' != old ] || touch -d '1 hour ago' "$traits.new"
            mv "$traits.new" "$traits"
            """)
        equal(ended.counts()[2:], ("1", "1"), text, ended.err)
        fresh = Machine(scene, f"fresh{number}")
        fresh.pull()
        equal(read(fresh.path(TRAITS)).decode(), text)


# PyTorch names a graph's file after its content, and may write it again when it loads a graph
# that contains it.
WRITE_GRAPHS = """
    cd "$TORCHINDUCTOR_CACHE_DIR"
    find . -type f -exec cat {} + >/dev/null
    find . -name '*.py' -exec chmod u+w {} +
    find fxgraph aotautograd -type f | while read -r graph; do
        cp "$graph" new && mv new "$graph"
        echo "$graph"
    done
    """


@test("a unit that is read, gets another mode, or is named after its content and written "
      "again as it was, was not made again")
def _(scene):
    first = Machine(scene, "first", TORCH, engine="torch")
    first.push()
    machine = Machine(scene, "second", engine="torch")

    for _ in range(2):
        ended = start(scene, machine, WRITE_GRAPHS, "--quiet", "200ms")
        equal((ended.status, ended.counts()[2:]), (0, ("0", "0")), ended.err)
        require("fxgraph/" in ended.out and "aotautograd/" in ended.out, ended.out)
    # Whether a file was added to them is not known then: they are pushed, but only once.
    for name, pushed in (("third", "2"), ("fourth", "0")):
        ended = start(scene, Machine(scene, name, engine="torch"), AFTER_PULL + WRITE_GRAPHS,
                      "--wait", "0s", "--quiet", "60s")
        equal((ended.status, ended.counts()[2:]), (0, ("0", pushed)), ended.err)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ended = start(scene, machine, WRITE_GRAPHS, "--wait", "5s", "--push", "never",
                      remote=f"http://127.0.0.1:{silent.getsockname()[1]}")
    equal((ended.status, ended.counts()[2:]), (0, ("0", "0")), ended.err)
    require("pull: not done after 5" in ended.err, ended.err)
    ended = start(scene, machine, """
        cd "$TORCHINDUCTOR_CACHE_DIR/fxgraph"
        for graph in */*; do
            echo other >"$graph/other"
            break
        done""")
    equal((ended.status, ended.counts()[2:]), (4, ("1", "1")), ended.err)


# What JAX does if JAX_COMPILATION_CACHE_MAX_SIZE bounds its cache: a hit writes the time.
JAX = r"""
cd "$JAX_COMPILATION_CACHE_DIR" || exit
[ "$JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES" = none ] || exit 9
[ -e jit_infer-1f-cache ] || echo program >jit_infer-1f-cache
cat jit_infer-1f-cache
date +%s%N >jit_infer-1f-atime
"""


@test("the time of use that JAX writes beside a program is there for it, and is no new unit")
def _(scene):
    first, second = (Machine(scene, name, engine="jax") for name in ("first", "second"))
    for machine, counts in ((first, ("0", "0", "2", "2")), (second, ("2", "1", "0", "0")),
                            (second, ("0", "1", "0", "0"))):
        os.makedirs(machine.tree, exist_ok=True)
        ended = start(scene, machine, JAX, "--push", "on-exit")
        equal((ended.counts(), ended.out), (counts, "program\n"), ended.err)
        equal(ended.status, 4 if counts[2] != "0" else 0, ended.err)
        equal(sorted(contents(machine.tree)), ["jit_infer-1f-atime", "jit_infer-1f-cache"])


@test("what ninja builds anew, since the ref's was built of other files, takes its place")
def _(scene):
    first = building.built(scene)
    shutil.rmtree(first.folder)
    for builder in (first, building.Builder(scene, "second"),
                    building.Builder(scene, "third")):
        builder.renew(-building.HOUR)
        if builder is not first:
            write(os.path.join(builder.package, "include", "own.h"),
                  "#include <vector>\ninline int own() { return 2; }\n")
            builder.renew(-building.HOUR)
        builder.write_sources()
        ended = scene.shell(
            f"exec {shutil.which('ninja')} -C '{builder.folder}'",
            options=("--engine", "own", "--require-warm", "--push", "on-exit"),
            env=builder.environment)
        warm = builder.scene.path("third") == builder.home
        equal((ended.status, "no work to do" in ended.out), (0 if warm else 4, warm),
              builder.home, ended.out, ended.err)
    equal(builder.steps(), 0)


# Then no list of what was there before tells what the command has made, only the times do.
@test("what a pull emits while the command runs was not made by it")
def _(scene):
    builder = building.built(scene)
    builder.verb("push", "a/b", "--remote", scene.remote)
    for _ in range(8):
        shutil.rmtree(builder.folder)
        ended = scene.shell(
            AFTER_PULL, options=("--engine", "own", "--require-warm", "--wait", "0s"),
            env=builder.environment)
        emitted, _, compiled, pushed = ended.counts()
        equal((ended.status, emitted, compiled, pushed), (0, "1", "0", "0"), ended.err)


@test("push --again complains in one sentence")
def _(scene):
    machine = Machine(scene, "one", VLLM)
    machine.push()

    def refused(*words, status=2):
        ended = machine.verb("push", "--remote", scene.remote, "a/b", *words, status=status)
        equal(len(ended.err.splitlines()), 1, ended.err)
        return ended.err
    require("--again" in refused("--again", ""))
    for name in ("vllm", "vllm/", "/a", "vllm/../a", "vllm//a"):
        require("no unit can have the name" in refused("--again", name), name)
    said = refused("--again", "vllm/modelinfos/gone.json", status=4)
    require("modelinfos/gone.json" in said and "it is not in the cache" in said, said)
    for words in (("--layout", "triton"), ("--bundle", "x"),
                  ("--as", "image", "--mount", "/x")):
        require("--again" in refused("--again", "vllm/a", *words), words)
    # The ref does not tell what a unit holds that was not made again.
    path = next(path for path in contents(machine.tree) if path.startswith("modelinfos/"))
    os.utime(machine.path(path))
    for count in (1, 0):
        said = machine.document("push", "--remote", scene.remote, "a/b", "--again",
                                "vllm/" + path)
        equal((said["pushed"], said["left_out"]), (count, []))
