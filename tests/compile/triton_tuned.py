#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `tkbundle compile` to what launches of kernels with decorators compile.

usage: triton_tuned.py PROGRAM SOURCES

A launch, with a driver that knows only the target and a benchmark that compiles, is
what Triton itself makes of the decorators: `compile` must make the same keys, no
more and no fewer. Prints TAP.
"""
import json
import os
import subprocess
import sys
import tempfile

from tap import Tap

FLOATS = "*fp32:16, *fp32:16"
A, B = ("pointer", "float32"), ("pointer", "float16")

# The kernel; its signature; the arguments of a launch; since which Triton.
LAUNCHES = [
    ("plain", f"{FLOATS}, i32", [A, A, 100], "3.3.1"),
    ("plain", f"{FLOATS}, i32:16", [A, A, 32], "3.3.1"),
    ("registers", f"{FLOATS}, i32", [A, A, 100], "3.3.1"),
    ("nested", f"{FLOATS}, i32", [A, A, 100], "3.6.0"),
    ("inner", f"{FLOATS}, i32=192", [A, A, 192], "3.3.1"),
    ("inner", "*fp16:16, *fp16:16, i32=100", [B, B, 100], "3.3.1"),
    ("heuristic", f"{FLOATS}, i32=100", [A, A, 100], "3.3.1"),
    ("heuristic", f"{FLOATS}, i32=16", [A, A, 16], "3.3.1"),
    ("pruned", f"{FLOATS}, i32=150, 2", [A, A, 150, 2], "3.3.1"),
    ("modelled", f"{FLOATS}, i32=64", [A, A, 64], "3.3.1"),
    ("unspecialized", f"{FLOATS}, i32", [A, A, 32], "3.3.1"),
    ("paired", "(*fp32:16, i32), *fp32:16", [[A, 99], A], "3.6.0"),
    ("described", "tensordesc<fp16[1, 1]>, *fp32:16", [("descriptor", "float16"), A],
     "3.6.0"),
    ("layered", FLOATS, [A, A], "3.6.0"),
]

# Those that other versions are tried with.
OTHERS = ("inner", "pruned", "paired", "described", "layered")

# Of two autotuners, the inner one measures once: which of its configurations the outer
# one's others then have is not known before.
MORE = {"nested": 1}

LAUNCH = """
import importlib, json, os, sys, traceback
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from triton_kernel import Driver, use_driver
import tuned_kernels
from triton.backends.compiler import GPUTarget

use_driver()


class Dtype(str):
    itemsize = property(lambda self: 2 if "16" in self else 4)


class Tensor:
    def __init__(self, dtype):
        self.dtype = Dtype("torch." + dtype)

    def data_ptr(self):
        return 0

    def zero_(self):
        return self


def argument(told):
    if isinstance(told, list) and told[0] == "pointer":
        return Tensor(told[1])
    if isinstance(told, list) and told[0] == "descriptor":
        from triton.tools.tensor_descriptor import TensorDescriptor

        return TensorDescriptor(Tensor(told[1]), [256, 512], [512, 1], [1, 1])
    return tuple(map(argument, told)) if isinstance(told, list) else told


if sys.argv[5]:  # note what the kernels are compiled of
    from tkbundle import _specialisations as noted
    noted.listen()
for arch in sys.argv[4].split(","):
    Driver.get_current_target = staticmethod(lambda: GPUTarget("cuda", int(arch), 32))
    Driver.get_current_device = staticmethod(lambda: int(arch))
    for name, arguments, cache in json.loads(sys.argv[3]):
        os.environ["TRITON_CACHE_DIR"] = cache
        kernel = tuner = getattr(tuned_kernels, name)
        while hasattr(tuner, "configs"):
            tuner.cache.clear()
            tuner = tuner.fn
        constants = {"PARTS": arguments.pop()} if name == "pruned" else {}
        try:
            kernel.run(*map(argument, arguments), grid=(1,), warmup=True, **constants)
        except Exception:
            traceback.print_exc()
if sys.argv[5]:
    list(noted._write(sys.argv[5], noted.noted()))
