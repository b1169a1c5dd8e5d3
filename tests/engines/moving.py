# SPDX-License-Identifier: Apache-2.0
"""Trees of real shape are carried from one machine to others."""
import filecmp
import json
import os
import re
import shutil

from hiding import plant
from machines import (AOT, GRAPH, INDEX, TORCH, VLLM, Machine, contents, empty,
                      full, names_what_is_there, reasons)
from scene import FIXTURES, equal, read, require, test, write

LEFT = {f"{GRAPH}/computation_graph.py"}


def carried(tree):
    """What of a vLLM's tree a bundle holds, but for the index."""
    return {path: data for path, data in contents(tree).items()
            if path not in LEFT and not path.endswith("/" + INDEX)
            and "/inductor_cache/triton/" not in path
            and not path.endswith(".lock")}


@test("a vLLM's caches come out elsewhere byte for byte, with an index that "
      "names what is there", full)
def _(scene, first):
    second = Machine(scene, "second", user="other")
    first.collect("a.tkb")

    emitted, present, repaired = second.emit("a.tkb")

    equal((emitted, present, repaired), (35, 0, 0))
    equal(carried(second.tree), carried(first.tree))
    names_what_is_there(second)
    equal(second.index().replace(second.tree.encode(), b"@"),
          first.index().replace(b"/home/serve/.cache/vllm", b"@"))
    equal(second.emit("a.tkb"), (0, 35, 0))


@test("kernels that lie in a tree come out in the root of kernels, and a "
      "second compile of one is passed over", full, empty)
def _(scene, first, second):
    nested = first.path(AOT, "inductor_cache", "triton", "0")
    first.collect("a.tkb")

    second.emit("a.tkb")

    here = set(os.listdir(first.kernels)) | set(os.listdir(nested))
    equal(set(os.listdir(second.kernels)) - {".tkbundle"}, here)
    equal(len(here), 4)
    require(set(os.listdir(first.kernels)) & set(os.listdir(nested)))
    require(not os.path.exists(second.path(AOT, "inductor_cache", "triton")))


@test("a vLLM that compiles nothing ahead of time has its Inductor's folder beside "
      "its graphs, and it is carried, too")
def _(scene):
    first, second = (Machine(scene, name) for name in ("first", "second"))
    rank = "torch_compile_cache/0f1e2d3c4b/rank_0_0"
    code = f"{rank}/inductor_cache/cd/ccode.py"
    for name, data in (
            (f"{rank}/inductor_cache/fxgraph/ab/fabc/0f1e", "graph"),
            (f"{rank}/inductor_cache/aotautograd/a1b2/0f1e", "joint"),
            (code, "code"),
            (f"{rank}/inductor_cache/locks/a.lock", ""),
            (f"{rank}/triton_cache/readme", "no kernel"),
            (f"{rank}/backbone/{INDEX}",
             f"{{(None, 0, 'inductor'): ('fabc', '{first.path(code)}')}}"),
            (f"{rank}/eagle_head/{INDEX}", "{}")):
        write(first.path(name), data)

    equal(first.collect("a.tkb")[1]["collected"], 5)
    equal(second.emit("a.tkb"), (5, 0, 0))

    equal(sorted(contents(second.tree)), sorted(
        name for name in contents(first.tree)
        if not name.endswith((".lock", "readme"))))
    require(f"'{second.path(code)}'" in
            read(second.path(rank, "backbone", INDEX)).decode())


@test("what an Inductor caches comes out elsewhere byte for byte")
def _(scene):
    first = Machine(scene, "first", TORCH, engine="torch")
    second = Machine(scene, "second", engine="torch", user="other")
    write(first.path("locks", "a.lock"), "")
    write(first.path("fxgraph", "aw", ".1.2.tmp"), "half")
    _, collected = first.collect("a.tkb")
    equal(collected["layout"], "inductor")

    second.emit("a.tkb")

    def files(machine):
        return {path: data for path, data in contents(machine.tree).items()
                if not os.path.basename(path).startswith("__grp__")
                and not path.endswith((".lock", ".tmp"))}
    equal(sorted(files(second)), sorted(files(first)))
    equal(files(second), files(first))
    require(any(path.startswith("fxgraph/") for path in files(second)))
    equal(second.collect("b.tkb")[0], read(scene.path("a.tkb")))


