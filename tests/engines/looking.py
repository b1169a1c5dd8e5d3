# SPDX-License-Identifier: Apache-2.0
"""Trees are read in place: verify, stats and diff."""
import glob
import json
import os
import shutil

from machines import AOT, GRAPH, INDEX, VLLM, Machine, full
from scene import equal, read, require, test, write


def counts(document):
    return tuple(document[name] for name in
                 ("verified", "left_out_count", "unfinished", "moved"))


def graph_of(machine):
    """A file that the index names."""
    name = next(name for name in os.listdir(machine.path(GRAPH))
                if name.startswith("artifact_"))
    return machine.path(GRAPH, name)


@test("a verify of an engine's caches reads units as it reads kernels, and "
      "says what names another place", full)
def _(scene, first):
    said = first.verb("verify").out
    require(said.startswith("verified 35 entries (60 files, 440 kB) in "
                            f"{first.kernels}, moved 4\n"), said)
    require("its engine would not find it" in said, said)
    document = first.document("verify")
    (moved,) = document["useless"]
    equal((moved["unit"], moved["root"], moved["state"]),
          (GRAPH, first.tree, "moved"))
    require(f"moved {GRAPH}: it names another place" in
            first.verb("verify").err)
    equal(counts(document), (35, 0, 0, 4))
    equal((document["intact"], document["root"]), (True, first.kernels))

    first.verb("relocate")

    equal(counts(first.document("verify")), (35, 0, 0, 0))
    equal(first.document("verify")["useless"], [])
    equal(first.collect("a.tkb")[1]["collected"], 35)


@test("a verify names a torn unit with its reason and exits with 5; one without "
      "its index is unfinished, which is no error", full)
def _(scene, first):
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
    document = first.document("verify")
    equal(counts(document), (34, 0, 1, 3))
    (unfinished,) = document["useless"]
    equal((unfinished["unit"], unfinished["root"], unfinished["state"]),
          (GRAPH, first.tree, "unfinished"))
    require(f"unfinished {GRAPH}: its index is missing" in
            first.verb("verify").err)
    write(first.path(GRAPH, INDEX), index)
    equal(counts(first.document("verify")), (35, 0, 0, 4))


@test("a unit's file that is cut short is named by verify, not pushed, and made "
      "whole by an emit: a graph, a shared object, and traits of a model")
def _(scene):
    module = bytearray(320)
    module[:5] = b"\x7fELF\2"
    module[40] = 64  # where its sections are listed,
    module[58] = 64  # the size of each,
    module[60] = 4  # and how many there are
    first = Machine(scene, "first", VLLM)
    first.verb("relocate")
    write(first.path("module.so"), bytes(module))
    first.collect("a.tkb")
    first.emit("a.tkb")
    graph = first.path(AOT, "rank_0_0", "model")
    (traits,) = glob.glob(first.path("modelinfos", "*.json"))
    for path, reason in (
            (graph, "is a pickle without its end"),
            (first.path("module.so"), "is cut short"),
            (traits, "was not written to its end")):
        whole = read(path)
        write(path, whole[:-1])
        (left_out,) = first.document("verify", status=5)["left_out"]
        require(reason in left_out["message"], left_out)
        equal(first.document("collect", "-o", scene.path("b.tkb"), status=4)
              ["collected"], 35)
        equal(first.emit("a.tkb"), (0, 35, 1))
        equal(read(path), whole)


@test("a verify of a tree alone looks at no cache root; a tree that is not "
      "there is empty", full)
def _(scene, first):
    shown = f"mine:vllm={first.tree}"
    ended = scene.tkbundle("verify", "--tree", shown)
    require(ended.out.startswith("verified 34 entries (52 files, 380 kB) in "
                                 f"{first.tree}, moved 3\n"), ended.out)
    os.symlink("/etc/hosts", first.path(AOT, "inductor_cache", "link"))
    ended = scene.tkbundle("verify", "--tree", shown, status=5)
    require(": unsafe: " in ended.err, ended.err)
    ended = scene.tkbundle("verify", "--tree", "mine=" + scene.path("none"))
    equal(ended.out,
          f"verified 0 entries (0 files, 0 B) in {scene.path('none')}\n")


@test("the stats of an engine's caches are those of their bundle", full)
def _(scene, first):
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


@test("stats --used tells which units were read since their emit, and which were "
      "compiled here")