"""


class Scene(Tap):
    def __init__(self, program, sources, folder):
        super().__init__()
        self.program, self.sources, self.folder = os.path.realpath(program), sources, folder
        self.tests = os.path.join(sources, "tests")
        self.venv = os.path.join(sources, "build", "venv")
        self.python = os.path.join(self.venv, "bin", "python3")
        self.caches = 0
        self.folders = []  # in PYTHONPATH

    def environment(self, version, cache):
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("TRITON_", "TKBUNDLE_", "PYTHON"))}
        env.update(HOME=self.folder, TMPDIR=self.folder, PYTHONDONTWRITEBYTECODE="1",
                   TRITON_CACHE_DIR=cache)
        folders = [os.path.join(self.sources, "python")]
        if version != "3.6.0":
            folders.insert(0, os.path.join(self.venv, f"triton-{version}"))
        env["PYTHONPATH"] = os.pathsep.join(folders + self.folders)
        return env

    def run(self, words, version, cache):
        return subprocess.run(words, env=self.environment(version, cache), text=True,
                              cwd=self.folder, stdin=subprocess.DEVNULL, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def cache(self):
        self.caches += 1
        return os.path.join(self.folder, f"cache{self.caches}")

    def compile(self, version, name, signature, *more, cache=None):
        cache = cache or self.cache()
        kernels = os.path.join(self.tests, "compile", "tuned_kernels.py")
        return self.run([self.program, "compile", f"{kernels}:{name}", "--target", "cuda:90",
                         "--python", self.python, "--cache", cache, "--keep-going", "-j1",
                         "--signature", signature, *more], version, cache), keys(cache)

    def launch(self, version, launches, targets="90", notes=""):
        """Each into its cache, by one Python: that reads all of Triton for its keys."""
        return self.run([self.python, "-c", LAUNCH, os.path.join(self.tests, "support"),
                         os.path.join(self.tests, "compile"), json.dumps(launches),
                         targets, notes], version, "").stderr


def keys(cache):
    """Of the kernels, which have a cubin."""
    if not os.path.isdir(cache):
        return set()
    return {key for key in os.listdir(cache) if not key.startswith(".") and any(
        name.endswith(".cubin") for name in os.listdir(os.path.join(cache, key)))}


def number(version):
    return tuple(map(int, version.split(".")))


def has_same_keys(scene, version, name, signature, cache, failure):
    ended, ours = scene.compile(version, name, signature, "--strict")
    theirs = keys(cache)
    faults = []
    if ended.returncode != 0 or ended.stderr:
        faults.append(f"exit status {ended.returncode}: {ended.stderr}")
    if not theirs or not theirs <= ours or len(ours - theirs) != MORE.get(name, 0):
        faults.append(f"{len(ours)} keys, {len(ours & theirs)} of {len(theirs)} of a launch: "
                      + failure)
    return faults


def says(ended, status, *sentences):
    faults = [] if ended.returncode == status else [f"exit status {ended.returncode}"]
    faults += [f"it does not say: {sentence}" for sentence in sentences
               if sentence not in ended.stderr + ended.stdout]
    return faults + [ended.stdout + ended.stderr] if faults else []


def one_failure(scene):
    ended, ours = scene.compile("3.6.0", "broken", "*fp32:16")
    return says(ended, 4, "broken (SIZE=1000 num_warps=4 num_stages=3) for cuda:90: "
                "'broken' does not compile", "compiled 2, hits 0, failed 1 ") + (
        [] if len(ours) == 2 else [f"{len(ours)} keys"])


def unknown_prune(scene):
    ended, _ = scene.compile("3.6.0", "pruned", f"{FLOATS}, i32, 2", "--strict")
    return says(ended, 0, "warning: which of the 3 configurations of 'pruned' a launch tries "
                "depends on the value of 'n', which the signature does not tell: all are "
                "compiled", "compiled 3, hits 0, failed 0 ")


def unknown_heuristic(scene):
    ended, _ = scene.compile("3.6.0", "inner", f"{FLOATS}, i32")
    return says(ended, 1, "inner (SIZE=32 num_warps=1 num_stages=2) for cuda:90: a heuristic "
                "makes 'EVEN' of the value of 'n', which the signature does not tell: it "
                "may, as i32=4096, or give 'EVEN' as a constant",
                "compiled 0, hits 0, failed 3")


def unasked(scene):
    words = "plain", f"{FLOATS}, i32, 256"
    ended, ours = scene.compile("3.6.0", *words)
    faults = says(ended, 0, "warning: no launch asks for this: 'plain' is autotuned, and no "
                  "configuration of it is SIZE=256; there are: SIZE=32 num_warps=1 "
                  "num_stages=2, ", "compiled 1, hits 0, failed 0, unasked 1 ")
    ended, _ = scene.compile("3.6.0", *words, "--strict")
    return faults + says(ended, 4, "unasked 1 ") + ([] if len(ours) == 1 else [f"{ours}"])


def selected(scene):
    ended, ours = scene.compile("3.6.0", "plain", f"{FLOATS}, i32, 64")
    faults = says(ended, 0, "compiled 1, hits 0, failed 0 with")
    ended, same = scene.compile("3.6.0", "plain", f"{FLOATS}, i32", "--num-warps", "4")
    faults += says(ended, 0, "compiled 1, hits 0, failed 0 with")
    ended, none = scene.compile("3.6.0", "plain", f"{FLOATS}, i32", "--num-warps", "2")
    faults += says(ended, 1, "'plain' is autotuned, and no configuration of it is num_warps=2;")
    return faults + ([] if ours == same and len(ours) == 1 and not none else ["other keys"])


def hits(scene):
    cache = scene.cache()
    scene.compile("3.6.0", "plain", f"{FLOATS}, i32", cache=cache)
    ended, _ = scene.compile("3.6.0", "plain", f"{FLOATS}, i32", "--json", cache=cache)
    told = json.loads(ended.stdout)
    named = [kernel["configuration"] for kernel in told["kernels"]]
    return says(ended, 0) + ([] if told["hits"] == 3 and named == [
        "SIZE=32 num_warps=1 num_stages=2", "SIZE=64 num_warps=4 num_stages=3",
        "SIZE=128 num_warps=8 num_stages=4"] else [ended.stdout])


def large_stage(scene):
    """A worker's message has 64 KiB at most: this takes several."""
    kernels = os.path.join(scene.tests, "compile", "tuned_kernels.py")
    out = os.path.join(scene.folder, "large.ptx")
    ended = scene.run([scene.program, "compile", f"{kernels}:unspecialized", "--target",
                       "cuda:90", "--python", scene.python, "--signature",
                       f"{FLOATS}, i32, 16384", "--num-warps", "1", "--emit", "ptx", "-o", out],
                      "3.6.0", scene.cache())
    size = os.path.getsize(out) if os.path.exists(out) else 0
    return says(ended, 0) + ([] if size > 2 * 64 * 1024 else [f"{size} bytes"])


