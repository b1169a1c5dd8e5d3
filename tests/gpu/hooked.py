# SPDX-License-Identifier: Apache-2.0
"""The programs of hooks.py that are not model.py and inductor.py.

    hooked.py kernels         two kernels of Triton for a GPU that is not here
    hooked.py graph           a compiled graph
    hooked.py mixed           a compiled graph, and kernels that Inductor knows nothing of
    hooked.py rank            the same on each of two ranks, one behind the other
    hooked.py bundler CACHE PLACE
                              PyTorch's TritonBundler and the package, in turn

Of `mixed`, ARTIFACTS_IN and ARTIFACTS_OUT are files of PyTorch's cache artifacts. Each
prints one line of JSON.
"""
import json
import os
import pickle
import shutil
import statistics
import sys
import time

import torch
from torch._dynamo.utils import counters

import inductor
import measure

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(os.path.dirname(HERE), "support"))
ROUNDS = 31
QUIET_S = 3  # until what was put has gone up
WIDTH = 512


def plain_kernels():
    """Kernels of the program's own; tells their results."""
    if not torch.cuda.is_available():
        import triton_kernel
        triton_kernel.use_driver()
        return [torch.frombuffer(bytearray(triton_kernel.want(warps).asm["cubin"]),
                                 dtype=torch.uint8) for warps in (4, 8)]
    import model
    x = torch.arange(65_536, device="cuda", dtype=torch.float)
    return [model.add(x, x).cpu(), model.softmax(x.reshape(64, -1)).cpu()]


def kernels():
    results = plain_kernels()
    return {"seconds": measure.seconds_since_start(), "sha256": measure.digest(results)}


def compiled_graph(device):
    """Blocks of inductor.py, or, for a processor, of what PyTorch can fuse there."""
    torch.manual_seed(2026)
    make = inductor.Block if device != "cpu" else lambda: torch.nn.Sequential(
        torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU(), torch.nn.LayerNorm(WIDTH))
    blocks = torch.nn.Sequential(make(), make()).to(device).eval()
    x = torch.randn(4, 256, WIDTH).to(device)
    with torch.no_grad():
        result = torch.compile(blocks)(x).cpu()
        error = (result - blocks(x).cpu()).abs().max().item()
    assert error < 1e-3, error
    return result


def device_of(number=0):
    """The GPU of a rank, if there is one."""
    if not torch.cuda.is_available():
        return "cpu"
    return f"cuda:{number % torch.cuda.device_count()}"


def graph():
    results = [compiled_graph(device_of())]
    return {"seconds": measure.seconds_since_start(), "sha256": measure.digest(results),
            "graph_cache_hits": hits()["hits"]}


def hits():
    return {"hits": counters["inductor"]["fxgraph_cache_hit"]
            + counters["aot_autograd"]["autograd_cache_hit"],
            "misses": counters["inductor"]["fxgraph_cache_miss"]}


def mixed():
    loaded = 0.0
    if os.environ.get("ARTIFACTS_IN"):
        begin = time.monotonic()
        with open(os.environ["ARTIFACTS_IN"], "rb") as file:
            torch.compiler.load_cache_artifacts(file.read())
        loaded = time.monotonic() - begin
    results = [compiled_graph(device_of()), *plain_kernels()]
    seconds = measure.seconds_since_start()
    saved = 0.0
    if os.environ.get("ARTIFACTS_OUT"):
        begin = time.monotonic()
        blob, _ = torch.compiler.save_cache_artifacts()
        saved = time.monotonic() - begin
        with open(os.environ["ARTIFACTS_OUT"], "wb") as file:
            file.write(blob)
    return {"seconds": seconds, "loaded": loaded, "saved": saved,
            "sha256": measure.digest(results), **hits()}


def wait_for_pushes():
    """Until nothing has gone up for a while."""
    import tkbundle.inductor
    before, since = -1, time.monotonic()
    while time.monotonic() - since < QUIET_S:
        puts = tkbundle.inductor.report().puts
        if puts != before:
            before, since = puts, time.monotonic()
        time.sleep(0.1)


def rank():
    import torch.distributed as dist
    import tkbundle
    number = int(os.environ["RANK"])
    device = device_of(number)
    if device != "cpu":
        torch.cuda.set_device(device)
    dist.init_process_group("gloo" if device == "cpu" else "nccl")
    there = torch.zeros(1, device=device)
    for turn in range(2):
        if turn == number:
            # What the block compiled is in the remote when it ends.
            with tkbundle.warm("ranks/triton", os.environ["TRITON_HOME"] + "/.triton/cache"):
                results = [compiled_graph(device), *plain_kernels()]
            wait_for_pushes()
        dist.all_reduce(there)  # the other one waits here
    total = results[0].double().sum().to(device)
    dist.all_reduce(total)
    said = {"rank": number, "sha256": measure.digest(results), "device": device,
            "sum": total.item(), **hits()}
    dist.destroy_process_group()
    return said


class Turns:
    """The bundler and the package, with the same entries, in this process."""

    def __init__(self, folder, place):
        import tkbundle
        from torch._inductor import triton_bundler
        self.package, self.theirs = tkbundle, triton_bundler.TritonBundler
        self.root = folder
        self.keys = sorted(name for name in os.listdir(folder) if name != ".tkbundle")
        self.place = os.path.join(place, f"tkbundle-turns-{os.getpid()}")
        self.times = {}

    def timed(self, name, work):
        begin = time.perf_counter()
        result = work()
        self.times.setdefault(name, []).append((time.perf_counter() - begin) * 1000)
        return result

    def fresh(self):
        shutil.rmtree(self.place, ignore_errors=True)
        os.makedirs(self.place)
        return os.path.join(self.place, "out")

    def check(self, root):
        for key in self.keys:
            there, here = (sorted(os.listdir(os.path.join(one, key)))
                           for one in (self.root, root))
            assert there == here, (key, there, here)

    def pack(self):
        self.theirs.begin_compile()
        for key in self.keys:
            self.theirs.put(key, 0)
        bundle, _ = self.theirs.collect()
        return pickle.dumps(bundle)

    def bundler(self):
        os.environ["TRITON_CACHE_DIR"] = self.root
        packed = self.timed("collect, TritonBundler", self.pack)
        out = os.environ["TRITON_CACHE_DIR"] = self.fresh()
        self.timed("emit, TritonBundler",
                   lambda: self.theirs.read_and_emit(pickle.loads(packed)))
        self.check(out)
        return len(packed)

    def ours(self):
        out = self.fresh()
        path = os.path.join(self.place, "kernels.tkb")
        with self.package.recording(self.root) as recording:
            for key in self.keys:
                recording.put(key, 0)
            self.timed("collect, package", lambda: recording.collect(path))
        self.timed("emit, package", lambda: self.package.emit(path, out))
        self.check(out)
        return os.path.getsize(path)

    def run(self):
        try:
            for number in range(-1, ROUNDS):
                if number == 0:
                    self.times = {}
                sizes = self.bundler(), self.ours()
        finally:
            shutil.rmtree(self.place)
        return {"entries": len(self.keys), "sizes": sizes, "cores": os.cpu_count(),
                **{name: round(statistics.median(times), 3)
                   for name, times in self.times.items()}}


def main():
    verb, *words = sys.argv[1:]
    said = Turns(*words).run() if verb == "bundler" else {
        "kernels": kernels, "graph": graph, "mixed": mixed, "rank": rank}[verb]()
    print(json.dumps(said), flush=True)


main()
