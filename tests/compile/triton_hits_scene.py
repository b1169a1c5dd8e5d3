# SPDX-License-Identifier: Apache-2.0
"""A kernel whose hits are counted in starts of Python. For triton_hits*.py."""
import json
import os
import subprocess
import sys
import tempfile
import time

from tap import Tap

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


class Scene(Tap):
    def __init__(self, program, sources, folder, count=0):
        super().__init__(count)
        self.program, self.folder = os.path.realpath(program), folder
        self.sources = os.path.realpath(sources)
        self.venv = os.path.join(self.sources, "build", "venv")
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

    def compile(self, kernel="add", inputs=None):
        """How many Pythons were started, and what it says."""
        inputs = inputs or [f"{self.path('own/kernels.py')}:{kernel}", "--signature", SIGNATURE]
        open(self.starts, "w").close()
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("TRITON_", "TKBUNDLE_", "PYTHON"))}
        env.update(HOME=self.folder, TMPDIR=self.path("temporary"),
                   PYTHONDONTWRITEBYTECODE="1",
                   PYTHONPATH=os.pathsep.join(self.folders), **self.variables)
        done = subprocess.run(
            [self.program, "compile", *inputs, "--target", "cuda:90", "--json",
             "--cache", self.path("cache"), "--python", self.python, *self.options],
            env=env, text=True, check=False, stdin=subprocess.DEVNULL, cwd=self.place,
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

    def seen(self, what, change, kernel="add"):
        """A hit starts nothing; after the change it does."""
        before = self.warm(kernel)
        change()
        started, _says = self.compile(kernel)
        self.ok(before is not None and started > 0,
                f"{what} is seen" + ("" if before else ", and a hit starts no Python"))
        return before


def main(parts):
    """Run the parts, each in a scene of its own."""
    count = failed = 0
    for part in parts:
        with tempfile.TemporaryDirectory(prefix="tkb-hits-") as folder:
            scene = Scene(sys.argv[1], os.path.realpath(sys.argv[2]),
                          os.path.realpath(folder), count)
            part(scene)
            count, failed = scene.count, failed + scene.failed
    print(f"1..{count}")
    return 1 if failed else 0
