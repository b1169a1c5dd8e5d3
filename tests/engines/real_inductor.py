#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows with the real PyTorch, on a machine without a GPU, that what one process
compiled is a hit in another one, by Inductor's own remote caches on our remotes.

    real_inductor.py TKBUNDLE PYTHON [WORK_DIR]

Since PyTorch 2.7 also that what torch.compiler.save_cache_artifacts() gives holds
kernels: those of Inductor, for which real ones of a fixture stand, and one that
Triton itself compiles. PYTHON has torch. It makes C++ there, with g++. The last line counts the checks.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

from real import check, finish_checks, start

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

ARTIFACTS = """\
import json, os, shutil, sys
import tkbundle.inductor
tkbundle.inductor.install(artifacts=True)
import torch
from torch._dynamo.utils import counters
verb, file_name, source, support = sys.argv[1:]
if verb == "load":
    with open(file_name, "rb") as file:
        info = torch.compiler.load_cache_artifacts(file.read())
torch.manual_seed(2026)
with torch.no_grad():
    torch.compile(torch.nn.Linear(64, 64).eval())(torch.ones(8, 64))
from torch._inductor.triton_bundler import TritonBundler, triton_cache_dir
from triton import knobs
if verb == "save":
    shutil.copytree(source, triton_cache_dir(0), dirs_exist_ok=True)
    TritonBundler.begin_compile()
    for key in os.listdir(source):
        TritonBundler.put(key, 0)
    TritonBundler.collect()
    sys.path.insert(0, support)
    from triton_kernel import use_driver, want
    use_driver()
    want(4)
    saved, info = torch.compiler.save_cache_artifacts()
    with open(file_name, "wb") as file:
        file.write(saved)
print(json.dumps({
    "ours": len(info.artifacts["tkbundle"]), "root": triton_cache_dir(0),
    "plain_root": knobs.cache.dir, "hits": counters["inductor"]["fxgraph_cache_hit"]}))
"""

class Machines:
    """Homes below one folder, and a remote that they share."""

    def __init__(self, program, python, work):
        self.program = os.path.abspath(program)
        self.library = os.path.dirname(self.program)
        self.python = os.path.abspath(python)
        self.work = work

    def start(self, home, remote, program=PROGRAM, words=()):
        home = os.path.join(self.work, home)
        found, said = start(
            home, [self.python, "-W", "ignore", "-c", program, *words],
            {"PYTHONDONTWRITEBYTECODE": "1",
             "PYTHONPATH": os.path.join(TREE, "python"),
             "TKBUNDLE_LIBRARY": self.library, "TKBUNDLE_WAIT": "30s",
             "TKBUNDLE_REMOTE": remote})
        found["warnings"] = said.count("tkbundle: ")
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
        return cold["version"]

    def measure_dead(self):
        dead = self.start("dead", "redis://127.0.0.1:1")
        check("a dead remote: the graph is compiled", dead["misses"] == 1)
        check("a dead remote: one warning", dead["warnings"] == 1)

    def measure_artifacts(self):
        source = os.path.join(self.work, ".triton", "cache")
        subprocess.run(
            ["tar", "-xzf", os.path.join(TREE, "fixtures", "triton-3.6.0-cpu.tar.gz"),
             "-C", self.work], check=True)
        words = (os.path.join(self.work, "artifacts"), source,
                 os.path.join(TREE, "tests", "support"))
        saved = self.start("saving", "", ARTIFACTS, ("save", *words))
        loaded = self.start("loading", "", ARTIFACTS, ("load", *words))
        check("artifacts: two of them are bundles, of Inductor and of Triton",
              (saved["ours"], loaded["ours"]) == (2, 2))
        check("artifacts: elsewhere the graph is a hit", loaded["hits"] == 1)
        check("artifacts: the kernels of Inductor are on disk there",
              kernels(loaded["root"]) == kernels(source))
        check("artifacts: the kernel of Triton is",
              len(kernels(loaded["plain_root"])) == 1
              and kernels(loaded["plain_root"]) == kernels(saved["plain_root"]))
        check("artifacts: all of them are whole", all(subprocess.run(
            [self.program, "verify", root], stdout=subprocess.DEVNULL,
            check=False).returncode == 0
            for root in (loaded["plain_root"],
                         os.path.dirname(os.path.dirname(loaded["root"])))))
        check("artifacts: no warning", saved["warnings"] + loaded["warnings"] == 0)


def kernels(root):
    return sorted(set(os.listdir(root)) - {".tkbundle"})


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
        version = machines.measure("redis", url)
        machines.measure("folder", os.path.join(work, "remote"))
        machines.measure_dead()
        if not version.startswith("2.6."):
            machines.measure_artifacts()
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(work)
    return finish_checks()


sys.exit(main())
