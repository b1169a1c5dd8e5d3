# SPDX-License-Identifier: Apache-2.0
"""FlashInfer's own code finds nothing to build on a second machine.

Its wheel, in build/venv/flashinfer, writes build.ninja and calls ninja. What it
asks of PyTorch, TVM and CUDA is answered by stubs: there is no GPU.
"""
import json
import os
import shutil
import subprocess
import sys

from building import left_out, ninjas
from scene import Skip, equal, need, require, test, write
from stand_in import STAND_IN

HERE = os.path.dirname(os.path.realpath(__file__))
WHEEL = os.path.join(HERE, "..", "..", "build", "venv", "flashinfer")
SHIM = os.path.join(HERE, "..", "..", "examples", "flashinfer",
                    "flashinfer_jit_cache.py")
STUBS = {
    "torch/__init__.py": """
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return "torch." + name
class version: cuda = "13.0"
class _C: _GLIBCXX_USE_CXX11_ABI = 1
class cuda:
    is_available = staticmethod(lambda: False)
    device_count = staticmethod(lambda: 0)
""",
    "tvm_ffi/__init__.py": """
import os
class libinfo:
    find_include_path = staticmethod(
        lambda: os.path.join(os.path.dirname(__file__), "include"))
    find_dlpack_include_path = find_include_path
load_module = str
""",
    "tvm_ffi/include/tvm.h": "inline int tvm() { return 1; }\n",
    "filelock.py": """
class FileLock:
    def __init__(self, *words, **more): pass
    def __enter__(self): return self
    def __exit__(self, *words): pass
""",
    "packaging/__init__.py": "",
    "packaging/version.py": """
class Version(tuple):
    def __new__(cls, text):
        return tuple.__new__(cls, (int(i) for i in text.split(".")))
""",
}
# Like nvcc, the stub lists all headers, including those of -isystem.
NVCC = """#!/usr/bin/env python3
import subprocess, sys
words = sys.argv[1:]
if words == ["--version"]:
    sys.exit(print("release 13.0, V13.0.88"))
keep = ["c++", "-fPIC", "-MD", "-x", "c++"]
for word, value in zip(words, words[1:] + [""]):
    if word in ("-c", "-o", "-MF"):
        keep += [word, value]
    elif word == "-isystem":
        keep += ["-I", value]
sys.exit(subprocess.call(keep))
"""
PROGRAM = STAND_IN + """
from flashinfer.jit import core, env
source = env.FLASHINFER_GEN_SRC_DIR / "own" / "own.cu"
source.parent.mkdir(parents=True, exist_ok=True)
core.write_if_different(source, "#include <flashinfer/own.h>\\n"
                        "#include <tvm.h>\\n"
                        "int f() { return own() + tvm(); }\\n")
spec = core.gen_jit_spec("own", [source])
"""
BUILD = PROGRAM + "spec.build(verbose=True)\n"
LOAD = PROGRAM + "print(spec.build_and_load())\n"


class Machine:
    def __init__(self, scene, name, ninja):
        self.scene = scene
        self.home = scene.path(name)
        self.site = os.path.join(self.home, "site")
        self.cuda = os.path.join(self.home, "cuda")
        self.folder = os.path.join(self.home, ".cache", "flashinfer")
        shutil.copytree(WHEEL, self.site)
        for path, text in STUBS.items():
            write(os.path.join(self.site, path), text)
        self.header = os.path.join(self.site, "flashinfer", "data", "include",
                                   "flashinfer", "own.h")
        write(self.header, "inline int own() { return 1; }\n")
        for library in ("cudart", "cuda"):
            path = os.path.join(self.cuda, "lib64", f"lib{library}.so")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            subprocess.run(["c++", "-shared", "-x", "c++", "/dev/null", "-o",
                            path], check=True, cwd=self.home)
        nvcc = os.path.join(self.cuda, "bin", "nvcc")
        write(nvcc, NVCC, 0o755)
        os.makedirs(os.path.join(self.home, "bin"))
        os.symlink(ninja, os.path.join(self.home, "bin", "ninja"))
        self.environment = {
            "HOME": self.home, "PYTHONPATH": self.site,
            "CUDA_HOME": self.cuda, "FLASHINFER_CUDA_ARCH_LIST": "9.0a",
            "PATH": os.path.join(self.home, "bin") + ":" + os.environ["PATH"],
            "PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, program):
        return subprocess.run(
            [sys.executable, "-c", program, self.site],
            env={**os.environ, **self.environment}, capture_output=True,
            check=False, text=True, cwd=self.home)

    def build(self):
        """What ninja says when FlashInfer loads its module."""
        ended = self.run(BUILD)
        equal(ended.returncode, 0, ended.stdout, ended.stderr)
        return ended.stdout

    def verb(self, verb, *words):
        ended = self.scene.tkbundle(verb, "--engine", "flashinfer", "--json",
                                    *words, self.scene.path("fi.tkb"),
                                    env=self.environment)
        return json.loads(ended.out)


@test("FlashInfer builds nothing on a second machine, by its own code")
def _(scene):
    if not os.path.exists(WHEEL):
        raise Skip("there is no wheel of FlashInfer")
    need("c++")
    for number, ninja in enumerate(ninjas()):
        first = Machine(scene, f"first{number}", ninja)
        require("[2/2]" in first.build())
        equal(first.verb("collect", "-o")["collected"], 2)
        second = Machine(scene, f"second{number}/place", ninja)
        shutil.rmtree(first.home)
        equal(second.verb("emit")["emitted"], 2)
        said = second.build()
        require("no work to do" in said, said)
        third = Machine(scene, f"third{number}", ninja)
        write(third.header, "inline int own() { return 2; }\n")
        reason, message = left_out(third.verb("emit"))
        equal(reason, "inputs")
        require(third.header in message, message)
        require("[2/2]" in third.build())


@test("FlashInfer loads prebuilt modules where there is neither ninja nor nvcc")
def _(scene):
    if not os.path.exists(WHEEL):
        raise Skip("there is no wheel of FlashInfer")
    need("c++")
    first = Machine(scene, "first", next(ninjas()))
    first.build()
    shutil.copy(SHIM, first.folder)
    version, = (name for name in os.listdir(first.folder)
                if name[0].isdigit())
    folder, bundle = scene.path("prebuilt"), scene.path("fi.tkb")
    for words in (
            ("collect", "--tree", "prebuilt=" + first.folder, "-o", bundle),
            ("emit", "--tree", "prebuilt=" + folder, bundle)):
        scene.tkbundle(*words)
    built = os.path.join(folder, version, "90a", "cached_ops", "own", "own.so")
    second = Machine(scene, "second", next(ninjas()))
    for path in (first.home, second.cuda, os.path.join(second.home, "bin")):
        shutil.rmtree(path)
    second.environment.update(
        PATH=second.home, FLASHINFER_DISABLE_JIT="1",
        PYTHONPATH=second.site + ":" + folder)

    ended = second.run(LOAD)

    equal((ended.returncode, ended.stdout), (0, built + "\n"), ended.stderr)
    os.rename(os.path.join(folder, version), os.path.join(folder, "0.7.1"))
    ended = second.run(LOAD)
    require("MissingJITCacheError" in ended.stderr, ended.stderr)
