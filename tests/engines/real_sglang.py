#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows with the real SGLang, on a machine without a GPU, that it starts warm elsewhere.

    real_sglang.py TKBUNDLE PYTHON [WORK_DIR]

PYTHON has sglang, of which nothing is run but the code that compiles its own kernels, and
what that needs: tvm_ffi, ninja and nvcc. sglang_user.py is the program. It starts cold by
`tkbundle run`, then, where nothing of the first machine is left, on others, each of which
has SGLang and CUDA at another place: by `run` from the remote, and by itself from a bundle
that `collect` made and `emit` wrote. The last line counts the checks.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from real import check, finish_checks, start

USER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "sglang_user.py")

# What SGLang asks of PyTorch, which would be 5 GB, and of itself. Its packages are empty,
# since they import all of it.
STUBS = {
    **{f"sglang/{name}__init__.py": "" for name in ("", "kernels/", "srt/", "srt/utils/")},
    "torch/__init__.py": """
class dtype(str):
    pass
class compiler:
    disable = staticmethod(lambda function: function)
class version:
    hip = None
class cuda:
    is_available = staticmethod(lambda: False)
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return dtype("torch." + name)
""",
    "sglang/srt/utils/common.py": "is_cuda = lambda: True\n",
}


def installed(python):
    """The folder of PYTHON's packages."""
    done = subprocess.run([python, "-c", "import sysconfig; "
                           "print(sysconfig.get_paths()['purelib'])"],
                          check=True, stdout=subprocess.PIPE)
    return done.stdout.decode().strip()


class Machine:
    """A home, and packages and CUDA at a place of their own."""

    def __init__(self, work, name, packages):
        self.home = os.path.join(work, name, "home")
        self.packages = os.path.join(work, name, "packages")
        self.cuda = os.path.join(work, name, "cuda")
        for part in ("sglang/kernels/jit", "sglang/srt/environ.py"):
            here, there = (os.path.join(each, part) for each in (packages, self.packages))
            os.makedirs(os.path.dirname(there), exist_ok=True)
            (shutil.copytree if os.path.isdir(here) else shutil.copy)(here, there)
        for part, text in STUBS.items():
            path = os.path.join(self.packages, part)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        shutil.copytree(os.path.join(packages, "nvidia", "cu13"), self.cuda)
        library = os.path.join(self.cuda, "lib", "libcudart.so")
        if not os.path.exists(library):
            os.symlink("libcudart.so.13", library)
        os.symlink("lib", os.path.join(self.cuda, "lib64"))

    def remove(self):
        shutil.rmtree(os.path.dirname(self.home))


class Machines:
    def __init__(self, program, python, work):
        self.program, self.python, self.work = program, python, work
        self.packages = installed(python)
        self.bundle = os.path.join(work, "a.tkb")

    def start(self, name, *before):
        """Start the program on a new machine, which `before` may have filled."""
        machine = Machine(self.work, name, self.packages)
        if before and before[0] == "emit":
            self.tkbundle(machine, *before)
            before = ()
        found, _ = start(machine.home, [*before, self.python, "-B", USER, machine.packages],
                         self.environment(machine))
        print("%-6s %s" % (name, found), flush=True)
        return machine, found

    def environment(self, machine):
        return {"CUDA_HOME": machine.cuda,
                "LD_LIBRARY_PATH": os.path.join(machine.cuda, "lib"),
                "PATH": os.path.dirname(self.python) + ":" + os.environ["PATH"]}

    def tkbundle(self, machine, *words):
        done = subprocess.run(
            [self.program, *words, "--engine", "sglang"], check=True,
            env={**self.environment(machine), "HOME": machine.home,
                 "TKBUNDLE_CONFIG": "/dev/null"}, stdout=subprocess.PIPE)
        return done.stdout.decode()


def check_warm(name, warm, cold):
    check(name + ": no module is compiled", warm["compiled"] == 0)
    check(name + ": the same modules", warm["result"] == cold["result"])


def check_places(machines, machine, found):
    """By default, the profile's places are those where SGLang looks."""
    shown = json.loads(machines.tkbundle(machine, "config", "--json"))
    roots = {root["name"]: root["path"] for engine in shown["engines"]
             for root in engine["roots"]}
    check("its own kernels are where the profile says", roots["sglang_jit"] == found["jit"])
    check("Triton's cache is where it says",
          roots["triton"] == found["places"].pop("TRITON_CACHE_DIR"))
    check("the caches of others are below SGLang's",
          all(path == roots["sglang"] or path.startswith(roots["sglang"] + "/")
              for path in found["places"].values()))


def main():
    program, python = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory(dir=(sys.argv[3:] or [None])[0]) as work:
        machines = Machines(program, python, work)
        run = [program, "run", "--engine", "sglang", "--ref", "cpu/sglang", "--remote",
               os.path.join(work, "remote"), "--wait", "60s", "--"]
        machine, cold = machines.start("cold", *run)
        check("the cold start compiles all modules",
              cold["compiled"] == cold["modules"] > 0)
        machines.tkbundle(machine, "collect", "-o", machines.bundle)
        machine.remove()
        machine, warm = machines.start("run", *run)
        check_warm("run", warm, cold)
        machine.remove()
        machine, warm = machines.start("emit", "emit", machines.bundle)
        check_warm("emit", warm, cold)
        check_places(machines, machine, warm)
    return finish_checks()


if __name__ == "__main__":
    sys.exit(main())
