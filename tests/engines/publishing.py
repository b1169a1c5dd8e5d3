# SPDX-License-Identifier: Apache-2.0
"""Units appear whole or not at all, whatever happens to an emit."""
import collections
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import time

from machines import (AOT, GRAPH, INDEX, VLLM, Machine, contents, full,
                      names_what_is_there, reasons, stages)
from moving import carried
from scene import equal, need_root, read, require, test, write

ARTIFACT = "artifact_compile_range_1_16384_subgraph_1"


def pair(scene, user="serve"):
    """A full machine, its bundle a.tkb, and an empty machine."""
    first = Machine(scene, "first", VLLM)
    first.collect("a.tkb")
    return first, Machine(scene, "second", user=user)


def start(machine, *words):
    scene = machine.scene
    started = subprocess.Popen(
        [scene.program, "emit", "--engine", "vllm", *words,
         scene.path("a.tkb")],
        env={**scene.environment, **machine.environment}, cwd=scene.folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    started.begin = time.monotonic()
    scene.started.append(started)
    return started


def units_are_whole(first, second):
    """Check that each unit that exists has all its files, with the right bytes."""
    wanted, got = carried(first.tree), carried(second.tree)
    for path, data in got.items():
        require(wanted.get(path) == data, f"'{path}' is torn")
    folder = [path for path in wanted if path.startswith(GRAPH + "/")]
    here = [path for path in got if path.startswith(GRAPH + "/")]
    if os.path.isdir(second.path(GRAPH)):
        equal(sorted(here), sorted(folder))
        names_what_is_there(second)


@test("an emit that is killed at any moment leaves no torn unit, and the next "
      "one makes all whole")
def _(scene):
    first, second = pair(scene)
    begin = time.monotonic()
    start(second).wait()
    length = time.monotonic() - begin
    chance = random.Random(1)
    for _ in range(25):
        shutil.rmtree(second.home)
        for _ in range(3):
            emit = start(second, "-j", "2")
            time.sleep(chance.uniform(0, length))
            emit.send_signal(signal.SIGKILL)
            emit.wait()
            units_are_whole(first, second)
        second.emit("a.tkb")
        equal(carried(second.tree), carried(first.tree))
        equal(stages(second.tree), [])


@test("sixteen emits at once make each unit once, and it is whole")
def _(scene):
    first, second = pair(scene)
    emits = [start(second) for _ in range(16)]
    while any(emit.poll() is None for emit in emits):
        units_are_whole(first, second)
    equal([emit.returncode for emit in emits], [0] * 16)
    equal(carried(second.tree), carried(first.tree))
    equal(stages(second.tree), [])
    equal(second.emit("a.tkb"), (0, 35, 0))


@test("a unit that lacks a file, has an empty one or one with other bytes is "
      "repaired")
def _(scene):
    first, second = pair(scene)
    second.emit("a.tkb")
    artifact = second.path(GRAPH, ARTIFACT)
    whole = read(artifact)

    def damage_and_repair(damage):
        damage()
        shutil.rmtree(second.path(".tkbundle"))
        equal(second.emit("a.tkb"), (0, 34, 1))
        equal(read(artifact), whole)
        names_what_is_there(second)
    damage_and_repair(lambda: os.unlink(artifact))
    damage_and_repair(lambda: write(artifact, b""))
    damage_and_repair(lambda: write(artifact, whole[:-1] + b"\0"))
    damage_and_repair(lambda: os.unlink(second.path(GRAPH, INDEX)))
    damage_and_repair(lambda: write(second.path(GRAPH, INDEX), b""))
    equal(carried(second.tree), carried(first.tree))


@test("a unit of another compile stays as it is")
def _(scene):
    first, second = pair(scene)
    second.emit("a.tkb")
    artifact = second.path(GRAPH, ARTIFACT)
    write(artifact, b"longer or shorter")
    os.unlink(second.path(GRAPH, "cache_key_factors.json"))
    shutil.rmtree(second.path(".tkbundle"))

    equal(second.emit("a.tkb"), (0, 35, 0))

    equal(read(artifact), b"longer or shorter")
    require(not os.path.exists(second.path(GRAPH, "cache_key_factors.json")))


@test("kernels of FlashInfer's CuTe DSL are not mixed with those of another version, which "
      "is in a file of the same size")
def _(scene):
    for engine, root in (("flashinfer", ".cache/flashinfer"),
                         ("sglang", ".cache/sglang/.cache/flashinfer")):
        older, newer, empty = (Machine(scene, engine + name, engine=engine)
                               for name in ("-older", "-newer", "-empty"))
        unit = os.path.join(root, "0.7.4/90a/cached_ops/gemm_sm90a_cute_dsl")
        for machine, version, kernel in ((older, "4.7.1", "a.o"), (newer, "4.8.1", "b.o")):
            write(os.path.join(machine.home, unit, kernel), "made by " + version)
            write(os.path.join(machine.home, unit, "meta.json"),
                  json.dumps({"arch": "sm90a", "cute_dsl_version": version}))
        before = contents(older.home)
        newer.collect(engine + ".tkb")

        for _ in range(2):  # the second time, the bundle was here
            equal(older.emit(engine + ".tkb"), (0, 1, 0), engine)
            equal({name: data for name, data in contents(older.home).items()
                   if "/.tkbundle" not in name}, before, engine)
        equal(empty.emit(engine + ".tkb"), (1, 0, 0), engine)
        # Until that file is there, the kernels are not finished.
        os.remove(os.path.join(newer.home, unit, "meta.json"))
        equal(newer.collect("b.tkb")[1]["collected"], 0, engine)


@test("while a unit is repaired, its index is not there: it goes first and "
      "comes last")
def _(scene):
    first, second = pair(scene)
    second.emit("a.tkb")
    os.unlink(second.path(GRAPH, ARTIFACT))
    shutil.rmtree(second.path(".tkbundle"))
    trace = scene.strace(["-e", "renameat,renameat2,unlinkat"],
                         "emit", "--engine", "vllm", "-j", "1", scene.path("a.tkb"),
                         env=second.environment)

    calls = [line for line in trace.splitlines()
             if "= 0" in line and (INDEX in line or ARTIFACT in line)]
    require(INDEX in calls[0] and "unlinkat" in calls[0], *calls)
    require(INDEX in calls[-1] and "renameat" in calls[-1], *calls)
    require(any(ARTIFACT + '"' in line for line in calls[1:-1]), *calls)


@test("a file or a link in the way of a unit is left, told, and hinders no "
      "other")
def _(scene):
    first, second = pair(scene)
    outside = scene.path("outside")
    os.makedirs(outside)
    for name in (GRAPH, AOT, "modelinfos"):
        os.makedirs(os.path.dirname(second.path(name)), exist_ok=True)
    os.symlink(outside, second.path("modelinfos"))
    os.symlink(outside, second.path(AOT))
    write(second.path(GRAPH), "a file")

    ended = second.document("emit", "a.tkb", status=5)

    equal(os.listdir(outside), [])
    equal(read(second.path(GRAPH)), b"a file")
    failed = [each for each in ended["entries"]
              if each["outcome"] == "failed"]
    equal(len(failed), 31)
    equal(ended["emitted"], 4)
    require(all("is in the way of" in each["message"] for each in failed),
            failed[0])


@test("what cannot be packed of a tree is left out by name, and the rest is "
      "packed", full)
def _(scene, first):
    deep = "/".join(["d" * 200] * 5)
    write(first.path(deep, "file"), "x")
    os.symlink("/etc", first.path("modelinfos", "link"))
    os.symlink("/etc/passwd", first.path(AOT, "rank_0_0", "link"))
    write(first.path("modelinfos", "a\nb.json"), "{}")
    os.mkfifo(first.path("modelinfos", "fifo"))
    with socket.socket(socket.AF_UNIX) as listening:
        os.chdir(first.path("modelinfos"))
        listening.bind("socket")
    os.chdir(scene.folder)
    many = first.path(GRAPH.replace("799209178a", "22"))
    os.makedirs(many)
    for number in range(4097):
        write(os.path.join(many, str(number)), "x")
    write(first.path("torch_compile_cache", "3", "rank_0_0", "x", INDEX),
          f"'{first.tree}/torch_compile_cache/3/rank_0_0/x/gone'")
    write(first.path("torch_compile_cache", "4", "rank_0_0", "y", INDEX),
          "'[REPLACE:vllm]/x'")

    _, said = first.collect("a.tkb", status=4)

    why = reasons(said)
    equal({name.rpartition("/")[2]: message for name, message in why.items()},
          {"file": "its path cannot be in a bundle",
           "link": "it is a symbolic link",
           "rank_0_0": "'link': it is a symbolic link",
           "a\nb.json": "its path cannot be in a bundle",
           "backbone": "it holds more than 4096 files",
           "x": f"'{INDEX}' names 'torch_compile_cache/3/rank_0_0/x/gone', "
                "which is not there",
           "y": f"'{INDEX}': it holds '[REPLACE:' already"})
    equal(said["collected"], 34)
    second = Machine(scene, "second")
    second.emit("a.tkb")
    names_what_is_there(second)


def open_to_all(folder):
    """Let another user read what is in the folder, and write into it."""
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    os.chmod(folder, 0o777)


def collect_as_nobody(machine):
    scene = machine.scene
    return scene.go(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
         scene.program, "collect", "--engine", "vllm", "--json", "-o",
         scene.path("a.tkb")], env=machine.environment)


