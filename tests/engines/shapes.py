# SPDX-License-Identifier: Apache-2.0
"""Whole caches of real engines, as they wrote them, move and come out whole."""
import os
import re
import subprocess

from machines import GRAPH, TORCH, VLLM, Machine, contents
from scene import FIXTURES, equal, require, test

SERVE = b"/home/serve"
# vLLM leaves kernels where its next start does not look for them; they go where it does.
NESTED = re.compile(rb"\.cache/vllm/[^\"' ]*/inductor_cache/triton/0/")
KERNELS = b".triton/cache/"


class Cache:
    """What a fixture has: an engine's caches below a home, and what of them moves."""

    def __init__(self, fixture, engine, units, folders, left=(), **variables):
        self.fixture = os.path.join(FIXTURES, fixture)
        self.engine, self.units, self.folders = engine, units, folders
        self.left, self.variables = left, variables

    def machine(self, scene, name, fixture=None):
        machine = Machine(scene, name, fixture, self.engine)
        for variable, path in self.variables.items():
            machine.environment[variable] = os.path.join(machine.home, path)
        return machine

    def files(self, machine):
        """Each file by its path, with the home's left out, of what tkbundle did not make."""
        def plain(data):
            return NESTED.sub(KERNELS, data.replace(machine.home.encode(), b"@")
                              .replace(SERVE, b"@"))
        return {plain(os.path.join(folder, path).encode()).decode(): plain(data)
                for folder in self.folders
                for path, data in contents(os.path.join(machine.home, folder)).items()
                if not path.startswith(".tkbundle/")}


CACHES = (
    Cache("vllm-0.24-default-h200.tar.xz", "vllm", 104, (".cache/vllm", ".triton/cache"),
          [f".cache/vllm/{GRAPH}/computation_graph.py"]),  # for people to read
    Cache(TORCH, "torch", 47, (".cache/torchinductor",)),
    Cache("sglang-0.5.23-cpu.tar.gz", "sglang", 3, (".cache/sglang",)),
    Cache("tilelang-0.1.15-cpu.tar.gz", "tilelang", 5, (".tilelang/cache",)),
    Cache("deepgemm-2.5-h200.tar.gz", "deepgemm", 9, (".deep_gemm/cache",),
          DG_JIT_CACHE_DIR=".deep_gemm"),
)


def prove(scene, cache):
    first = cache.machine(scene, "first", cache.fixture)
    copy = cache.machine(scene, "copy", cache.fixture)
    for folder, _, names in os.walk(copy.home):
        for name in names:
            os.utime(os.path.join(folder, name), (10 ** 9, 10 ** 9))
    bundle, said = first.collect("a.tkb")
    equal((said["collected"], said["left_out_count"], said["unfinished"]),
          (cache.units, 0, 0), said)
    equal(copy.collect("b.tkb")[0], bundle)
    equal(first.push()["pushed"], cache.units)

    second = cache.machine(scene, "second")
    equal(second.emit("a.tkb"), (cache.units, 0, 0))
    third = cache.machine(scene, "third")
    third.pull()
    here, there = cache.files(first), cache.files(second)
    for path in cache.left:
        here.pop(path)
    equal(sorted(there), sorted(here))
    for path, data in there.items():
        require(data == here[path], f"'{path}' is another")
    equal(cache.files(third), there)
    for machine in (second, third):
        said = machine.document("verify")
        equal((said["verified"], said["left_out_count"], said["moved"]),
              (cache.units, 0, 0), said)
        equal(machine.emit("a.tkb"), (0, cache.units, 0))
        equal(machine.collect("c.tkb")[0], bundle)


for each in CACHES:
    test(f"the caches of a real {each.engine} move whole, and come out as they were")(
        lambda scene, cache=each: prove(scene, cache))


@test("an engine that keeps no kernels of Triton's leaves those of others alone, and "
      "names its own folder")
def _(scene):
    (cache,) = (each for each in CACHES if each.engine == "tilelang")
    machine = cache.machine(scene, "first", cache.fixture)
    subprocess.run(["tar", "-xf", VLLM, "-C", machine.home], check=True)
    kernels = contents(machine.kernels)
    tree = os.path.join(machine.home, ".tilelang", "cache")

    equal(machine.collect("a.tkb")[1]["collected"], cache.units)
    equal(machine.emit("a.tkb"), (0, cache.units, 0))
    # A gc keeps what was written in the last ten minutes, and exits with 4.
    for words, status in ((["verify"], 0), (["relocate"], 0), (["gc", "--max-entries", "0"], 4)):
        said = machine.verb(*words, status=status).out
        require(tree in said and ".triton" not in said, said)

    equal(contents(machine.kernels), kernels)