def matrix(scene):
    """Each Python compiles for each target, and a broken one costs itself alone."""
    kernels = os.path.join(scene.tests, "compile", "tuned_kernels.py")
    other = os.path.join(scene.folder, "python")
    with open(other, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nPYTHONPATH={scene.venv}/triton-3.9.0 exec {scene.python} "
                   '"$@"\n')
    os.chmod(other, 0o755)
    cache = scene.cache()
    words = [scene.program, "compile", f"{kernels}:unspecialized", "--signature",
             f"{FLOATS}, i32", "--target", "cuda:80,cuda:90", "--python", scene.python,
             "--python", "/nowhere/python", "--python", "/bin/false", "--python", other,
             "--cache", cache, "-j2"]
    ended = scene.run([*words, "--keep-going"], "3.6.0", cache)
    faults = says(ended, 4, "there is no Python at '/nowhere/python'", *(
        f"{line}\n" for line in (
            f"{scene.python} with Triton 3.6.0 for cuda:80: compiled 1, hits 0, failed 0",
            f"{scene.python} with Triton 3.6.0 for cuda:90: compiled 1, hits 0, failed 0",
            "/nowhere/python for cuda:80: compiled 0, hits 0, failed 1",
            "/bin/false for cuda:90: compiled 0, hits 0, failed 1",
            f"{other} with Triton 3.9.0 for cuda:90: compiled 1, hits 0, failed 0")))
    ended = scene.run([*words, "--json"], "3.6.0", cache)
    cells = [(cell["python"], cell["target"], cell["hits"], cell["failed"], cell["left"])
             for cell in json.loads(ended.stdout)["matrix"]]
    wanted = [(scene.python, "cuda:80", 1, 0, 0), (scene.python, "cuda:90", 1, 0, 0),
              ("/nowhere/python", "cuda:80", 0, 1, 0), ("/nowhere/python", "cuda:90", 0, 1, 0),
              ("/bin/false", "cuda:80", 0, 0, 1), ("/bin/false", "cuda:90", 0, 0, 1),
              (other, "cuda:80", 0, 0, 1), (other, "cuda:90", 0, 0, 1)]
    return faults + ([] if len(keys(cache)) == 4 and cells == wanted else [f"{cells}"])


