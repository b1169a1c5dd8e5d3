#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `tkbundle compile` to its table of options for modules of Inductor's, with the
real PyTorch.

    real_options.py PROGRAM PYTHON
"""
import os
import sys

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
PTXAS = os.path.join(TREE, "build", "venv", "cuda", "bin", "ptxas")

if __name__ == "__main__":
    os.environ.setdefault("TKB_TEST_PTXAS", PTXAS)
    os.environ["TKB_TEST_TORCH"] = os.path.abspath(sys.argv[2])
    script = os.path.join(TREE, "tests", "compile", "compile_options.py")
    os.execv(sys.executable, [sys.executable, "-B", script, sys.argv[1], TREE, "module",
                              "folder"])
