# SPDX-License-Identifier: Apache-2.0
"""DeepGEMM finds on a second machine what the first one compiled.

In 2.8 it has a kernel where "cache/<tag>.<key>/.committed" is. The key is a hash
of the compiler's version, the flags, the source and its headers, and of no path;
it is computed here as DeepJIT does it. From 2.4 to 2.6, the key is of name,
compiler, flags and code, and the flags have the headers' path: the kernel has
another name on each machine.
"""
import errno
import os
import shutil

from machines import Machine, contents, stages
from sandbox import refusing
from scene import equal, read, require, test, write

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


# From 2.4 to 2.6


def digest_26(text):
    """get_hex_digest() of DeepGEMM 2.4 to 2.6."""
    halves = []
    for half in (0xc6a4a7935bd1e995, 0x9e3779b97f4a7c15):
        for byte in text.encode():
            half = (half ^ byte) * 0x100000001b3 & MASK
        halves.append(f"{mix(half):016x}")
    return "".join(halves)


class Installed:
    """DeepGEMM 2.6 with a Python of the machine, which may not exist yet."""

    def __init__(self, scene, name, engine="deepgemm", root=".dj",
                 package="deep_gemm", is_there=True):
        self.machine = Machine(scene, name, engine=engine)
        self.prefix = os.path.join(self.machine.home, "venv")
        self.package = os.path.join(self.prefix, "lib", "python3.12",
                                    "site-packages", package)
        self.root = os.path.join(self.machine.home, root)
        python = os.path.join(self.prefix, "bin", "python3")
        write(python, "#!/bin/sh\nexit 1\n", 0o755)
        self.machine.environment["TKBUNDLE_PYTHON"] = python
        if is_there:
            os.makedirs(self.package)

    def folder(self, name="sm90_gemm", source=SOURCE):
        key = digest_26(
            f"{name}$$NVCC12.9$$-std=c++20 "
            "--diag-suppress=39,161,174,177,186,940 "
            "--ptxas-options=--register-usage-level=10 "
            f"-I{self.package}/include --gpu-architecture=sm_90a "
            "--compiler-options=-fPIC,-O3,-fconcepts,"
            "-Wno-deprecated-declarations,-Wno-abi "
            f"-O3 --expt-relaxed-constexpr --expt-extended-lambda$${source}")
        return os.path.join(self.root, "cache", f"kernel.{name}.{key}")

    def compile(self, name="sm90_gemm", source=SOURCE):
        write(os.path.join(self.folder(name, source), "kernel.cu"), source)
        write(os.path.join(self.folder(name, source), "kernel.cubin"),
              b"\x7fELF" + name.encode().ljust(60, b"\0"))

    def has_kernel(self, name="sm90_gemm"):
        return os.path.exists(os.path.join(self.folder(name), "kernel.cubin"))

    def kernels(self):
        return sorted(os.listdir(os.path.join(self.root, "cache")))


@test("a kernel of DeepGEMM up to 2.6 gets the name that it has where DeepGEMM "
      "lies here, and is the same unit for all")
def _(scene):
    for name, root, package in (
            ("deepgemm", ".dj", "deep_gemm"),
            ("vllm", ".cache/vllm/deep_gemm", "vllm/third_party/deep_gemm"),
            ("vllm", ".cache/vllm/deep_gemm", "deep_gemm"),
            ("sglang", ".cache/sglang/deep_gemm", "deep_gemm")):
        label = name + package.replace("/", "-")
        first, second = (Installed(scene, label + end, name, root, package)
                         for end in ("-first", "-other-second"))
        first.compile()
        first.compile("sm90_other")
        bundle, ended = first.machine.collect("a.tkb")
        equal(ended["collected"], 2)
        require(first.folder() != second.folder())

        equal(second.machine.emit("a.tkb"), (2, 0, 0))

        require(second.has_kernel() and second.has_kernel("sm90_other"))
        equal(contents(second.folder()), contents(first.folder()))
        equal(len(second.kernels()), 2)
        equal(second.machine.emit("a.tkb"), (0, 2, 0))
        equal(second.machine.collect("b.tkb")[0], bundle)
        os.unlink(os.path.join(second.folder(), "kernel.cubin"))
        equal(second.machine.emit("a.tkb"), (0, 1, 1))
        require(second.has_kernel())


@test("two machines with DeepGEMM elsewhere push one unit, and pull the other's")
def _(scene):
    first, second, third = (Installed(scene, name) for name in
                            ("first", "other-second", "an-other-third"))
    first.compile()
    second.compile()
    second.compile("sm90_other")
    equal(first.machine.push()["pushed"], 1)
    equal(second.machine.push()["pushed"], 1)

    third.machine.pull()
    first.machine.pull()

    for machine in (first, third):
        require(machine.has_kernel() and machine.has_kernel("sm90_other"))
        equal(len(machine.kernels()), 2)
        equal(machine.machine.push()["pushed"], 0)
        equal(machine.machine.pull()["emitted"], 0)