@test("folders of an Inductor without a GPU are no stopped compiles of kernels")
def _(scene):
    machine = Machine(scene, "first", TORCH, engine="torch")
    shutil.rmtree(machine.path("triton"))
    _, collected = machine.collect("a.tkb")
    require(collected["collected"] > 0)
    equal((collected["unfinished"], collected["stray"]), (0, 0))


def devices(root):
    """The folders of keys below `root`."""
    return sorted(os.listdir(os.path.join(root, "triton"))) \
        if os.path.isdir(os.path.join(root, "triton")) else []


@test("a bundle remembers the layout of its cache: an empty folder gets the "
      "same, of one GPU and of several, also by way of a remote and a merge")
def _(scene):
    def done(*words, env=None):
        return scene.tkbundle(*words, env=env).out
    first = Machine(scene, "first", TORCH, engine="torch")
    done("collect", first.tree, "-o", "one.tkb")
    equal(devices(first.tree), ["0"])
    done("merge", "-o", "merged.tkb", "one.tkb", "one.tkb")
    done("push", "a/b", first.tree, "--remote", scene.remote)
    for words in (("emit", "one.tkb"), ("emit", "merged.tkb"),
                  ("pull", "--remote", scene.remote, "a/b")):
        said = json.loads(done(*words, "new", "--json"))
        equal(said["layout"], "inductor")
        equal(devices(scene.path("new")), ["0"])
        equal([name for name in os.listdir(scene.path("new"))], ["triton"])
        shutil.rmtree(scene.path("new"))

    # What is said, what is there, and where Triton looks count more.
    done("emit", "one.tkb", "flat", "--layout", "triton")
    equal(devices(scene.path("flat")), [])
    done("emit", "one.tkb", "flat")
    equal(devices(scene.path("flat")), [])
    done("emit", "one.tkb", env={"TRITON_CACHE_DIR": scene.path("own")})
    equal(devices(scene.path("own")), [])
    done("pull", "--remote", scene.remote, "a/b",
         env={"TRITON_CACHE_DIR": scene.path("pulled")})
    equal(devices(scene.path("pulled")), [])

    shutil.copytree(first.path("triton", "0"), first.path("triton", "5"))
    done("collect", first.tree, "-o", "two.tkb")
    done("emit", "two.tkb", "new")
    equal(devices(scene.path("new")), ["0", "5"])
    done("collect", scene.path("flat"), "-o", "flat.tkb")
    done("emit", "flat.tkb", "plain")
    equal(devices(scene.path("plain")), [])
    done("merge", "-o", "both.tkb", "one.tkb", "flat.tkb")
    done("emit", "both.tkb", "unknown")
    equal(devices(scene.path("unknown")), [])


@test("equal bytes are collected at every path and time, and of what was "
      "emitted", full)
def _(scene, first):
    second = Machine(scene, "another", VLLM, user="somebody-else")
    third = Machine(scene, "third")
    for folder, _, names in os.walk(second.home):
        for name in names:
            os.utime(os.path.join(folder, name), (1e9, 1e9))

    bundle, _ = first.collect("a.tkb")
    equal(second.collect("b.tkb")[0], bundle)
    third.emit("a.tkb")

    equal(third.collect("c.tkb")[0], bundle)
    equal(first.collect("d.tkb", env={"TZ": "Asia/Tokyo"})[0], bundle)


@test("a tree that was copied to another root comes out right, although its "
      "index names the old one", full)
def _(scene, first):
    copied = Machine(scene, "copied")
    second = Machine(scene, "second", user="other")
    bundle, _ = first.collect("a.tkb")
    first.emit("a.tkb")
    shutil.copytree(os.path.join(first.home, ".cache"),
                    os.path.join(copied.home, ".cache"))
    shutil.copytree(os.path.join(first.home, ".triton"),
                    os.path.join(copied.home, ".triton"))

    again, said = copied.collect("b.tkb")
    equal(again, bundle)
    require(said["moved"] > 0)
    second.emit("b.tkb")

    names_what_is_there(second)


@test("a tree is repaired where it was copied with its index and its secrets",
      full, empty)
def _(scene, first, second):
    plant(first)
    first.collect("a.tkb")
    shutil.copytree(os.path.join(first.home, ".cache"),
                    os.path.join(second.home, ".cache"))
    require(b"/home/serve/" in second.index())

    second.emit("a.tkb")

    names_what_is_there(second)


@test("units of hundreds of MiB, as nvcc builds them, are collected, emitted, pushed "
      "and pulled")