@test("a folder that can be listed but not entered leaves out its unit, by name")
def _(scene):
    need_root()
    first = Machine(scene, "first", VLLM)
    open_to_all(scene.folder)
    write(first.path(GRAPH, "more", "file"), "x")
    os.chmod(first.path(GRAPH, "more"), 0o444)

    ended = collect_as_nobody(first)

    equal(ended.status, 4, ended.err)
    require(f"{GRAPH}: unreadable: 'more/file': it cannot be read" in ended.err, ended.err)


@test("an index that names nothing, a folder or a name with a blank is understood", full)
def _(scene, first):
    below = ("torch_compile_cache", "3", "rank_0_0", "x")
    here = first.path(*below)
    write(os.path.join(here, "a b"), "x")

    def collected(names, status):
        write(os.path.join(here, INDEX), names)
        _, said = first.collect("a.tkb", status=status)
        return reasons(said)

    equal(collected(f"{{'a': '{first.tree}/', 'b': '{here}/a b'}}", 0), {})
    inside = "/".join((*below, "a b", "c"))
    equal(list(collected(f"{{'a': '{here}/a b/c'}}", 4).values()),
          [f"'{INDEX}' names '{inside}', which is not there"])


@test("a folder that cannot be read is left out by name")
def _(scene):
    need_root()
    first = Machine(scene, "first", VLLM)
    open_to_all(scene.folder)
    os.chmod(first.path("modelinfos"), 0)
    os.chmod(first.path(GRAPH), 0)

    ended = collect_as_nobody(first)

    equal(ended.status, 4, ended.err)
    require("modelinfos" in ended.err and GRAPH in ended.err, ended.err)
    require("Permission denied" in ended.err, ended.err)


