# SPDX-License-Identifier: Apache-2.0
"""tkbundle run, with an engine of several ranks that cache as vLLM's do.

Each rank has graphs and code compiled ahead of time in folders of its own; Inductor's
folder, Triton's and the traits of models are of all ranks of a node together.
"""
import json
import os
import shutil
import sys

from machines import AOT, GRAPH, VLLM, Machine, contents, stages
from scene import equal, require, test, write

# As vLLM 0.24 does: what is there is used, if it is there whole; the rest is compiled,
# published file by file, the index last. Ranks compile at once. Their own numbers are
# behind the first argument.
ENGINE = r"""
import ast, glob, json, os, re, shutil, sys, threading, time
made, graph, aot = sys.argv[1:4]
root, kernels = os.environ["VLLM_CACHE_ROOT"], os.environ["TRITON_CACHE_DIR"]
counts = {"hits": 0, "misses": 0, "broken": 0}

def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    part = "%s/.%d.%d.tmp" % (os.path.dirname(path), os.getpid(), threading.get_ident())
    with open(part, "wb") as file:
        file.write(data)
    os.rename(part, path)

def get(path):
    with open(path, "rb") as file:
        return file.read()

def graphs(rank):
    here = os.path.join(root, graph.replace("rank_0_0", "rank_%d_0" % rank))
    index = os.path.join(here, "vllm_compile_cache.py")
    if os.path.exists(index):
        paths = re.findall(r"'(/[^']*)'", get(index).decode())
        ast.literal_eval(get(index).decode())
        for path in paths:
            if not path.startswith(here) or not os.path.exists(path):
                counts["broken"] += 1
        for path in paths:
            assert get(path).endswith(b"rank %d" % rank), path
        counts["hits"] += 1
        return
    counts["misses"] += 1
    source = os.path.join(made, graph)
    for path in sorted(glob.glob(source + "/artifact_*")):
        put(os.path.join(here, os.path.basename(path)), get(path) + b"rank %d" % rank)
        time.sleep(0.01)
    if os.environ.get("DIES") == str(rank):
        os._exit(9)
    put(os.path.join(here, "cache_key_factors.json"), b'{"rank": %d}' % rank)
    text = get(os.path.join(source, "vllm_compile_cache.py"))
    put(index, re.sub(rb"'/[^']*/(artifact_[^']*)'",
                      lambda found: b"'%s/%s'" % (here.encode(), found[1]), text))

def ahead(rank):
    path = os.path.join(root, aot, "rank_%d_0" % rank, "model")
    if os.path.exists(path):
        assert get(path).endswith(b"rank %d." % rank), path
        counts["hits"] += 1
        return
    counts["misses"] += 1
    put(path, get(os.path.join(made, aot, "rank_0_0/model")) + b"rank %d." % rank)

def shared(name):
    for folder, folders, names in os.walk(os.path.join(made, name)):
        # Triton's variable is set.
        folders[:] = [each for each in folders if each != "triton"]
        for each in names:
            path = os.path.join(folder, each)
            there = os.path.join(root, os.path.relpath(path, made))
            if os.path.exists(there):
                get(there)
            else:
                put(there, get(path))

def kernel(name):
    here = os.path.join(kernels, name)
    group = glob.glob(here + "/__grp__*.json")
    if group:
        for path in json.loads(get(group[0]))["child_paths"].values():
            if not os.path.exists(path):
                counts["broken"] += 1
        counts["hits"] += 1
        return
    counts["misses"] += 1
    last = b""
    for path in sorted(glob.glob(os.path.join(os.environ["MADE_KERNELS"], name, "*"))):
        data = get(path)
        if "__grp__" in path:
            group = json.loads(data)
            group["child_paths"] = {child: os.path.join(here, child)
                                    for child in group["child_paths"]}
            last = os.path.join(here, os.path.basename(path)), json.dumps(group).encode()
        else:
            put(os.path.join(here, os.path.basename(path)), data)
    if last:
        put(*last)

def work(rank):
    put(os.path.join(root, "gpu_p2p_access_cache_for_0,1,2,3.json"), b"{}")
    shared("modelinfos")
    names = sorted(name for name in os.listdir(os.environ["MADE_KERNELS"])
                   if glob.glob(os.path.join(os.environ["MADE_KERNELS"], name, "__grp__*")))
    # One kernel is the first rank's alone.
    for name in names if rank == 0 else names[1:]:
        kernel(name)
    graphs(rank)
    shared(os.path.join(aot, "inductor_cache"))
    ahead(rank)
    put(os.path.join(os.environ["OUT"], "%d.json" % rank), json.dumps(counts).encode())

pids = []
for number in map(int, sys.argv[4:]):
    pid = os.fork()
    if pid == 0:
        code = 8
        try:
            work(number)
            code = 0
        finally:
            os._exit(code)
    pids.append(pid)
sys.exit(max(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids))
"""
RANKS = range(4)


