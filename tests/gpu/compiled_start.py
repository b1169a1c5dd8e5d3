#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows on a GPU that a start with what was compiled without one compiles nothing.

    compiled_start.py PROGRAM_DIR WORK_DIR [PROGRAM...]

PROGRAM_DIR holds tkbundle. PROGRAM is `triton`, `inductor` or `max-autotune`; all of
them are proved where none is named. Triton's autotuned kernels (model.py) and a torch.compile
program (inductor.py; default and max-autotune) are started cold. Then `tkbundle
compile`, with no GPU in sight, makes all kernels anew: from the list model.json, and
from the modules that Inductor wrote. With these each program is started again where
its cache was: with Inductor's graphs, and without, as where only the kernels are known.
There max-autotune compares templates anew, and may choose some that it had not compiled before.
Every process counts what Triton compiles; a kernel that is compiled is named. All is
done in WORK_DIR, which is left. The last line counts the checks.
"""

import collections
import json
import os
import shutil
import subprocess
import sys

from checks import check, finish_checks

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "python")
TIMEOUT_S = 200


def target():
    """Of the GPU that is here, without PyTorch in this process."""
    done = subprocess.run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"],
                          stdout=subprocess.PIPE, check=True)
    return "cuda:" + done.stdout.decode().split()[0].replace(".", "")


class Program:
    """A program and its cache, which has one place for all starts."""

    def __init__(self, work, name, script, **settings):
        self.name, self.script = name, script
        self.work = os.path.join(work, name)
        self.home = os.path.join(self.work, "home")
        self.cache = os.path.join(self.work, "cache")
        self.settings = settings
        os.makedirs(self.home)

    @property
    def kernels(self):
        return os.path.join(self.cache, "triton", "0")

    def environment(self):
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("TRITON_", "TORCHINDUCTOR_", "XDG_", "TKBUNDLE"))}
        return dict(env, HOME=self.home, **self.settings)

    def start(self, what):
        """What the program says, and the names of what it compiled."""
        compiled = os.path.join(self.work, what.replace(" ", "-") + ".compiled")
        env = self.environment()
        env.update(PYTHONPATH=os.pathsep.join([PACKAGE, os.path.join(HERE, "counted")]),
                   HOOKS_COMPILED=compiled, TORCHINDUCTOR_CACHE_DIR=self.cache)
        if self.script == "model.py":
            env["TRITON_CACHE_DIR"] = self.kernels
        log = os.path.join(self.work, what.replace(" ", "-") + ".log")
        with open(log, "w", encoding="utf-8") as err:
            done = subprocess.run([sys.executable, "-B", os.path.join(HERE, self.script)],
                                  env=env, stdout=subprocess.PIPE, stderr=err,
                                  timeout=TIMEOUT_S, check=False)
        lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
        check(f"{self.name}, {what}: runs, with results that are right",
              done.returncode == 0 and lines)
        if done.returncode != 0:
            with open(log, encoding="utf-8", errors="replace") as file:
                print(file.read()[-2000:])
        names = []
        if os.path.exists(compiled):
            with open(compiled, encoding="utf-8") as file:
                names = file.read().split()
        said = json.loads(lines[-1]) if lines else {}
        print(f"{self.name}, {what}: {len(names)} compiled, {said}", flush=True)
        return names

    def set_aside(self, what):
        aside = os.path.join(self.work, what.replace(" ", "-"))
        os.rename(self.cache, aside)
        return aside


def compile_for(programs, program, cold, made):
    """Compile all kernels of a cold start into the folder `made`, without a GPU."""
    source = cold
    if program.script == "model.py":
        source = os.path.join(HERE, "model.json")
    env = program.environment()
    env["CUDA_VISIBLE_DEVICES"] = ""
    done = subprocess.run(
        [os.path.join(programs, "tkbundle"), "compile", source, "--target", target(),
         "--cache", made, "--keep-going", "--python", sys.executable, "--json"],
        env=env, stdout=subprocess.PIPE, timeout=2 * TIMEOUT_S, check=False)
    told = json.loads(done.stdout)
    print(f"{program.name}: {told['compiled']} compiled, {told['hits']} hits, "
          f"{told['failed']} failed", flush=True)
    for kernel in [kernel for kernel in told["kernels"] if kernel["message"]][:8]:
        print(f"    {kernel['input']}: {kernel['message'][:200]}")
    check(f"{program.name}: all is compiled without a GPU", done.returncode == 0)


def is_kernel(folder):
    return any(name.startswith("__grp__") for name in os.listdir(folder))


def check_start(program, what, cold, is_tuned_anew=False):
    """Where graphs are compiled anew with max-autotune, other templates may win than did
    cold; those no one can know."""
    before = set(os.listdir(program.kernels))
    names = program.start(what)
    again = []
    for name, times in collections.Counter(names).most_common(8):
        print(f"    {times} × {name}")
    for key in sorted(set(os.listdir(program.kernels)) - before):
        folder = os.path.join(program.kernels, key)
        is_known = os.path.exists(os.path.join(cold, "triton", "0", key))
        if is_known and is_kernel(folder):
            again.append(key)
        print(f"    {key} ({'cold, too' if is_known else 'here alone'}): "
              f"{' '.join(sorted(os.listdir(folder)))[:120]}", flush=True)
    if is_tuned_anew:
        check(f"{program.name}, {what}: nothing that was compiled cold is compiled", not again)
    else:
        check(f"{program.name}, {what}: nothing is compiled", not names)
    program.set_aside(what)


def leave_out_kernels(folder, names):
    return {"triton"} if "triton" in names and "fxgraph" in names else set()


def prove(programs, program):
    check(f"{program.name}, cold: kernels are compiled", program.start("cold"))
    cold = program.set_aside("cold cache")
    made = os.path.join(program.work, "made")
    compile_for(programs, program, cold, made)

    shutil.copytree(made, program.kernels)
    check_start(program, "with kernels", cold, program.name == "max-autotune")
    if program.script == "model.py":
        return
    shutil.copytree(cold, program.cache, ignore=leave_out_kernels)
    shutil.copytree(made, program.kernels)
    check_start(program, "with kernels and graphs", cold)


def main():
    programs, work = (os.path.abspath(path) for path in sys.argv[1:3])
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    for program in (Program(work, "triton", "model.py"),
                    Program(work, "inductor", "inductor.py"),
                    Program(work, "max-autotune", "inductor.py",
                            TORCHINDUCTOR_MAX_AUTOTUNE="1")):
        if not sys.argv[3:] or program.name in sys.argv[3:]:
            prove(programs, program)
    return finish_checks()


if __name__ == "__main__":
    sys.exit(main())