@test("a file that changes while it is read is left out with its unit", full)
def _(scene, first):
    model = first.path(AOT, "rank_0_0", "model")
    ended = []
    with open(model, "r+b") as file:
        file.truncate(48 << 20)
        file.seek(-1, os.SEEK_END)
        file.write(b".")  # as a pickle ends
        file.flush()
        packing = subprocess.Popen(
            [scene.program, "collect", "--engine", "vllm", "--json", "-o",
             scene.path("a.tkb")], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=scene.folder,
            env={**scene.environment, **first.environment})
        scene.started.append(packing)
        while packing.poll() is None:
            file.seek(0)
            file.write(os.urandom(64))
            file.flush()
            os.utime(model)
        ended = packing.communicate()
    require(b"rank_0_0" in ended[1], ended)
    require(b"busy" in ended[1], ended)
    listed = scene.tkbundle("ls", "a.tkb").out
    require(AOT + "/rank_0_0" not in listed and GRAPH in listed, listed)
    scene.tkbundle("verify", "a.tkb")


@test("a tree's root that is not there is an empty tree for collect, and made "
      "by emit", full)
def _(scene, first):
    shutil.rmtree(first.tree)
    _, said = first.collect("a.tkb")
    equal(said["collected"], 3)
    shutil.rmtree(first.kernels)
    first.verb("collect", "-o", "b.tkb")
    scene.tkbundle("verify", "b.tkb")


@test("a tree's root that is a file is refused in one sentence")
def _(scene):
    _, second = pair(scene)
    write(second.tree, "no folder")

    ended = second.verb("emit", "a.tkb", status=2)

    equal(len(ended.err.splitlines()), 1, ended.err)
    require(second.tree in ended.err, ended.err)


@test("a full unit is written with few calls, and one that is there is not "
      "read twice")