class Node:
    """A machine with ranks of an engine."""

    def __init__(self, scene, name, made):
        self.scene, self.name, self.made = scene, name, made
        self.home = scene.path(name)
        os.makedirs(self.home)
        if not os.path.exists(scene.path("engine.py")):
            write(scene.path("engine.py"), ENGINE)
        own = os.path.join(self.home, ".cache", "tkbundle", "engines")
        self.tree = os.path.join(own, "vllm")
        self.kernels = os.path.join(own, "triton")

    def environment(self):
        return {"HOME": self.home, "OUT": os.path.join(self.home, "out"),
                "MADE_KERNELS": self.made.kernels}

    def serve(self, ranks=RANKS, status=0, options=(), **env):
        """Returns the sum of the ranks' counts, and the document of run."""
        shutil.rmtree(os.path.join(self.home, "out"), ignore_errors=True)
        ended = self.scene.run(sys.executable, self.scene.path("engine.py"), self.made.tree,
                               GRAPH, AOT, *map(str, ranks),
                               options=("--engine", "vllm", "--json", *options),
                               env={**self.environment(), **env}, status=status)
        counts = {"hits": 0, "misses": 0, "broken": 0}
        for _, path in ((path, os.path.join(self.home, "out", path)) for path in
                        os.listdir(os.path.join(self.home, "out"))):
            with open(path, encoding="utf-8") as file:
                for name, count in json.load(file).items():
                    counts[name] += count
        document = json.loads(ended.err[ended.err.rindex('{"verb":"run"'):])
        return counts, document

    def rank_units(self):
        return sorted(name for name in contents(self.tree)
                      if "/rank_" in name and name.endswith(
                          ("vllm_compile_cache.py", "model")))


def move_away(node):
    os.rename(node.home, node.home + ".gone")


@test("four ranks of one server fill a ref, and elsewhere each finds its own: "
      "nothing is compiled, and all is used")
def _(scene):
    made = Machine(scene, "made", VLLM)
    first = Node(scene, "first", made)
    cold, said = first.serve()
    require(cold["misses"] >= 8 and cold["broken"] == 0, cold)
    equal((said["emitted"], said["left_out"]), (0, 0), said)
    require(said["pushed"] > 0 and said["compiled"] == said["pushed"], said)
    equal(len(first.rank_units()), 8)
    all_there = contents(first.tree)
    move_away(first)

    second = Node(scene, "second/elsewhere", made)
    warm, again = second.serve(options=("--require-warm",))

    equal((warm["misses"], warm["broken"]), (0, 0), again)
    equal((again["emitted"], again["compiled"], again["pushed"]),
          (said["pushed"], 0, 0), again)
    # None where the file system does not tell.
    require(again["used"] in (None, again["emitted"]), again)
    left = {"gpu_p2p_access_cache_for_0,1,2,3.json"}
    equal(set(contents(second.tree)), set(all_there))
    equal(stages(second.tree) + stages(second.kernels), [])
    listed = json.loads(scene.tkbundle(
        "ls", "--json", "--remote", scene.remote, "a/b").out)["entries"]
    require(not left & {each["name"] for each in listed})

    move_away(second)
    third = Node(scene, "third", made)
    os.makedirs(os.path.dirname(third.tree))
    for name in ("vllm", "triton"):
        shutil.copytree(os.path.join(second.home + ".gone", ".cache", "tkbundle",
                                     "engines", name),
                        os.path.join(os.path.dirname(third.tree), name))
    scene.tkbundle("relocate", "--engine", "vllm", third.kernels,
                   env={**third.environment(),
                        "VLLM_CACHE_ROOT": third.tree})
    moved, _ = third.serve(options=("--push", "never"))
    equal((moved["misses"], moved["broken"]), (0, 0), moved)


@test("two nodes with two ranks each share one ref, and a third has all four")
def _(scene):
    made = Machine(scene, "made", VLLM)
    nodes = [Node(scene, name, made) for name in ("one", "two")]
    for node, ranks in zip(nodes, ((0, 1), (2, 3))):
        counts, _ = node.serve(ranks)
        require(counts["misses"] >= 4, counts)
    equal(nodes[1].serve((2, 3))[0]["misses"], 0)

    counts, said = Node(scene, "three", made).serve()

    equal((counts["misses"], counts["broken"], said["compiled"]), (0, 0, 0), said)
    require(said["used"] in (None, said["emitted"]), said)


@test("a rank that dies while it compiles loses its own graph alone; what was written a "
      "moment before is pushed by the next start")
def _(scene):
    made = Machine(scene, "made", VLLM)
    first = Node(scene, "first", made)
    _, said = first.serve(status=9, DIES="2")
    require(said["pushed"] > 0, said)
    equal(len(first.rank_units()), 6)

    counts, said = first.serve()

    # Its graph, and its code, which comes after that.
    equal((counts["misses"], counts["broken"]), (2, 0), said)
    equal((said["compiled"], said["left_out"]), (2, 0), said)
    move_away(first)
    second = Node(scene, "second", made)
    equal(second.serve()[0]["misses"], 0)
    equal(len(second.rank_units()), 8)
