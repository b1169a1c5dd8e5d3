# SPDX-License-Identifier: Apache-2.0
"""Trees are kept in order where they lie: relocate and gc."""
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

from hiding import plant
from machines import (
    AOT, GRAPH, INDEX, TORCH, VLLM, Machine, contents, names_what_is_there,
    read, stages, write)
from moving import carried
from scene import equal, require, test


def outcomes(document):
    """What became of the units and entries: counts by outcome."""
    found = {}
    for each in document["entries"]:
        found[each["outcome"]] = found.get(each["outcome"], 0) + 1
    return found


def counts(document):
    return tuple(document[name] for name in
                 ("relocated", "present", "left_out", "failed"))


@test("a home that was moved names its place after a relocate, kernels and "
      "trees, and is what it was but for that")
def _(scene):
    first = Machine(scene, "first", VLLM)
    bundle, _ = first.collect("a.tkb")
    plain = carried(first.tree)
    times = os.stat(first.path(GRAPH, INDEX)).st_mtime_ns
    os.chmod(first.path(GRAPH, INDEX), 0o640)

    said = first.document("relocate")

    # The index, and four kernels, in their folder or in the tree.
    equal(counts(said), (5, 32, 0, 0))
    equal(outcomes(said), {"repaired": 5, "present": 32})
    repaired = {each["name"]: each["root"] for each in said["entries"]
                if each["outcome"] == "repaired"}
    equal(repaired[GRAPH], first.tree)
    names_what_is_there(first)
    equal(carried(first.tree), plain)
    equal(os.stat(first.path(GRAPH, INDEX)).st_mode & 0o777, 0o640)
    equal(os.stat(first.path(GRAPH, INDEX)).st_mtime_ns, times)
    equal(first.collect("b.tkb")[0], bundle)
    equal(first.collect("c.tkb")[1]["moved"], 0)
    equal(counts(first.document("relocate")), (0, 37, 0, 0))
    equal(stages(first.tree), [])

    os.rename(first.home, scene.path("moved"))
    first.home = scene.path("moved")
    first.tree = os.path.join(first.home, ".cache", "vllm")
    equal(first.document("relocate", "-n", env={"HOME": first.home})
          ["relocated"], 5)
    require(first.tree.encode() not in first.index())
    first.verb("relocate", env={"HOME": first.home})
    names_what_is_there(first)


@test("a relocate of a tree alone touches nothing else, and says so in one "
      "line")
def _(scene):
    first = Machine(scene, "first", VLLM)
    kernels = contents(first.kernels)

    # Without rules no text holds paths: nothing is to be done.
    ended = scene.tkbundle("relocate", "--tree", "mine=" + first.tree)
    equal((ended.status, ended.out),
          (0, f"relocated 0, present 53 in {first.tree}\n"))
    equal(contents(first.kernels), kernels)
    ended = scene.tkbundle("relocate", "--tree", "mine=none")
    equal((ended.status, ended.err),
          (3, "tkbundle: there is no folder 'none'\n"))
    ended = scene.tkbundle("relocate", "--engine", "none")
    equal(ended.status, 2)


@test("what an Inductor caches is relocated, and needs nothing of its trees")
def _(scene):
    first = Machine(scene, "first", TORCH, engine="torch")
    graphs = contents(first.path("fxgraph"))

    said = first.document("relocate")

    require(said["relocated"] > 0 and said["layout"] == "inductor", said)
    equal(contents(first.path("fxgraph")), graphs)
    equal(first.collect("a.tkb")[1]["moved"], 0)


@test("a text that would not come back as it was is left as it is, with its "
      "unit, in one sentence that names it")
def _(scene):
    first = Machine(scene, "first", VLLM)
    text = first.index()
    for changed, word in (
            (text.replace(b"/home/serve/", b"/home/other/", 1), "sentinel"),
            (text + b"# [REPLACE:vllm]\n", "sentinel"),
            (text.replace(b"subgraph_0'", b"subgraph_9'"), "missing")):
        write(first.path(GRAPH, INDEX), changed)

        ended = first.verb("relocate", status=4)

        lines = ended.err.splitlines()
        equal(len(lines), 1, ended.err)
        require(f"left out {GRAPH}: {word}: '{INDEX}'" in lines[0], lines)
        equal(first.index(), changed)
    write(first.path(GRAPH, INDEX), text)
    first.verb("relocate")
    names_what_is_there(first)


@test("a secret stays where it is in a relocate, and with it who may read it")
def _(scene):
    first = Machine(scene, "first", VLLM)
    plant(first)
    keys = first.path(GRAPH, "cache_key_factors.json")
    old = read(keys).replace(b'"NESTED"', b'"PLACE": "/home/serve/.cache/vllm/'
                             + GRAPH.encode() + b'/x", "NESTED"')
    write(keys, old)
    os.chmod(keys, 0o600)

    first.verb("relocate")

    equal(read(keys), old.replace(b"/home/serve/.cache/vllm",
                                  first.tree.encode()))
    equal(os.stat(keys).st_mode & 0o777, 0o600)
    require(b"plain-secret-01" in read(keys))


@test("a relocate that is cut short is finished by the next, and names files "
      "that are there in between")
def _(scene):
    first = Machine(scene, "first", VLLM)
    keys = first.path(GRAPH, "cache_key_factors.json")
    write(keys, b'{"PLACE": "/home/serve/.cache/vllm/' + GRAPH.encode() +
          b'/x"}')
    text = first.index()
    first.verb("relocate")
    write(first.path(GRAPH, INDEX), text)  # as if killed before the index

    equal(first.document("relocate")["relocated"], 1)

    names_what_is_there(first)


@test("two relocates at once give what one gives")
def _(scene):
    first = Machine(scene, "first", VLLM)
    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(
            lambda _: first.verb("relocate", status=None).status, range(4)))
    # What one has changed while another one looks is left to it.
    require(set(ended) <= {0, 4}, ended)
    equal(first.document("relocate")["relocated"], 0)
    names_what_is_there(first)
    equal(stages(first.tree), [])
    require(os.path.isfile(first.path(AOT, "rank_0_0", "model")))
    shutil.rmtree(first.home)
