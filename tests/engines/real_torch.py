#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows with the real PyTorch, on a machine without a GPU, that torch.compile starts
warm elsewhere: graphs are hits, and no C++ is compiled.

    real_torch.py TKBUNDLE PYTHON [WORK_DIR [MODE...]]

PYTHON has torch. It makes C++ there, with g++. The last line counts the checks.
"""

import json
import os
import sys

from real import check, measure_modes, start

MODEL = """\
import hashlib, json, sys, torch
from torch._dynamo.utils import counters
torch.manual_seed(2026)
model = torch.nn.Sequential(
    torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.LayerNorm(256),
    torch.nn.Linear(256, 64), torch.nn.Softmax(dim=-1)).eval()
compiled = torch.compile(model, **json.loads(sys.argv[1]))
with torch.no_grad():
    result = compiled(torch.arange(512.0).reshape(8, 64) / 512)
inductor = counters["inductor"]
print(json.dumps({
    "hits": inductor["fxgraph_cache_hit"], "misses": inductor["fxgraph_cache_miss"],
    "version": torch.__version__,
    "result": hashlib.sha256(repr(result.tolist()).encode()).hexdigest()}))
"""

# Counted are compiles of kernels. The header that all of them include is left where it
# is: each machine compiles its own, of 120 MB, below $TMPDIR.
COMPILER = """\
#!/bin/sh
case "$1" in
*.cpp) echo "$1" >>%s ;;
esac
exec g++ "$@"
"""

MODES = {
    "default": {},
    "max-autotune": {"mode": "max-autotune"},
    "cpp_wrapper": {"options": {"cpp_wrapper": True}},
}

class Machines:
    """Homes below one folder, a remote that they share, and a compiler that counts."""

    def __init__(self, program, python, work):
        self.program = os.path.abspath(program)
        self.python = os.path.abspath(python)
        self.work = work
        self.log = os.path.join(work, "compiles")
        self.compiler = os.path.join(work, "g++")
        with open(self.compiler, "w", encoding="utf-8") as file:
            file.write(COMPILER % self.log)
        os.chmod(self.compiler, 0o755)

    def compiles(self):
        if not os.path.exists(self.log):
            return 0
        with open(self.log, encoding="utf-8") as file:
            return len(file.readlines())

    def start(self, home, mode):
        home = os.path.join(self.work, home)
        before = self.compiles()
        found, _ = start(
            home,
            [self.program, "run", "--engine", "torch", "--ref", "cpu/" + mode,
             "--remote", os.path.join(self.work, "remote"), "--wait", "60s", "--json",
             "--", self.python, "-c", MODEL, json.dumps(MODES[mode])],
            {"CXX": self.compiler})
        found["compiles"] = self.compiles() - before
        print("%-20s %s" % (os.path.basename(home), found), flush=True)
        return found

    def measure(self, mode):
        cold = self.start(mode + "-cold", mode)
        check(mode + ": the cold start compiles a graph, and C++",
              cold["misses"] > 0 and cold["compiles"] > 0)
        os.rename(os.path.join(self.work, mode + "-cold"),
                  os.path.join(self.work, mode + "-gone"))
        warm = self.start(mode + "-warm", mode)
        check(mode + ": all graphs are hits",
              warm["misses"] == 0 and warm["hits"] == cold["misses"])
        check(mode + ": no C++ is compiled", warm["compiles"] == 0)
        check(mode + ": the same result", warm["result"] == cold["result"])


sys.exit(measure_modes(Machines, MODES))
