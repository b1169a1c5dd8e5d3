#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hits of Triton kernels start no Python, as long as nothing has changed.

usage: triton_hits.py PROGRAM SOURCES

A module that Python loads first notes its starts. What a hit depends on is
changed in each way, and must be seen. Prints TAP.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = """
import os
import triton
import triton.language as tl
import helper

BLOCK = tl.constexpr(int(os.environ.get("BLOCKS_OF_MINE", "64")))
if os.path.exists(os.path.join(os.path.dirname(__file__), "big")):
    BLOCK = tl.constexpr(1024)


@triton.jit
def add(x, out, n):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, helper.twice(tl.load(x + at, at < n)), at < n)


def prune(configs, _args, **_more):
    with open(os.path.join(os.path.dirname(__file__), "data.txt")) as file:
        return configs[:int(file.read())]


@triton.autotune([triton.Config({"SIZE": size}) for size in (32, 64, 128)], key=["n"],
                 prune_configs_by={"early_config_prune": prune})
@triton.jit
def tuned(x, out, n, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, at < n), at < n)
"""
HELPER = """
import triton


@triton.jit
def twice(x):
    return x * 2
"""
SIGNATURE = "*fp32:16, *fp32:16, i32"
TICK = 0.1  # what was written just before a worker began is not trusted


