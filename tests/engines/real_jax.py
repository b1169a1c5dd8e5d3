#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows with the real JAX, on a machine without a GPU, that it starts warm elsewhere.

    real_jax.py TKBUNDLE PYTHON [WORK_DIR]

PYTHON has jax; jax_user.py is the program. It starts cold by `tkbundle run`, then, where
nothing of the first home is left, in others: by `run` from the remote, and with what
`collect` packed and `emit` wrote. Then the same with a cache that JAX keeps to a size, and
last without tkbundle, to see what a copy is worth. The last line counts the checks.
"""

import os
import shutil
import subprocess
import sys
import tempfile

from real import check, finish_checks, start

USER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "jax_user.py")
JAX = {"JAX_PLATFORMS": "cpu", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
DIRECTORY = "JAX_COMPILATION_CACHE_DIR"
PORTABLE = {"JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES": "none"}


def check_warm(name, warm, cold):
    check(name + ": no program is compiled", warm["compiled"] == 0)
    check(name + ": all are in the cache", warm["hits"] == cold["compiled"])
    check(name + ": the same result", warm["result"] == cold["result"])


def main():
    program, python = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory(dir=(sys.argv[3:] or [None])[0]) as work:
        def begin(home, *before, **environment):
            found, said = start(os.path.join(work, home), [*before, python, USER],
                                {**JAX, **environment})
            print("%-7s %s" % (home, found), flush=True)
            return found, said

        def tkbundle(cache, *words):
            subprocess.run([program, *words, "--engine", "jax"], check=True, env={
                "HOME": work, "PATH": os.environ["PATH"], DIRECTORY: os.path.join(work, cache),
                "TKBUNDLE_CONFIG": "/dev/null"})

        def run(ref):
            return [program, "run", "--engine", "jax", "--ref", ref, "--remote",
                    os.path.join(work, "remote"), "--wait", "60s", "--"]

        for ref, bound in (("cpu/jax", {}),
                           ("cpu/bound", {"JAX_COMPILATION_CACHE_MAX_SIZE": "100000000"})):
            cold, _ = begin("cold", *run(ref), **bound)
            check(ref + ": the cold start compiles all", cold["compiled"] > 2)
            check(ref + ": and finds none", cold["hits"] == 0)
            shutil.rmtree(os.path.join(work, "cold"))
            warm, said = begin("run", *run(ref), **bound)
            check_warm(ref, warm, cold)
            check(ref + ": nothing is pushed",
                  "compiled anew 0, pushed 0" in said.splitlines()[-1])
            shutil.rmtree(os.path.join(work, "run"))

        first, second = (os.path.join(work, name) for name in ("first", "second"))
        cold, _ = begin("alone", **PORTABLE, **{DIRECTORY: first})
        bundle = os.path.join(work, "a.tkb")
        tkbundle("first", "collect", "-o", bundle)
        tkbundle("second", "emit", bundle)
        shutil.rmtree(first)
        check_warm("emit", begin("emitted", **PORTABLE, **{DIRECTORY: second})[0], cold)

        begin("default", **{DIRECTORY: first})
        os.rename(first, second + "-copy")
        copied, _ = begin("copied", **{DIRECTORY: second + "-copy"})
        print("a folder that was moved, without tkbundle: %d of %d are compiled again" %
              (copied["compiled"], cold["compiled"]))
    return finish_checks()


sys.exit(main())
