#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `tkbundle compile` for AMD's GPUs to what a launch there compiles.

usage: triton_hip.py PROGRAM SOURCES

A launch is Triton's own, with tensors as PyTorch's and a driver that only knows the
target. Prints TAP.
"""
import json
import os
import subprocess
import sys
import tempfile

from tap import Tap

TARGETS = {"gfx90a": 64, "gfx942": 64, "gfx950": 64, "gfx1100": 32}
SIGNATURE = "*fp32:16, *fp32:16, *fp32:16, i32, 1024"
KERNELS = """import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + at, at < n) + tl.load(y + at, at < n)
    tl.store(out + at, tl.exp(total), at < n)


@triton.autotune([triton.Config({"BLOCK": 256}, num_warps=2),
                  triton.Config({"BLOCK": 512}, num_warps=4)], key=["n"])
@triton.jit
def tuned(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n) * 2, at < n)
"""
# The kernels, with the sizes of their tensors' memory, as a program has them.
LAUNCH = """import sys, types

torch = types.ModuleType("torch")


class Tensor:
    def __init__(self, size):
        self.size_of = size
        self.dtype = "torch.float32"

    def data_ptr(self):
        return 1 << 20

    def untyped_storage(self):
        return types.SimpleNamespace(size=lambda: self.size_of)


torch.Tensor = Tensor
sys.modules["torch"] = torch
from triton.backends.compiler import GPUTarget
from triton.runtime.driver import driver
import kernels

arch, wave, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


class Driver:
    def get_current_target(self):
        return GPUTarget("hip", arch, wave)

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0


driver.set_active(Driver())
x = Tensor(size)
kernels.add.warmup(x, x, x, 4097, 1024, grid=(1,))
for config in kernels.tuned.configs:
    kernels.tuned.fn.warmup(x, x, 4097, grid=(1,), **config.all_kwargs())
