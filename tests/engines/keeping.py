# SPDX-License-Identifier: Apache-2.0
"""Trees are maintained in place: relocate and gc."""
import errno
import fcntl
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from hiding import plant
from machines import (AOT, GRAPH, INDEX, TORCH, VLLM, Machine, contents, full,
                      names_what_is_there, stages)
from moving import carried
from sandbox import refusing
from scene import (equal, is_there, read, require, small_disk, test,
                   wait_until, write)


def outcomes(document):
    """The counts of units and entries, by outcome."""
    found = {}
    for each in document["entries"]:
        found[each["outcome"]] = found.get(each["outcome"], 0) + 1
    return found


def counts(document):
    return tuple(document[name] for name in
                 ("relocated", "present", "left_out", "failed"))


@test("a home that was moved names its place after a relocate, kernels and "
      "trees, and is what it was but for that", full)
def _(scene, first):
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


@test("a home that was moved names its place also where no file can be given away")
def _(scene):
    first = Machine(scene, "first", VLLM)
    for folder, _, names in os.walk(first.home):
        for name in names:
            os.chown(os.path.join(folder, name), os.geteuid(), os.getegid())
    refused = refusing(errno.EPERM, "fchown")

    equal(counts(first.document("relocate", preexec_fn=refused)), (5, 32, 0, 0))

    names_what_is_there(first)


@test("a relocate of a tree alone touches nothing else, and says so in one "
      "line", full)
def _(scene, first):
    kernels = contents(first.kernels)

    # Without rules, no file has paths, so there is nothing to do.
    ended = scene.tkbundle("relocate", "--tree", "mine=" + first.tree)
    equal(ended.out, f"relocated 0, present 53 in {first.tree}\n")
    equal(contents(first.kernels), kernels)
    ended = scene.tkbundle("relocate", "--tree", "mine=none", status=3)
    equal(ended.err, "tkbundle: there is no folder 'none'\n")
    scene.tkbundle("relocate", "--engine", "none", status=2)


@test("what an Inductor caches is relocated, and needs nothing of its trees")
def _(scene):
    first = Machine(scene, "first", TORCH, engine="torch")
    graphs = contents(first.path("fxgraph"))

    said = first.document("relocate")

    require(said["relocated"] > 0 and said["layout"] == "inductor", said)
    equal(contents(first.path("fxgraph")), graphs)
    equal(first.collect("a.tkb")[1]["moved"], 0)


@test("a text that would not come back as it was is left as it is, with its "
      "unit, in one sentence that names it", full)
def _(scene, first):
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
    write(keys, old, 0o600)

    first.verb("relocate")

    equal(read(keys), old.replace(b"/home/serve/.cache/vllm",
                                  first.tree.encode()))
    equal(os.stat(keys).st_mode & 0o777, 0o600)
    require(b"plain-secret-01" in read(keys))


@test("a relocate that is cut short is finished by the next, and names files "
      "that are there in between", full)
def _(scene, first):
    keys = first.path(GRAPH, "cache_key_factors.json")
    write(keys, b'{"PLACE": "/home/serve/.cache/vllm/' + GRAPH.encode() +
          b'/x"}')
    text = first.index()
    first.verb("relocate")
    write(first.path(GRAPH, INDEX), text)  # as if killed before the index

    equal(first.document("relocate")["relocated"], 1)

    names_what_is_there(first)


@test("two relocates at once give what one gives", full)
def _(scene, first):
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


OLD = 1_600_000_000  # long ago


def age(machine, folder=None, when=OLD):
    """Date all that is in the machine's caches, or in a folder, unread."""
    for root in (folder,) if folder else (machine.tree, machine.kernels):
        paths = [root] if os.path.isfile(root) else [
            os.path.join(below, name) for below, _, names in os.walk(root)
            for name in names]
        for path in paths:
            os.utime(path, (when, when))


def gone(document):
    return sorted(each["name"] for each in document["entries"]
                  if each["outcome"] == "removed")


def stays(document):
    return {each["name"]: each["message"] for each in document["entries"]
            if each["outcome"] == "skipped"}


def index_tree(scene, files):
    """A tree whose index names files that are units of their own."""
    rules = [{"path": "graphs/*", "is": "unit"},
             {"path": "*.json", "style": "json", "last": 1}]
    profile = {"engine": "mine", "package": "mine", "versions": [],
               "commands": [], "models": [], "set": [], "roots": [
                   {"name": "mine", "variable": "MINE_CACHE", "rules": rules,
                    "places": [["HOME", "/mine"]]}]}
    write(scene.path("engines", "mine.json"), json.dumps(profile))
    for name, content in files.items():
        write(scene.path("cache", name), content)

    def verb(*words, status=0):
        ended = scene.tkbundle(
            words[0], "--engine", "mine", "--json", *words[1:],
            env={"TKBUNDLE_ENGINES": scene.path("engines"),
                 "MINE_CACHE": scene.path("cache"),
                 "TRITON_CACHE_DIR": scene.path("none")}, status=status)
        return json.loads(ended.out)
    return verb


