# SPDX-License-Identifier: Apache-2.0
"""DeepGEMM finds on a second machine what the first one compiled.

In 2.8 it has a kernel where "cache/<tag>.<key>/.committed" is. The key is a hash
of the compiler's version, the flags, the source and its headers, and of no path;
it is computed here as DeepJIT does it. Up to 2.6, the flags have the headers'
path.
"""
import os

from machines import Machine, contents, read, stages, write
from scene import equal, require, test

MASK = (1 << 64) - 1
SOURCE = "#include <deep_gemm/gemm.cuh>\nauto kernel = &gemm<128, 64>;\n"
ROOTS = (("deepgemm", ".dj"), ("vllm", ".cache/vllm/deep_gemm"),
         ("sglang", ".cache/sglang/deep_gemm"))


def mix(value):
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9 & MASK
    value = (value ^ value >> 27) * 0x94d049bb133111eb & MASK
    return value ^ value >> 31


def digest(*parts):
    """The hash of DeepJIT: FNV-1a twice, of each part behind its length."""
    first, second = 0xc6a4a7935bd1e995, 0xff51afd7ed558ccd
    for part in parts:
        data = part.encode()
        for byte in len(data).to_bytes(8, "little") + data:
            first = (first ^ byte) * 0x100000001b3 & MASK
            second = (second ^ byte) * 0x9e3779b97f4a7c15 & MASK
    return f"{mix(first):016x}{mix(second):016x}"


class Engine:
    """DeepGEMM, installed below `home`, with its cache in `root`."""

    def __init__(self, home, root, header="template<int M, int N> gemm();\n"):
        self.home, self.root, self.header = home, root, header

    def folder(self):
        key = digest("cutlass-410", digest("release 13.0, V13.0.88"),
                     "--gpu-architecture=sm_90a -O3 -std=c++20", "",
                     digest(SOURCE, digest(self.header)))
        return os.path.join(self.root, "cache", f"sm90_gemm.{key}")

    def has_kernel(self):
        return os.path.exists(os.path.join(self.folder(), ".committed"))

    def compile(self):
        built = os.path.join(self.root, "tmp", "0f1e2d3c")
        include = os.path.join(self.home, "site", "deep_gemm", "include")
        write(os.path.join(built, "kernel.cu"), SOURCE)
        write(os.path.join(built, "kernel.cubin"), b"\x7fELF" + bytes(60))
        write(os.path.join(built, "meta.json"),
              f'{{"command":"nvcc {built}/kernel.cu --cubin --output-file '
              f'{built}/kernel.cubin --include-path {include}"}}')
        write(os.path.join(built, ".committed"), "")
        os.makedirs(os.path.join(self.root, "cache"), exist_ok=True)
        os.rename(built, self.folder())
        write(os.path.join(self.root, "tmp", "torn", "kernel.cu"), "torn")


@test("DeepGEMM finds its kernel on a second machine, where it lies elsewhere, "
      "in each place where an engine lets it keep them")
def _(scene):
    for name, root in ROOTS:
        first = Machine(scene, name + "-first", engine=name)
        second = Machine(scene, name + "-second", engine=name, user="other")
        Engine(first.home, os.path.join(first.home, root)).compile()
        equal(first.collect("a.tkb")[1]["collected"], 1)
        engine = Engine(second.home, os.path.join(second.home, root))
        require(not engine.has_kernel())

        equal(second.emit("a.tkb"), (1, 0, 0))

        require(engine.has_kernel())
        equal(read(os.path.join(engine.folder(), "kernel.cubin"))[:4],
              b"\x7fELF")
        said = read(os.path.join(engine.folder(), "meta.json")).decode()
        require(f"--output-file {engine.root}/tmp/0f1e2d3c/" in said, said)
        require(not os.path.exists(os.path.join(engine.root, "tmp")))
        require(not Engine(second.home, engine.root, "other").has_kernel())
        equal(second.emit("a.tkb"), (0, 1, 0))


@test("of a torn kernel of DeepGEMM's, what says that it is whole comes last")
def _(scene):
    machine = Machine(scene, "first", engine="deepgemm")
    engine = Engine(machine.home, os.path.join(machine.home, ".dj"))
    engine.compile()
    machine.collect("a.tkb")
    whole = contents(engine.folder())
    os.unlink(os.path.join(engine.folder(), ".committed"))
    equal(machine.document("collect", "-o", scene.path("torn.tkb"))
          ["collected"], 0)
    write(os.path.join(engine.folder(), "kernel.cubin"), "")

    equal(machine.emit("a.tkb"), (0, 0, 1))

    equal(contents(engine.folder()), whole)
    equal(stages(engine.root), [])


@test("a kernel of DeepGEMM up to 2.6, whose name has its path, keeps the name")
def _(scene):
    first = Machine(scene, "first", engine="deepgemm")
    second = Machine(scene, "second", engine="deepgemm")
    name = ".dj/cache/kernel.sm90_gemm." + digest(SOURCE)
    write(os.path.join(first.home, name, "kernel.cu"), SOURCE)
    equal(first.collect("torn.tkb")[1]["collected"], 0)
    write(os.path.join(first.home, name, "kernel.cubin"), b"\x7fELF")
    first.collect("a.tkb")

    equal(second.emit("a.tkb"), (1, 0, 0))

    equal(contents(os.path.join(second.home, name)),
          contents(os.path.join(first.home, name)))