def _(scene):
    first, second = Machine(scene, "first", VLLM), Machine(scene, "second")
    first.collect("a.tkb")
    second.emit("a.tkb")

    def uses():
        return second.document("stats", "--used")["uses"]

    def states():
        return {each["name"]: each["state"] for each in uses()["list"]
                if each.get("tree") == "vllm"}
    if not uses()["known"]:
        require("uses      unknown" in second.verb("stats", "--used").out)
        return
    emitted = states()
    equal((len(emitted), set(emitted.values())), (31, {"unused"}))

    index = second.index()
    second.document("verify")

    equal(states(), {**emitted, GRAPH: "used"})
    said = second.verb("stats", "--used").out
    (line,) = [line for line in said.splitlines()
               if line.startswith("used ")]
    require(line.endswith(GRAPH) and "  unit        -  " in line, line)

    info = next(name for name in emitted if name.startswith("modelinfos/"))
    os.remove(second.path(info))
    write(second.path(info), read(first.path(info)))
    equal(states(), {**emitted, GRAPH: "used", info: "compiled"})
    os.remove(second.path(GRAPH, INDEX))
    write(second.path(GRAPH, INDEX), index)
    equal(states()[GRAPH], "compiled")


@test("verify and stats refuse trees beside a bundle and a remote", full)
def _(scene, first):
    first.collect("a.tkb")
    for words, why in (
            (("verify", "a.tkb"), "'a.tkb' is no folder"),
            (("stats", "-"), "'-' is no folder"),
            (("verify", "--remote", scene.remote), "'--remote' excludes")):
        for option in ("--engine=vllm", "--tree=mine=" + first.tree):
            ended = scene.tkbundle(*words, option, status=2)
            equal(ended.out, "", words)
            require(why in ended.err, ended.err)


@test("a diff of an engine's caches and a bundle compares them unit by unit")
def _(scene):
    first = Machine(scene, "first", VLLM)
    first.collect("a.tkb")
    equal(first.verb("diff", "a.tkb", first.kernels).out, "35 entries equal\n")
    equal(first.verb("diff", first.kernels, "a.tkb").out, "35 entries equal\n")
    with open(graph_of(first), "ab") as file:
        file.write(b"more")
    shutil.rmtree(first.path("modelinfos"))

    said = first.document("diff", "a.tkb", first.kernels, status=4)

    equal(said["b"]["root"], first.kernels)
    equal([each["name"] for each in said["differ"]], [GRAPH])
    equal([each["name"] for each in said["differ"][0]["files"]],
          [os.path.basename(graph_of(first))])
    require(said["only_a"])
    for each in said["only_a"]:
        equal((each["kind"], each["tree"]), ("unit", "vllm"))
        require(each["name"].startswith("modelinfos/"), each)
    equal((said["only_b"], said["equal_count"]),
          ([], 34 - len(said["only_a"])))

    os.remove(graph_of(first))
    ended = first.verb("diff", "a.tkb", first.kernels, status=4)
    require(f"left out of B {GRAPH}: missing: " in ended.err, ended.err)


@test("a diff of two caches takes the trees of the first, then those of the "
      "second, wherever they lie")
def _(scene):
    first, second = (Machine(scene, name, VLLM) for name in ("one", "two"))
    second.verb("relocate")
    roots = (first.kernels, second.kernels)
    trees = [f"--tree=vllm:vllm={each.tree}" for each in (first, second)]
    env = first.environment

    def diff(*words, status):
        return scene.tkbundle("diff", *words, env=env, status=status)
    equal(diff(*roots, *trees, status=0).out, "35 entries equal\n")
    shutil.rmtree(second.path("modelinfos"))
    said = diff(*roots, *trees, "--json", status=4).out
    lost = json.loads(said)["only_a_count"]
    require(lost > 0)
    said = diff(*reversed(roots), *reversed(trees), "--json", status=4).out
    equal(json.loads(said)["only_b_count"], lost)
    require("twice, for A and then for B" in
            diff(*roots, trees[0], status=2).err)
    require("twice, for A and then for B" in
            diff(*roots, *trees, trees[0], status=2).err)
    require("'--engine' knows the trees of one" in
            diff(*roots, "--engine=vllm", status=2).err)


@test("a diff of two bundles refuses trees; of one cache, two of one name", full)
def _(scene, first):
    first.collect("a.tkb")
    tree = "--tree=mine=" + first.tree
    for words, why in ((("a.tkb", "a.tkb", "--engine=vllm"), "is a folder"),
                       (("a.tkb", "-", tree), "is a folder"),
                       (("a.tkb", first.kernels, tree, tree), "two trees")):
        ended = scene.tkbundle("diff", *words, status=2)
        equal(ended.out, "", words)
        require(why in ended.err, ended.err)