class Scene:
    def __init__(self, program, sources, folder):
        self.program, self.folder = os.path.realpath(program), folder
        self.venv = os.path.join(os.path.realpath(sources), "build", "venv")
        self.count = self.failed = 0
        self.starts = self.path("starts")
        self.variables, self.options = {}, []
        self.folders = [self.path("start"), self.path("first"), self.path("second")]
        self.place = self.folder
        for name in ("first", "second", "own", "temporary"):
            os.mkdir(self.path(name))
        self.write("own/kernels.py", SOURCE)
        self.write("own/data.txt", "2")
        self.write("second/helper.py", HELPER)
        self.real = os.path.join(self.venv, "bin", "python3")
        self.python = self.real
        os.mkdir(self.path("start"))
        self.write("start/sitecustomize.py",
                   f'with open("{self.starts}", "a") as file:\n    file.write("\\n")\n')

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)

    def append(self, name, text):
        with open(self.path(name), "a") as file:
            file.write(text)

    def compile(self, kernel="add"):
        """How many Pythons were started, and what it says."""
        open(self.starts, "w").close()
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("TRITON_", "TKBUNDLE_", "PYTHON"))}
        env.update(HOME=self.folder, TMPDIR=self.path("temporary"),
                   PYTHONDONTWRITEBYTECODE="1",
                   PYTHONPATH=os.pathsep.join(self.folders), **self.variables)
        done = subprocess.run(
            [self.program, "compile", f"{self.path('own/kernels.py')}:{kernel}",
             "--signature", SIGNATURE, "--target", "cuda:90", "--json",
             "--cache", self.path("cache"), "--python", self.python,
             *self.options], env=env, text=True, check=False, stdin=subprocess.DEVNULL,
            cwd=self.place,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with open(self.starts) as file:
            started = len(file.readlines())
        lines = [json.loads(line) for line in done.stdout.splitlines()
                 if line.startswith("{")]
        if done.returncode != 0 or not lines:
            sys.stderr.write(done.stdout + done.stderr)
        return started, done.stdout

    def warm(self, kernel="add"):
        """What a hit without Python says."""
        time.sleep(TICK)
        self.compile(kernel)
        time.sleep(TICK)
        self.compile(kernel)
        started, says = self.compile(kernel)
        return says if started == 0 else None

    def ok(self, is_so, sentence):
        self.count += 1
        self.failed += not is_so
        print(f"{'ok' if is_so else 'not ok'} {self.count} - {sentence}", flush=True)

    def seen(self, what, change, kernel="add"):
        """A hit starts nothing; after the change it does."""
        before = self.warm(kernel)
        change()
        started, _says = self.compile(kernel)
        self.ok(before is not None and started > 0,
                f"{what} is seen" + ("" if before else ", and a hit starts no Python"))
        return before


LOOKS = """
here = os.path.dirname(os.path.realpath(__file__))
os.path.isdir(os.path.join(here, "folder"))
os.listdir(os.path.join(here, "listed"))
os.path.realpath(os.path.join(here, "link"))
"""


def with_places(scene):
    """What decides without being read: where, and what was only looked at."""
    for name in ("elsewhere", "a", "b", "own/folder", "own/listed"):
        os.mkdir(scene.path(name))
    scene.seen("another working folder",
               lambda: setattr(scene, "place", scene.path("elsewhere")))
    scene.place = scene.folder
    link = scene.path("own/link")
    os.symlink(scene.path("a"), link)
    scene.append("own/kernels.py", LOOKS)
    scene.seen("a folder that goes", lambda: os.rmdir(scene.path("own/folder")))
    scene.seen("a hidden file in a folder that was listed",
               lambda: scene.write("own/listed/.hidden", ""))
    scene.seen("a link that leads elsewhere",
               lambda: (os.remove(link), os.symlink(scene.path("b"), link)))
    scene.seen("another order of PYTHONPATH", scene.folders.reverse)
    scene.folders.reverse()
    scene.write("own/kernels.py", SOURCE)


def with_namespace(scene):
    os.makedirs(scene.path("second/spread"))
    shutil.copy(scene.path("second/helper.py"), scene.path("second/spread/inner.py"))
    scene.write("own/kernels.py", SOURCE.replace(
        "import helper", "from spread import inner as helper"))

    def add_portion():
        os.makedirs(scene.path("first/spread"))
        shutil.copy(scene.path("second/helper.py"), scene.path("first/spread/inner.py"))

    scene.seen("a further part of a namespace package", add_portion)
    shutil.rmtree(scene.path("first/spread"))
    scene.write("own/kernels.py", SOURCE)


def with_shim(scene):
    scene.write("shim", f'#!/bin/sh\nexec {scene.real} "$@"\n')
    os.chmod(scene.path("shim"), 0o755)
    scene.python = scene.path("shim")
    scene.ok(scene.warm() is None, "of a Python that a script chooses nothing is remembered")
    scene.python = scene.real


def entry(scene):
    return glob.glob(scene.path("cache/*/__grp__add.json"))


def tear(scene):
    for path in glob.glob(scene.path("cache/*/add.json")):
        os.truncate(path, os.stat(path).st_size // 2)


def entries_go(scene):
    for path in entry(scene):
        shutil.rmtree(os.path.dirname(path))


def with_files(scene):
    hit = scene.warm()
    scene.ok(hit is not None and '"hit"' in hit, "a hit starts no Python")
    scene.seen("an edited source", lambda: scene.append("own/kernels.py", "# more\n"))
    scene.seen("an edited helper", lambda: scene.append("second/helper.py", "# more\n"))
    scene.seen("a module that comes before another",
               lambda: shutil.copy(scene.path("second/helper.py"), scene.path("first")))
    os.remove(scene.path("first/helper.py"))
    scene.seen("a package beside the source",
               lambda: (os.mkdir(scene.path("own/helper")),
                        shutil.copy(scene.path("second/helper.py"),
                                    scene.path("own/helper/__init__.py"))))
    shutil.rmtree(scene.path("own/helper"))
    scene.seen("a file that was looked for", lambda: scene.write("own/big", ""))
    os.remove(scene.path("own/big"))
    scene.seen("a variable that is read",
               lambda: scene.variables.update(BLOCKS_OF_MINE="128"))
    scene.variables.clear()
    before = scene.warm()
    scene.variables["NOBODY_READS_THIS"] = "1"
    os.utime(scene.path("own/kernels.py"))
    started, after = scene.compile()
    scene.ok(before is not None and started == 0 and after == before,
             "a variable that nobody reads and a new time of a file change nothing")
    scene.variables.clear()


def with_entries(scene):
    scene.seen("a missing entry", lambda: entries_go(scene))
    scene.ok(bool(entry(scene)), "and it is made again")
    scene.seen("torn metadata", lambda: tear(scene))
    entries_go(scene)
    scene.warm()
    with open(scene.path("cache/.tkbundle/triton"), "r+b") as file:
        file.seek(100)
        file.write(b"damaged")
    started, says = scene.compile()
    scene.ok(started == 1 and '"hit"' in says, "a damaged memory counts as none")


def with_tuned(scene):
    before = scene.seen("a file that a pruning function reads",
                        lambda: scene.write("own/data.txt", "3"), "tuned")
    after = scene.warm("tuned")
    scene.ok(before is not None and after is not None
             and before.count('"hit"') == 2 and after.count('"hit"') == 3,
             "all configurations of an autotuned kernel are hits without Python")


def with_tools(scene):
    ptxas = glob.glob(os.path.join(scene.venv, "**", "nvidia", "bin", "ptxas"),
                      recursive=True)[0]
    scene.write("ptxas", f'#!/bin/sh\nexec {ptxas} "$@"\n')
    os.chmod(scene.path("ptxas"), 0o755)
    scene.options = ["--ptxas", scene.path("ptxas")]
    scene.seen("another ptxas", lambda: scene.append("ptxas", "# more\n"))
    scene.options = []
    triton = os.path.dirname(glob.glob(
        os.path.join(scene.venv, "lib", "python3*", "site-packages", "triton",
                     "knobs.py"))[0])
    os.makedirs(scene.path("other/triton"))
    for name in os.listdir(triton):
        if name == "knobs.py":
            shutil.copy(os.path.join(triton, name), scene.path("other/triton"))
        else:
            os.symlink(os.path.join(triton, name), scene.path(f"other/triton/{name}"))
    scene.folders.append(scene.path("other"))
    scene.seen("another Triton", lambda: scene.append("other/triton/knobs.py", "# more\n"))
    scene.folders.pop()


def with_editable(scene):
    subprocess.run([scene.real, "-m", "venv", "--without-pip", scene.path("venv")],
                   check=True)
    site = glob.glob(scene.path("venv/lib/python3*/site-packages"))[0]
    real = glob.glob(os.path.join(scene.venv, "lib", "python3*", "site-packages"))[0]
    os.mkdir(scene.path("editable"))
    os.rename(scene.path("second/helper.py"), scene.path("editable/helper.py"))
    with open(os.path.join(site, "mine.pth"), "w") as file:
        file.write(f"{real}\n{scene.path('editable')}\n")
    scene.python = scene.path("venv/bin/python3")
    scene.seen("an edited module of an editable install",
               lambda: scene.append("editable/helper.py", "# more\n"))
    os.mkdir(scene.path("elsewhere"))
    shutil.copy(scene.path("editable/helper.py"), scene.path("elsewhere"))

    def install_other():
        with open(os.path.join(site, "a.pth"), "w") as file:
            file.write(scene.path("elsewhere") + "\n")

    scene.seen("a further editable install", install_other)


def main():
    with tempfile.TemporaryDirectory(prefix="tkb-hits-") as folder:
        scene = Scene(sys.argv[1], os.path.realpath(sys.argv[2]), os.path.realpath(folder))
        for part in (with_files, with_places, with_namespace, with_shim, with_entries,
                     with_tuned, with_tools, with_editable):
            part(scene)
        print(f"1..{scene.count}")
        return 1 if scene.failed else 0


sys.exit(main())