@test("run starts warm where DeepGEMM lies elsewhere, and pushes nothing back")
def _(scene):
    first, second = (Installed(scene, name) for name in ("first", "the-second"))
    first.compile()
    first.machine.push()

    ended = second.machine.verb(
        "run", "--remote", scene.remote, "--ref", "a/b", "--require-warm", "--wait", "30s",
        "--", "sh", "-c", "cat $DG_JIT_CACHE_DIR/cache/" +
        os.path.basename(second.folder()) + "/kernel.cubin")

    require(ended.out.startswith("\x7fELF"), ended.out)
    require("emitted 1, used 1, compiled anew 0, pushed 0" in ended.err,
            ended.err)
    # Made again, it has one name here, and another one in the ref. Without a time to wait,
    # no list tells what was there before.
    for wait in ("30s", "0s"):
        ended = second.machine.verb(
            "run", "--remote", scene.remote, "--ref", "a/b", "--wait", wait, "--", "sh", "-c",
            "cd $DG_JIT_CACHE_DIR/cache/" + os.path.basename(second.folder()) +
            f" && cp kernel.cubin new && printf {wait} >>new && mv new kernel.cubin")
        require("compiled anew 1, pushed 1" in ended.err, wait, ended.err)


@test("a kernel of DeepGEMM's that came before DeepGEMM is renamed by relocate, "
      "emit and pull, also on NFS, which lacks renameat2()")
def _(scene):
    no_replace = {"preexec_fn": refusing(errno.EINVAL, "renameat2")}
    first = Installed(scene, "first")
    first.compile()
    first.machine.push()
    bundle = first.machine.collect("a.tkb")[0]
    for verb in ("relocate", "emit", "pull"):
        second = Installed(scene, "second-" + verb, is_there=False)
        second.machine.emit("a.tkb")
        require(not second.has_kernel())
        equal(second.machine.collect("b.tkb")[0], bundle)
        os.makedirs(second.package)

        if verb == "relocate":
            equal(second.machine.document(verb, **no_replace)["relocated"], 1)
            equal(second.machine.document(verb)["relocated"], 0)
        elif verb == "emit":
            equal(second.machine.emit("a.tkb", **no_replace), (0, 0, 1))
        else:
            second.machine.pull(**no_replace)

        require(second.has_kernel(), verb)
        equal(second.kernels(), [os.path.basename(second.folder())])
        equal(second.machine.collect("b.tkb")[0], bundle)


@test("gc removes a kernel of DeepGEMM's under the name that it has here")
def _(scene):
    machine = Installed(scene, "first")
    machine.compile()
    for name in ("kernel.cu", "kernel.cubin"):
        os.utime(os.path.join(machine.folder(), name), (10 ** 9, 10 ** 9))

    machine.machine.verb("gc", "--max-age", "1d")

    equal(machine.kernels(), [])


@test("a kernel of DeepGEMM's that its compiler failed to make is not shared")
def _(scene):
    machine = Machine(scene, "first", engine="deepgemm")
    for kernel, cubin, reason in (("empty", b"", "is not an ELF file"),
                                  ("told", b"error: no such file", "is not an ELF file"),
                                  ("short", b"\x7fELF\2" + bytes(35) + b"\xff" + bytes(23),
                                   "is cut short")):
        folder = os.path.join(machine.home, ".dj", "cache", f"kernel.{kernel}.{digest(SOURCE)}")
        write(os.path.join(folder, "kernel.cu"), SOURCE)
        write(os.path.join(folder, "kernel.cubin"), cubin)

        ended = machine.verb("collect", "-o", scene.path(kernel + ".tkb"), status=4)

        require(f"binary: 'kernel.cubin' {reason}\n" in ended.err, ended.err)
        shutil.rmtree(folder)


@test("a kernel of DeepGEMM's with a name that is not reproduced keeps the name")
def _(scene):
    first, second = (Installed(scene, name) for name in ("first", "second"))
    name = "cache/kernel.sm90_gemm." + digest(SOURCE)
    write(os.path.join(first.root, name, "kernel.cu"), SOURCE)
    equal(first.machine.collect("torn.tkb")[1]["collected"], 0)
    write(os.path.join(first.root, name, "kernel.cubin"), b"\x7fELF" + bytes(60))
    first.machine.collect("a.tkb")

    equal(second.machine.emit("a.tkb"), (1, 0, 0))

    equal(contents(os.path.join(second.root, name)),
          contents(os.path.join(first.root, name)))
