# SPDX-License-Identifier: Apache-2.0
"""Trees are looked at where they lie: verify and stats."""
import json
import os

from machines import AOT, GRAPH, INDEX, VLLM, Machine, read, write
from scene import equal, require, test


def counts(document):
    return tuple(document[name] for name in
                 ("verified", "left_out_count", "unfinished", "moved"))


def graph_of(machine):
    """A file that the index names."""
    name = next(name for name in os.listdir(machine.path(GRAPH))
                if name.startswith("artifact_"))
    return machine.path(GRAPH, name)


@test("a verify of an engine's caches reads units as it reads kernels, and "
      "says what names another place")
def _(scene):
    first = Machine(scene, "first", VLLM)
    said = first.verb("verify").out
    require(said.startswith("verified 35 entries (60 files, 440 kB) in "
                            f"{first.kernels}, moved 4\n"), said)
    require("its engine would not find it" in said, said)
    document = first.document("verify")
    equal(counts(document), (35, 0, 0, 4))
    equal((document["intact"], document["root"]), (True, first.kernels))

    first.verb("relocate")

    equal(counts(first.document("verify")), (35, 0, 0, 0))
    equal(first.collect("a.tkb")[1]["collected"], 35)


@test("a verify names a torn unit with its reason and exits with 5; one without "
      "its index is unfinished, which is no error")
def _(scene):
    first = Machine(scene, "first", VLLM)
    index = first.index()
    lost = graph_of(first)
    data = read(lost)
    os.remove(lost)

    document = first.document("verify", status=5)

    equal(counts(document), (34, 1, 0, 3))
    equal(document["intact"], False)
    (left_out,) = document["left_out"]
    equal((left_out["key"], left_out["root"], left_out["reason"]),
          (GRAPH, first.tree, "missing"))
    require(os.path.basename(lost) in left_out["message"], left_out)
    require(f"left out {GRAPH}: missing: " in
            first.verb("verify", status=5).err)

    write(lost, data)
    os.remove(first.path(GRAPH, INDEX))
    equal(counts(first.document("verify")), (34, 0, 1, 3))
    write(first.path(GRAPH, INDEX), index)
    equal(counts(first.document("verify")), (35, 0, 0, 4))


@test("a verify of a tree alone looks at no cache root; a tree that is not "
      "there is empty")
def _(scene):
    first = Machine(scene, "first", VLLM)
    shown = f"mine:vllm={first.tree}"
    ended = scene.tkbundle("verify", "--tree", shown)
    equal(ended.status, 0, ended.err)
    require(ended.out.startswith("verified 34 entries (52 files, 380 kB) in "
                                 f"{first.tree}, moved 3\n"), ended.out)
    os.symlink("/etc/hosts", first.path(AOT, "inductor_cache", "link"))
    ended = scene.tkbundle("verify", "--tree", shown)
    equal(ended.status, 5, ended.err)
    require(": unsafe: " in ended.err, ended.err)
    ended = scene.tkbundle("verify", "--tree", "mine=" + scene.path("none"))
    equal((ended.status, ended.out),
          (0, f"verified 0 entries (0 files, 0 B) in {scene.path('none')}\n"))


@test("the stats of an engine's caches are those of their bundle")
def _(scene):
    first = Machine(scene, "first", VLLM)
    first.verb("relocate")
    first.collect("a.tkb")
    live = first.document("stats", "--paths")
    bundle = json.loads(
        scene.tkbundle("stats", "--json", "--paths", "a.tkb").out)

    equal(live["trees"], [{"tree": "vllm", "units": 31, "files": 35,
                           "size": live["trees"][0]["size"], "paths":
                           live["trees"][0]["paths"]}])
    for name in ("names", "trees", "entry_count", "files", "size",
                 "repeats", "paths"):
        equal(live[name], bundle[name])
    require(sum(each["own"] for each in live["types"]
                if each["type"] == "py") > 0)
    require("  vllm\n" in first.verb("stats").out)


@test("verify and stats refuse trees beside a bundle, a remote and uses")
def _(scene):
    first = Machine(scene, "first", VLLM)
    first.collect("a.tkb")
    for words, why in (
            (("verify", "a.tkb"), "'a.tkb' is no folder"),
            (("stats", "-"), "'-' is no folder"),
            (("verify", "--remote", scene.remote), "'--remote' excludes"),
            (("stats", "--used"), "'--used' excludes")):
        for option in ("--engine=vllm", "--tree=mine=" + first.tree):
            ended = scene.tkbundle(*words, option)
            equal((ended.status, ended.out), (2, ""), words)
            require(why in ended.err, ended.err)