def _(scene):
    first = Machine(scene, "first", VLLM)
    second, third = Machine(scene, "second"), Machine(scene, "third")
    names = [("cubins", "one.bin"), ("cubins", "two.bin")]
    for number, name in enumerate(names):
        write(first.path(*name), b"%d" % number)
        os.truncate(first.path(*name), 300 << 20)
    _, document = first.collect("a.tkb")
    equal(document["left_out"], [])

    scene.tkbundle("verify", scene.path("a.tkb"))
    second.emit("a.tkb")
    first.push()
    third.pull()

    for machine in (second, third):
        for name in names:
            require(filecmp.cmp(first.path(*name), machine.path(*name), shallow=False))
    equal(second.emit("a.tkb")[::2], (0, 0))
    equal(first.push()["pushed"], 0)


@test("a copy of a tree that a pull has filled is made right by the next pull",
      full, empty)
def _(scene, first, second):
    copied = Machine(scene, "copied", user="other")
    shutil.rmtree(first.kernels)
    shutil.rmtree(first.path(AOT, "inductor_cache", "triton"))
    first.push()
    second.pull()
    os.rmdir(copied.home)
    shutil.copytree(second.home, copied.home)  # with the marks of whole trees

    copied.pull()
    names_what_is_there(copied)
    names_what_is_there(second)

    shutil.rmtree(second.home)
    os.rename(copied.home, second.home)
    second.pull()
    names_what_is_there(second)


@test("an index that names two places, or one that cannot be told, is left "
      "out with its unit", full)
def _(scene, first):
    text = first.index()
    for changed in (text.replace(b"/home/serve/", b"/home/other/", 1),
                    text.replace(b"/home/serve/", b"/home/b\\'c/")):
        write(first.path(GRAPH, INDEX), changed)

        _, said = first.collect("a.tkb", status=4)

        equal(list(reasons(said)), [GRAPH])
        require(INDEX in reasons(said)[GRAPH], said["left_out"])

    write(first.path(GRAPH, INDEX),
          text.replace(b"/home/serve/", b"/home/se rve \xc3\xa9/"))
    first.collect("a.tkb")
    second = Machine(scene, "second")
    second.emit("a.tkb")
    names_what_is_there(second)


@test("execute bits come out, and no other modes; they are compared, and "
      "repaired", full, empty)
def _(scene, first, second):
    first.collect("b.tkb")
    os.chmod(first.path(AOT, "rank_0_0", "model"), 0o777)
    first.collect("a.tkb")

    second.emit("a.tkb")

    model = second.path(AOT, "rank_0_0", "model")
    equal(os.stat(model).st_mode & 0o777, 0o755)
    differs = scene.tkbundle("diff", "a.tkb", "b.tkb", status=4)
    require("model  executable only in A" in differs.out, differs.out)
    os.chmod(model, 0o644)
    equal(second.emit("a.tkb"), (0, 34, 1))
    equal(os.stat(model).st_mode & 0o777, 0o755)
    equal(os.stat(second.path(GRAPH, INDEX)).st_mode & 0o111, 0)


@test("what two machines push is united, and a third pulls all of it", full)
def _(scene, first):
    second = Machine(scene, "second", VLLM)
    third = Machine(scene, "third", user="other")
    other = GRAPH.replace("799209178a", "1111111111")
    os.makedirs(os.path.dirname(second.path(other)))
    os.rename(second.path(GRAPH), second.path(other))
    text = read(second.path(other, INDEX)).replace(b"799209178a",
                                                   b"1111111111")
    write(second.path(other, INDEX), text)

    equal(first.push()["pushed"], 35)
    equal(second.push()["pushed"], 1)
    equal(second.push()["pushed"], 0)
    equal(third.pull()["emitted"], 36)

    names_what_is_there(third)
    require(third.path(other).encode() in read(third.path(other, INDEX)))
    equal(third.pull()["emitted"], 0)
    equal(first.pull()["emitted"], 2)  # the graph, and a nested kernel
    equal(third.push()["pushed"], 0)


@test("a pull replaces what is damaged, and nothing else", full, empty)
def _(scene, first, second):
    first.push()
    second.pull()
    model = second.path(AOT, "rank_0_0", "model")
    write(model, read(model)[:-1] + b"?")
    os.unlink(second.path(GRAPH, "artifact_compile_range_1_16384_subgraph_0"))
    shutil.rmtree(second.path(".tkbundle"))  # no mark says that it is whole

    second.pull()

    equal(carried(second.tree), carried(first.tree))
    names_what_is_there(second)


