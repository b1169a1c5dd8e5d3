#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows with the real PyTorch, on a machine without a GPU, that what one process
compiled is a hit in another one, by Inductor's own remote caches on our remotes.

    real_inductor.py TKBUNDLE PYTHON [WORK_DIR]

PYTHON has torch. It makes C++ there, with g++. The last line counts the checks.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

PROGRAM = """\
import hashlib, json, os, sys
import tkbundle.inductor
tkbundle.inductor.install()
import torch
from torch._dynamo.utils import counters
torch.manual_seed(2026)
model = torch.nn.Sequential(
    torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.LayerNorm(256),
    torch.nn.Linear(256, 64), torch.nn.Softmax(dim=-1)).eval()
with torch.no_grad():
    result = torch.compile(model)(torch.arange(512.0).reshape(8, 64) / 512)
graphs, counts = counters["inductor"], tkbundle.inductor.report()
print(json.dumps({
    "hits": graphs["fxgraph_cache_hit"], "misses": graphs["fxgraph_cache_miss"],
    "remote_hits": counts.hits, "remote_misses": counts.misses,
    "waited_s": round(counts.seconds, 3), "version": torch.__version__,
    "result": hashlib.sha256(repr(result.tolist()).encode()).hexdigest()}))
"""

counts = {True: 0, False: 0}


def check(what, is_so):
    counts[bool(is_so)] += 1
    print("ok  " if is_so else "FAIL", what, flush=True)


class Machines:
    """Homes below one folder, and a remote that they share."""

    def __init__(self, program, python, work):
        self.library = os.path.dirname(os.path.abspath(program))
        self.python = os.path.abspath(python)
        self.work = work

    def start(self, home, remote, **more):
        home = os.path.join(self.work, home)
        os.makedirs(home)
        done = subprocess.run(
            [self.python, "-W", "ignore", "-c", PROGRAM], timeout=600, check=False,
            env={"HOME": home, "TMPDIR": home, "PATH": os.environ["PATH"],
                 "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1",
                 "PYTHONPATH": os.path.join(TREE, "python"),
                 "TKBUNDLE_LIBRARY": self.library, "TKBUNDLE_CONFIG": "/dev/null",
                 "TKBUNDLE_WAIT": "30s", "TKBUNDLE_REMOTE": remote, **more},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lines = [line for line in done.stdout.decode().splitlines()
                 if line.startswith("{")]
        words = done.stderr.decode()
        if done.returncode != 0 or not lines:
            raise SystemExit(f"{home}: status {done.returncode}: {words[-4000:]}")
        found = json.loads(lines[-1])
        found["warnings"] = words.count("tkbundle: ")
        print(f"{os.path.basename(home):<20} {found}", flush=True)
        return found

    def measure(self, name, remote):
        cold = self.start(name + "-cold", remote)
        check(f"{name}: the first process compiles a graph",
              cold["misses"] == 1 and cold["remote_hits"] == 0)
        warm = self.start(name + "-warm", remote)
        check(f"{name}: in a second one, elsewhere, all are hits of the remote",
              (warm["misses"], warm["hits"], warm["remote_misses"]) == (0, 1, 0)
              and warm["remote_hits"] == 2)
        check(f"{name}: the same result", warm["result"] == cold["result"])
        check(f"{name}: no warning", cold["warnings"] + warm["warnings"] == 0)

    def measure_dead(self):
        dead = self.start("dead", "redis://127.0.0.1:1")
        check("a dead remote: the graph is compiled", dead["misses"] == 1)
        check("a dead remote: one warning", dead["warnings"] == 1)


def redis(folder):
    socket = os.path.join(folder, "redis.sock")
    started = subprocess.Popen(
        ["redis-server", "--port", "0", "--save", "", "--unixsocket", socket],
        cwd=folder, stdout=subprocess.DEVNULL)
    while not os.path.exists(socket):
        time.sleep(0.05)
    return started, "redis+unix://" + socket


def main():
    work = tempfile.mkdtemp(prefix="tkbundle-torch-", dir=(sys.argv[3:] or [None])[0])
    server, url = redis(work)
    try:
        machines = Machines(sys.argv[1], sys.argv[2], work)
        machines.measure("redis", url)
        machines.measure("folder", os.path.join(work, "remote"))
        machines.measure_dead()
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(work)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 0 if not counts[False] else 1


sys.exit(main())