@test("a gc removes the units and kernels that are too old, each whole, and "
      "keeps the others", full)
def _(scene, first):
    before = contents(first.tree)
    age(first)
    age(first, first.path(GRAPH), time.time() - 3600)

    dry = first.document("gc", "--max-age", "1d", "-n")
    equal(contents(first.tree), before)
    age(first)  # to look is to read
    age(first, first.path(GRAPH), time.time() - 3600)
    said = first.document("gc", "--max-age", "1d")

    equal((said["removed"], said["kept"]), (36, 1))
    equal(gone(dry), gone(said))
    require(GRAPH not in gone(said))
    equal({path.rpartition("/")[0] for path in contents(first.tree)
           if not path.endswith(".lock")}, {GRAPH})
    equal(said["kept_size"], sum(
        len(data) for path, data in contents(first.path(GRAPH)).items()
        if path != "computation_graph.py" and not path.endswith(".lock")))
    equal(stages(first.tree), [])
    equal(first.document("gc", "--max-age", "1d")["removed"], 0)


@test("bounds of a gc hold for entries and units together, the least recently "
      "used first, where access times tell", full)
def _(scene, first):
    age(first)
    age(first, first.kernels, OLD + 100)
    read_s = OLD + 7200
    model = first.path(AOT, "rank_0_0", "model")
    os.utime(model, (read_s, OLD))  # read two hours after it was written

    said = first.document("gc", "--max-entries", "1")

    equal((said["removed"], said["kept"]), (36, 1))
    require(os.path.isfile(model))
    equal(len(os.listdir(first.kernels)), 1)  # .tkbundle
    age(first, model)
    size = os.path.getsize(model)
    equal(first.document("gc", "--max-size", str(size))["removed"], 0)
    equal(first.document("gc", "--max-size", str(size - 1))["removed"], 1)


@test("what was written or read in the last ten minutes stays, and what a "
      "command of run may read", full)
def _(scene, first):
    age(first)
    age(first, first.path(GRAPH), time.time() - 30)
    model = first.path(AOT, "rank_0_0", "model")
    os.utime(model, (time.time() - 30, OLD))

    said = first.document("gc", "--max-entries", "0", status=4)

    equal({name: why for name, why in stays(said).items()},
          {name: "it was read or written in the last 10 minutes"
           for name in (GRAPH, AOT + "/rank_0_0")})

    age(first)
    age(first, model, time.time() - 3600)
    started = scene.start("sleep", "60", options=("--engine", "vllm"),
                          env=first.environment)
    wait_until(is_there(first.path(".tkbundle", "runs")), "the hold")
    wait_until(lambda: first.verb(
        "gc", "--max-entries", "1", "-n", status=None).status == 0, "a gc")
    wait_until(lambda: "a command that tkbundle runs may use it" in first.verb(
        "gc", "--max-entries", "0", "-n", status=None).err, "the hold")
    said = first.document("gc", "--max-entries", "0", status=4)
    equal(list(stays(said)), [AOT + "/rank_0_0"])
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    wait_until(lambda: first.verb("gc", "--max-entries", "0",
                                  status=None).status == 0, "the end")
    require(not os.path.exists(model))


@test("while somebody holds a lock in a tree, all of that tree stays, and the "
      "lock is named", full)
def _(scene, first):
    lock = first.path("locks", "a.lock")
    for take in (fcntl.flock, fcntl.lockf):
        write(lock, "")
        age(first)
        with open(lock, "r+b") as file:
            take(file, fcntl.LOCK_EX)
            said = first.document("gc", "--max-entries", "0", "-n", status=4)
        equal(set(stays(said).values()), {f"somebody holds '{lock}'"})
        equal(said["busy"], 31)
    first.verb("gc", "--max-entries", "0")
    equal([path for path in contents(first.tree)
           if not path.endswith(".lock")], [])