@test("of units that are inside one another, a merge has those of the first "
      "bundle, and can be read; so has a compaction of a ref")
def _(scene):
    files = {"a": ("one", "two/of", "x"), "b": ("one/of", "two", "y"),
             "c": ("one/of", "two/of", "two/more", "z")}
    for name, paths in files.items():
        for path in paths:
            write(scene.path(name, path), name)

    def done(*words):
        return scene.tkbundle(*words).out
    os.mkdir(scene.path("none"))
    for name in files:
        done("collect", "none", "--tree", f"t={name}", "-o", f"{name}.tkb")
    for words, left in (("abc", {"one", "two/of", "two/more", "x", "y", "z"}),
                        ("bac", {"one/of", "two", "x", "y", "z"}),
                        ("cab", {"one/of", "two/of", "two/more", "x", "y",
                                 "z"})):
        done("merge", "-o", "m.tkb", *(f"{name}.tkb" for name in words))
        done("verify", "m.tkb")
        entries = json.loads(done("ls", "--json", "m.tkb"))["entries"]
        equal({each["name"] for each in entries}, left, words)
    for i in range(33):
        write(scene.path(f"p{i}", f"f{i}"), str(i))
    for name in (*files, *(f"p{i}" for i in range(33))):
        done("push", "ref", "none", "--tree", f"t={name}", "--remote", "far")
    require(int(done("refs", "--remote", "far").split()[1]) < 33)
    done("pull", "ref", "none", "--tree", "t=out", "--remote", "far")
    require(os.path.exists(scene.path("out", "f32")))


@test("a bundle with trees is merged, verified, listed, shown, counted and "
      "compared", full)
def _(scene, first):
    second = Machine(scene, "second", VLLM)
    third = Machine(scene, "third")
    write(second.path("modelinfos", "other.json"), '{"hash": "1"}')
    write(second.path(AOT, "rank_0_0", "model"), "another")
    first.collect("a.tkb")
    second.collect("b.tkb")

    def done(*words, status=0):
        return scene.tkbundle(*words, status=status).out
    done("merge", "-o", "c.tkb", "a.tkb", "b.tkb")
    done("verify", "c.tkb")
    done("verify", "a.tkb")
    listed = done("ls", "c.tkb")
    require(re.search(r"  unit +modelinfos/other.json +vllm +-  ", listed),
            listed)
    documents = json.loads(done("ls", "--json", "c.tkb"))["entries"]
    equal({each["kind"] == "unit": each.get("tree") for each in documents},
          {True: "vllm", False: None})
    counted = json.loads(done("stats", "--json", "--paths", "c.tkb"))
    require(AOT in str(counted["names"]))
    units = [each for each in documents if each["kind"] == "unit"]
    tree, = counted["trees"]
    equal((tree["tree"], tree["units"], tree["files"], tree["size"]),
          ("vllm", len(units), sum(each["file_count"] for each in units),
           sum(each["size"] for each in units)))
    write(scene.path("bin", "b"), b"\0/home/serve/a.so\0\1/opt/cuda/bin\0")
    write(scene.path("none", "c"), b"\0\1")
    done("collect", "--tree", "b=bin", "--tree", "n=none", "-o", "d.tkb")
    equal([(each["tree"], each["units"], each["paths"]) for each in json.loads(
        done("stats", "--json", "--paths", "d.tkb"))["trees"]],
          [("b", 1, 2), ("n", 1, 0)])
    require(re.search(r"units +files +size +paths +tree\n +1 +1 +33 B +2 +b\n",
                      done("stats", "--paths", "d.tkb")))
    difference = done("diff", "a.tkb", "b.tkb", status=4)
    require("modelinfos/other.json" in difference, difference)
    require("model" in difference, difference)
    differ, = json.loads(done("diff", "--json", "a.tkb", "b.tkb", status=4)
                         )["differ"]
    equal((differ["name"], differ["tree"]), (AOT + "/rank_0_0", "vllm"))
    equal([file["name"] for file in differ["files"]], ["model"])
    third.emit("c.tkb")
    equal(read(third.path("modelinfos", "other.json")), b'{"hash": "1"}')
    equal(read(third.path(AOT, "rank_0_0", "model")),
          read(first.path(AOT, "rank_0_0", "model")))


