#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows with the real TileLang, on a machine without a GPU, that it starts warm elsewhere.

    real_tilelang.py TKBUNDLE PYTHON [WORK_DIR]

PYTHON has tilelang with its extra `nvcc`, or nvcc is in PATH; tilelang_user.py is the
program. It starts cold by `tkbundle run`, then, where nothing of the first home is left, in
others: by `run` from the remote, and by itself from a bundle that `collect` made and `emit`
wrote. The last line counts the checks.
"""

import os
import shutil
import subprocess
import sys
import tempfile

from real import check, finish_checks, start

USER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "tilelang_user.py")


def check_warm(name, warm, cold):
    check(name + ": no kernel is compiled", warm["compiled"] == 0)
    check(name + ": the same sources", warm["result"] == cold["result"])


def main():
    program, python = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory(dir=(sys.argv[3:] or [None])[0]) as work:
        def begin(home, *before):
            found, _ = start(os.path.join(work, home), [*before, python, USER], {})
            print("%-6s %s" % (home, found), flush=True)
            return found

        def tkbundle(home, *words):
            environment = {"HOME": os.path.join(work, home), "PATH": os.environ["PATH"],
                           "TKBUNDLE_CONFIG": "/dev/null"}
            subprocess.run([program, *words, "--engine", "tilelang"], env=environment,
                           check=True)

        run = [program, "run", "--engine", "tilelang", "--ref", "cpu/tilelang", "--remote",
               os.path.join(work, "remote"), "--wait", "60s", "--"]
        bundle = os.path.join(work, "a.tkb")
        cold = begin("cold", *run)
        check("the cold start compiles all kernels",
              cold["compiled"] == cold["kernels"] > 0)
        tkbundle("cold", "collect", "-o", bundle)
        shutil.rmtree(os.path.join(work, "cold"))
        check_warm("run", begin("run", *run), cold)
        tkbundle("emit", "emit", bundle)
        check_warm("emit", begin("emit"), cold)
    return finish_checks()


sys.exit(main())