def modules(scene):
    """What PyTorch would compile; that is not there."""
    folder = os.path.join(scene.folder, "inductor", "ab")
    os.makedirs(folder)
    words = [scene.program, "compile", "inductor", "--target", "cuda:90", "--python",
             scene.python, "--cache", scene.cache()]
    ended = scene.run(words, "3.6.0", "")
    faults = says(ended, 3, "'inductor' has no modules of Inductor's with kernels")
    for name, text in (("calls", "AsyncCompile()\n'@triton_heuristics.pointwise'\n"),
                       ("kernel", "@triton_heuristics.pointwise(\n")):
        with open(os.path.join(folder, name + ".py"), "w", encoding="utf-8") as file:
            file.write(text)
    ended = scene.run(words, "3.6.0", "")
    return faults + says(ended, 1, "tkbundle: inductor/ab/kernel.py for cuda:90: PyTorch's "
                         "Inductor cannot be imported: No module named 'torch'",
                         "compiled 0, hits 0, failed 1 ")


def run_in_scene(tell_all, kind=Scene):
    """What a script of such checks does; its exit status."""
    with tempfile.TemporaryDirectory(prefix="tkbundle-triton.") as folder:
        scene = kind(sys.argv[1], sys.argv[2], os.path.realpath(folder))
        if not os.access(scene.python, os.X_OK):
            print("1..0 # SKIP Triton is not in build/venv: ./bootstrap test puts it there")
            return 0
        tell_all(scene)
        return scene.end()


def tell(scene):
    for version in ("3.3.1", "3.6.0", "3.9.0"):
        chosen = [(name, signature, arguments, scene.cache())
                  for name, signature, arguments, since in LAUNCHES
                  if version == "3.6.0" or name in OTHERS and number(version) >= number(since)]
        failure = scene.launch(version, [(name, arguments, cache)
                                         for name, _, arguments, cache in chosen])
        for name, signature, _, cache in chosen:
            scene.tap(f"{name} of '{signature}' has the keys of a launch, by Triton {version}",
                      has_same_keys, version, name, signature, cache, failure)
    scene.tap("a configuration that fails costs itself alone", one_failure)
    scene.tap("pruning by what is unknown leaves all", unknown_prune)
    scene.tap("a heuristic of what is unknown is named", unknown_heuristic)
    scene.tap("what no launch asks for is counted, and fails if that is strict", unasked)
    scene.tap("constants and options select configurations", selected)
    scene.tap("each configuration is told of, and is a hit then", hits)
    scene.tap("a stage that is larger than a message is had whole", large_stage)
    scene.tap("each Python compiles for each target, and a broken one fails alone", matrix)
    scene.tap("a folder of Inductor's without kernels, or without PyTorch, is told",
              modules)


if __name__ == "__main__":
    sys.exit(run_in_scene(tell))