"""
LL = "define void @k() {\n  ret void\n}\n"
MODULE = "from torch._inductor.runtime import triton_heuristics\n"


class Scene(Tap):
    def __init__(self, program, sources, folder):
        super().__init__()
        self.program, self.folder = os.path.realpath(program), folder
        self.python = os.path.join(os.path.realpath(sources), "build", "venv", "bin", "python3")
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith(("TRITON_", "TKBUNDLE_", "PYTHONPATH", "AMDGCN_"))}
        self.env.update(HOME=folder, PYTHONDONTWRITEBYTECODE="1", XDG_CACHE_HOME=folder)
        for name, text in (("kernels.py", KERNELS), ("launch.py", LAUNCH), ("k.ll", LL),
                           ("module.py", MODULE), ("kernels.json", json.dumps(self.items()))):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)

    def items(self, size=""):
        pointer = "*fp32:16" + size
        return [{"file": self.path("kernels.py"), "kernel": "add",
                 "signature": f"{pointer}, {pointer}, {pointer}, i32, 1024"},
                {"file": self.path("kernels.py"), "kernel": "tuned",
                 "signature": f"{pointer}, {pointer}, i32"}]

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, **variables):
        return subprocess.run(words, cwd=self.folder, env={**self.env, **variables}, check=False,
                              text=True, errors="replace", stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def tool(self, *words, **variables):
        return self.run(self.program, *words, **variables)

    def compile(self, *words, targets=TARGETS):
        named = ",".join(f"hip:{arch}" for arch in targets)
        return self.tool("compile", *words, "--target", named, "--python", self.python)

    def launch(self, cache, arch, size):
        return self.run(self.python, "launch.py", arch, str(TARGETS[arch]), str(size),
                        TRITON_CACHE_DIR=self.path(cache))


def contents(scene, cache):
    """The files of each key, less those that name their folder."""
    found = {}
    for key in os.listdir(scene.path(cache)) if os.path.isdir(scene.path(cache)) else ():
        folder = os.path.join(scene.path(cache), key)
        for name in os.listdir(folder) if len(key) == 52 else []:
            if not name.startswith("__"):
                with open(os.path.join(folder, name), "rb") as file:
                    found[key, name] = file.read()
    return found


def says(ended, status, *sentences):
    text = ended.stdout + ended.stderr
    return [] if ended.returncode == status and all(s in text for s in sentences) \
        else [f"exit status {ended.returncode}, not {status}: {text}"]


def same(scene, one, other):
    a, b = contents(scene, one), contents(scene, other)
    faults = [f"only in {one if name in a else other}: {name}" for name in sorted(set(a) ^ set(b))]
    faults += [f"other bytes: {name}" for name in sorted(set(a) & set(b)) if a[name] != b[name]]
    return faults + ([] if any(name.endswith(".hsaco") for _, name in a) else ["no hsaco"])


def check_keys(scene):
    """Also a second time: nothing is compiled."""
    faults = says(scene.compile("kernels.json", "--cache", "made"), 0,
                  "compiled 12, hits 0, failed 0")
    for arch in TARGETS:
        faults += says(scene.launch("launched", arch, 1 << 20), 0)
    return faults + same(scene, "made", "launched") + says(
        scene.compile("kernels.json", "--cache", "made"), 0, "compiled 0, hits 12, failed 0")


def check_large(scene):
    """Of 2 GiB or more the kernel is another one."""
    with open(scene.path("large.json"), "w", encoding="utf-8") as file:
        json.dump(scene.items(":large"), file)
    faults = says(scene.compile("large.json", "--cache", "large", targets=["gfx942"]), 0,
                  "compiled 3, hits 0")
    faults += says(scene.launch("launched_large", "gfx942", 1 << 31), 0)
    faults += same(scene, "large", "launched_large")
    if {key for key, _ in contents(scene, "large")} & {key for key, _ in contents(scene, "made")}:
        faults.append("a key does not depend on it")
    return faults


def check_bundle(scene):
    faults = says(scene.tool("collect", "made", "-o", "made.tkb"), 0, "collected 12 entries")
    for source in ("made", "made.tkb"):
        faults += says(scene.tool("verify", source), 0, "verified 12 entries")
        faults += says(scene.tool("ls", source), 0, *(f"hip:{arch} " for arch in TARGETS))
    key = next(key for key, name in contents(scene, "made") if name == "add.hsaco")
    for stage, sign in (("amdgcn", ".amdgcn_target"), ("ttir", "tt.func"), ("hsaco", "ELF")):
        faults += says(scene.tool("show", "made.tkb", key, "--stage", stage), 0, sign)
    faults += says(scene.tool("emit", "made.tkb", "emitted"), 0)
    return faults + same(scene, "emitted", "made")


def damage(scene, at, byte):
    """Change a byte of a code object, and verify."""
    scene.run("rm", "-rf", "hurt")
    scene.run("cp", "-r", "launched_large", "hurt")
    key = next(key for key, name in contents(scene, "hurt") if name == "add.hsaco")
    with open(os.path.join(scene.path("hurt"), key, "add.hsaco"), "r+b") as file:
        file.seek(at)
        file.write(bytes([byte]))
    return scene.tool("verify", "hurt")


def check_damage(scene):
    return (says(damage(scene, 48, 0x3f), 5,
                 "'add.hsaco' is for gfx90a, its metadata says gfx942") +
            says(damage(scene, 18, 0xbe), 5, "'add.hsaco' is not an AMD code object") +
            says(damage(scene, 7, 0), 5, "'add.hsaco' is not a code object for AMD's HSA"))


def check_again(scene):
    """What was made for one GPU is compiled for others, and for CUDA."""
    faults = says(scene.compile("kernels.json", "--cache", "first", targets=["gfx942"]), 0)
    faults += says(scene.tool("collect", "first", "-o", "first.tkb"), 0)
    faults += says(scene.compile("first.tkb", "--cache", "again",
                                 targets=[arch for arch in TARGETS if arch != "gfx942"]), 0,
                   "compiled 9, hits 0, failed 0")
    wanted = {item: data for item, data in contents(scene, "made").items()
              if item not in contents(scene, "first")}
    if contents(scene, "again") != wanted:
        faults.append("other keys or bytes than of the source")
    faults += says(scene.tool("compile", "large", "--target", "cuda:90", "--cache", "cuda", "--python",
                              scene.python), 0, "compiled 3, hits 0, failed 0")
    return faults + says(scene.compile("cuda", "--cache", "back", targets=["gfx942"]), 0,
                         "compiled 3, hits 0, failed 0") + same(scene, "back", "first")


def check_stages(scene):
    """Stages alone; Triton's IR as an input."""
    faults = []
    for stage, sign in (("ttir", "tt.pointer_range"), ("ttgir", "hip:gfx942"), ("llir", "amdgcn"),
                        ("amdgcn", "gfx942"), ("hsaco", "ELF")):
        ended = scene.compile("kernels.py:add", "--signature", SIGNATURE, "--emit", stage, "-o",
                              "add." + stage, "-j1", targets=["gfx942"])
        with open(scene.path("add." + stage), encoding="utf-8", errors="replace") as file:
            faults += says(ended, 0) + ([] if sign in file.read() else [f"no {sign} in {stage}"])
    for stage in ("ttir", "ttgir"):
        faults += says(scene.compile("add." + stage, "--cache", "of_" + stage, "-j1",
                                     targets=["gfx942"]), 0, "compiled 1")
    return faults