@test("a unit is shown as what it is", full)
def _(scene, first):
    first.collect("a.tkb")
    key = next(line.split()[0] for line in
               scene.tkbundle("ls", "a.tkb").out.splitlines()
               if line.split()[2:4] == [GRAPH, "vllm"])

    shown = scene.tkbundle("show", "a.tkb", key).out

    equal([line.split()[0] for line in shown.splitlines()][:5],
          ["key", "kind", "name", "tree", "files"])
    text = scene.tkbundle("show", "a.tkb", key, "--file", INDEX).out
    require(f"'[REPLACE:vllm]/{GRAPH}/artifact" in text, text)
    scene.tkbundle("show", "a.tkb", key, "--stage", "ptx", status=3)


@test("without its engine, what a bundle has for one is passed over and "
      "counted", full)
def _(scene, first):
    first.collect("a.tkb")

    ended = scene.tkbundle("emit", "a.tkb", scene.path("root"))

    equal(len(os.listdir(scene.path("root"))), 4 + 1)
    require("31" in ended.out, ended.out)


@test("--tree carries a tree without a profile, file by file")
def _(scene):
    write(scene.path("from", "a", "b.bin"), b"\0\1")
    write(scene.path("from", "c.py"), "x = 1\n")
    write(scene.path("from", "a", "x.lock"), "")

    for words in (("collect", "--tree", "mine=from", "-o", "t.tkb"),
                  ("emit", "--tree", "mine=to", "t.tkb")):
        ended = scene.tkbundle(*words)

    equal(contents(scene.path("to")),
          {"a/b.bin": b"\0\1", "c.py": b"x = 1\n"})
    equal(ended.out, "emitted 2, present 0, repaired 0 to to\n")
    require(not os.path.exists(scene.root))


@test("--tree NAME:KIND carries a tree by the rules of a profile's root", full)
def _(scene, first):
    scene.tkbundle("collect", "--tree", "copy:vllm=" + first.tree, "--json", "-o",
                   "a.tkb")
    scene.tkbundle("emit", "--tree", "copy:vllm=to", "a.tkb")
    index = read(scene.path("to", GRAPH, INDEX))
    require(("'" + scene.path("to", GRAPH)).encode() in index, index)
    require(not os.path.exists(scene.path("to", GRAPH, "computation_graph.py")))

    ended = scene.tkbundle("collect", "--tree", "copy:plain=" + first.tree,
                           "--json", "-n", "-o", "b.tkb")
    equal(json.loads(ended.out)["collected"],
          len([path for path in contents(first.tree)
               if not path.endswith(".lock")]))
    for word, said in (("copy:none=x", "no profile of an engine has trees of "
                                       "kind 'none'"),
                       ("copy:=x", "no profile of an engine has trees of kind "
                                   "''"),
                       ("copy:triton=x", "kind 'triton'")):
        ended = scene.tkbundle("collect", "--tree", word, "-o", "b.tkb", status=2)
        require(said in ended.err, ended.err)


@test("--tree is enough for a push, a pull and a run")
def _(scene):
    write(scene.path("from", "a", "b.bin"), b"\0\1")
    remote = ("--remote", scene.remote)
    for words, said in (
            (("push", *remote, "--tree", "t=from", "a/b"), "pushed 2, "),
            (("pull", *remote, "--tree", "t=to", "a/b"), "emitted 2 to to: "),
            (("pull", *remote, "--tree", "t=to", "a/b"), "present 2 to to: "),
            (("pull", *remote, "--tree", "other=x", "a/b"), "emitted 0 to x"),
            (("pull", *remote, "-o", "w.tkb", "a/b"), "pulled a/b into"),
            (("verify", "w.tkb"), "verified 2 entries"),
            (("verify", *remote), "verified 1 blob")):
        write(scene.path("from", "c"), "text")
        ended = scene.tkbundle(*words)

        require(said in ended.out, words, ended.out)
    equal(contents(scene.path("to")), contents(scene.path("from")))
    ended = scene.run("true", options=("--tree", "t=run"))
    equal(ended.counts()[0], "2", ended.err)
    equal(contents(scene.path("run")), contents(scene.path("from")))


@test("a bundle of before there were trees is read as it was")
def _(scene):
    corpus = os.path.join(FIXTURES, "..", "fuzz", "corpus", "bundle")
    for name in ("seed-full", "seed-lean", "seed-saved", "seed-merged"):
        shutil.copy(os.path.join(corpus, name), scene.path("a.tkb"))
        scene.tkbundle("verify", "a.tkb")
        scene.tkbundle("emit", "a.tkb", scene.path(name))