@test("what an index names never goes before it, and stays where it stays")
def _(scene):
    here = scene.path("cache")
    files = {"graphs/a/x": "1", "graphs/b/x": "22", "free": "3",
             "index.json": json.dumps({"a": f"{here}/graphs/a/x",
                                       "b": f"{here}/graphs/b"}),
             "top.json": json.dumps([f"{here}/index.json"])}

    def check():
        """Check that no index names a missing file."""
        for name in ("index.json", "top.json"):
            if os.path.exists(os.path.join(here, name)):
                for path in re.findall(rb'"(/[^"]*)"',
                                       read(os.path.join(here, name))):
                    require(os.path.exists(path), name, path)
    gc = index_tree(scene, files)
    for count in range(5, -1, -1):
        for name in files:
            age(None, os.path.join(here, name)) \
                if os.path.exists(os.path.join(here, name)) else None
        if os.path.exists(scene.path("cache", "index.json")):
            os.utime(scene.path("cache", "index.json"), (OLD + 50, OLD + 50))
        gc("gc", "--max-entries", str(count))
        check()
    equal(contents(here), {})

    gc = index_tree(scene, files)
    for name in files:
        age(None, os.path.join(here, name))
    os.utime(os.path.join(here, "top.json"))  # just now
    said = gc("gc", "--max-entries", "0", status=4)
    equal(gone(said), ["free"])
    equal(stays(said)["graphs/a"], "'index.json' names it, and stays")
    check()


@test("what an index names stays whatever its name is")
def _(scene):
    here = scene.path("cache")
    units = ["E=8,N=7,name=GPU", "a b", "a(1)", "a:b", "a;b&c", "a]b", "x{0}",
             "it's"]
    files = {f"graphs/{unit}/x": "1" for unit in units}
    files["index.json"] = json.dumps(
        [f"{here}/{name}" for name in files] + [f"ld '{here}/graphs/a b/x' -s"])
    gc = index_tree(scene, files)
    for name in files:
        age(None, os.path.join(here, name))
    os.utime(os.path.join(here, "index.json"))  # just now
    said = gc("gc", "--max-entries", "0", status=4)
    equal(gone(said), [])
    for unit in units:
        equal(stays(said)[f"graphs/{unit}"], "'index.json' names it, and stays")


@test("a gc that is killed at any moment leaves no torn unit, and no index "
      "that names what is gone", full)
def _(scene, first):
    first.verb("relocate")
    first.collect("a.tkb")
    wanted = carried(first.tree)
    chance = random.Random(2)
    for _ in range(12):
        first.emit("a.tkb")
        age(first)
        started = subprocess.Popen(
            [scene.program, "gc", "--engine", "vllm", "--max-entries", "0"],
            env={**scene.environment, **first.environment},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, 0.05))
        started.kill()
        started.wait()
        if os.path.exists(first.path(GRAPH)):
            names_what_is_there(first)
            equal({path for path in carried(first.tree)
                   if path.startswith(GRAPH)},
                  {path for path in wanted if path.startswith(GRAPH)})
    age(first)
    first.verb("gc", "--max-entries", "0")
    equal(stages(first.tree), [])


@test("several gcs and emits at once leave units that are whole", full)
def _(scene, first):
    first.verb("relocate")
    first.collect("a.tkb")
    age(first)

    def work(number):
        words = ("gc", "--max-entries", "0") if number % 2 == 0 \
            else ("emit", "a.tkb")
        return first.verb(*words, status=None).status
    with ThreadPoolExecutor(6) as pool:
        ended = list(pool.map(work, range(6)))
    require(set(ended) <= {0, 4}, ended)
    if os.path.exists(first.path(GRAPH)):
        names_what_is_there(first)
    first.emit("a.tkb")
    names_what_is_there(first)
    equal(stages(first.tree), [])


@test("gc needs no room on the disk, even for its lock")
def _(scene):
    tree = scene.path("disk", "t")
    with small_disk(scene.path("disk"), "8m,nr_inodes=20"):
        write(os.path.join(tree, "a"), "x")
        os.utime(os.path.join(tree, "a"), (OLD, OLD))
        with suppress(OSError):
            for count in range(20):
                write(scene.path("disk", str(count)), "")
        scene.tkbundle("gc", "--tree", f"t={tree}", "--max-entries", "0")
        equal(contents(tree), {})


@test("gc of a remote takes no engine, and one of a tree needs no kernels")
def _(scene):
    write(scene.path("t", "a"), "x")
    os.utime(scene.path("t", "a"), (OLD, OLD))
    scene.tkbundle("gc", "--remote", scene.remote, "--tree", "t=t", status=2)
    ended = scene.tkbundle("gc", "--tree", "t=t", "--max-age", "1d")
    equal(ended.out, "removed 1 (1 B), kept 0 (0 B) in t\n")
    ended = scene.tkbundle("gc", "--tree", "t=none", "--max-age", "1d", status=3)
    equal(ended.err, "tkbundle: there is no folder 'none'\n")