def check_refused(scene):
    faults = []
    before = sorted(os.listdir(scene.folder))
    kernel = ["kernels.py:add", "--signature", SIGNATURE, "--cache", "refused"]
    for words, sentence in (
            (["k.ll", "--target", "hip:gfx942"],
             "'--target hip:gfx942' has no meaning for 'k.ll', which is LLVM IR: it is for"),
            (["module.py", "--target", "hip:gfx942"],
             "has no meaning for 'module.py', which is a module of Inductor's"),
            ([*kernel, "--target", "hip:gfx942,cuda:90", "--ptxas", "/bin/true"],
             "'--ptxas' has no meaning for '--target hip:gfx942'"),
            ([*kernel, "--target", "hip:gfx7"], "there is no target 'hip:gfx7': there are"),
            ([*kernel, "--target", "hip:gfx942:32"], "there is no target 'hip:gfx942:32'"),
            ([*kernel, "--target", "hip"], "there is no target 'hip'"),
            ([*kernel[:-2], "--target", "hip:gfx942", "--emit", "ptx", "-o", "x"],
             "'--emit ptx' has no meaning for '--target hip:gfx942': it makes amdgcn and hsaco"),
            ([*kernel[:-2], "--target", "cuda:90", "--emit", "hsaco", "-o", "x"],
             "'--emit hsaco' has no meaning for '--target cuda:90': it makes ptx, cubin and sass"),
            (["k.ll", "--target", "cuda:90", "--emit", "amdgcn", "-o", "x"],
             "'--emit amdgcn' has no meaning for 'k.ll', which is LLVM IR: it is for")):
        faults += says(scene.tool("compile", *words), 2, sentence)
    after = sorted(os.listdir(scene.folder))
    return faults + ([f"it wrote {set(after) - set(before)}"] if before != after else [])


def main():
    with tempfile.TemporaryDirectory(prefix="tkbundle-hip.") as folder:
        scene = Scene(sys.argv[1], sys.argv[2], os.path.realpath(folder))
        if scene.run(scene.python, "-c", "import triton.backends.amd").returncode != 0:
            print("1..0 # SKIP there is no Triton with AMD's backend")
            return 0
        for sentence, check in (("keys and bytes are those of a launch", check_keys),
                                ("large memory is told by the signature", check_large),
                                ("bundles hold entries for HIP", check_bundle),
                                ("a damaged code object is found", check_damage),
                                ("kernels are compiled anew for HIP, and for CUDA", check_again),
                                ("each stage is written and read", check_stages),
                                ("what has no meaning is refused", check_refused)):
            scene.tap(sentence, check)
        return scene.end()


if __name__ == "__main__":
    sys.exit(main())