def _(scene):
    _, second = pair(scene)

    def count(*words):
        counts = scene.strace(["-c"], *words, env=second.environment)
        lines = [line.split() for line in counts.splitlines()]
        return collections.Counter({line[-1]: int(line[3]) for line in lines
                                    if len(line) >= 5 and line[3].isdigit()})

    emit = ["emit", "--engine", "vllm", "-j", "1", scene.path("a.tkb")]
    # What a start takes by itself is the machine's, and a sanitizer's.
    start = count("--version")
    first_time, again = count(*emit) - start, count(*emit) - start
    # 60 files, of which 31 units: a write a file, a rename a unit.
    require(first_time["renameat2"] < 60, first_time)
    require(first_time["write"] < 120, first_time)
    # Both look for the engine's Python, among as many packages as there are.
    require((first_time - again)["openat"] < 240, first_time, again)
    require(again["write"] < 3 and again["openat"] < 120, again)
    require(again["renameat2"] + again["mkdirat"] == 0, again)


@test("units of a new folder appear by one rename; if the folder is there by then, or "
      "one of them fails, each of the others appears by its own")
def _(scene):
    first = Machine(scene, "first", VLLM)
    (model,) = os.listdir(first.path("modelinfos"))
    for name in ("one.json", "two.json", "three.json"):
        shutil.copy(first.path("modelinfos", model), first.path("modelinfos", name))
    first.collect("a.tkb")
    wanted = carried(first.tree)

    def emit(name, status, *injected):
        machine = Machine(scene, name)
        trace = scene.strace(["-y", *injected], "emit", "--engine", "vllm", "-j", "1",
                             scene.path("a.tkb"), env=machine.environment, status=status)
        moved = [line for line in trace.splitlines()
                 if "renameat" in line and "= 0" in line]
        return (machine, [line for line in moved if '"modelinfos"' in line],
                [line for line in moved if "/modelinfos>" in line])

    machine, folders, files = emit("second", 0)
    require(carried(machine.tree) == wanted)
    equal((len(folders), files), (1, []))

    machine, folders, files = emit("third", 0, "-e", "inject=renameat2:error=EEXIST")
    require(carried(machine.tree) == wanted)
    equal((folders, len(files)), ([], 4))

    writes = [line for line in scene.read("trace").splitlines() if " write(" in line]
    (number,) = [number for number, line in enumerate(writes, 1) if "two.json>" in line]
    machine, folders, files = emit("fourth", 4, "-e",
                                   f"inject=write:error=EIO:when={number}")
    del wanted["modelinfos/two.json"]
    require(carried(machine.tree) == wanted)
    equal((folders, len(files)), ([], 3))


@test("an index that was cut short, and one of what was never written, are left out by "
      "name; an emit puts a whole one there, whatever else the unit has", full)
def _(scene, first):
    first.verb("relocate")
    index = first.index()
    whole, _ = first.collect("a.tkb")
    equal(first.emit("a.tkb")[2], 0)
    for text in (b"", index[:-1], index[:len(index) // 2], bytes(len(index)),
                 index[:64] + bytes(64)):
        write(first.path(GRAPH, INDEX), text)
        _, said = first.collect("b.tkb", status=4)
        (left_out,) = said["left_out"]
        equal((left_out["key"], left_out["reason"]), (GRAPH, "metadata"))
        require(f"'{INDEX}' was not written to its end" in
                left_out["message"], left_out)
        equal(first.emit("a.tkb"), (0, 34, 1), text)
        equal(first.index(), index)
        equal(first.collect("b.tkb")[0], whole)
    # Files of another compile are of no use without their index.
    (graph, *_) = [name for name in sorted(os.listdir(first.path(GRAPH)))
                   if name.startswith("artifact_")]
    data = read(first.path(GRAPH, graph))
    write(first.path(GRAPH, graph), data + b"more")
    equal(first.emit("a.tkb"), (0, 35, 0))
    write(first.path(GRAPH, INDEX), index[:-1])
    equal(first.emit("a.tkb"), (0, 34, 1))
    equal(first.collect("b.tkb")[0], whole)

    write(first.path(GRAPH, graph), b"")
    _, said = first.collect("b.tkb", status=4)
    (left_out,) = said["left_out"]
    equal((left_out["key"], left_out["reason"]), (GRAPH, "binary"))
    require("which is empty" in left_out["message"], left_out)
    equal(first.emit("a.tkb"), (0, 34, 1))
