#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows on a GPU that torch.compile starts warm elsewhere, beside PyTorch's own cache.

    engine_torch.py PROGRAM_DIR WORK_DIR [ROUNDS [MODE...]]

PROGRAM_DIR holds tkbundle. A 4-layer Llama of transformers is compiled in the modes,
`default` and `max-autotune`: cold, in place, at the same path after all was lost, and,
where nothing of the first home is left, in turn by `tkbundle run --engine torch` and
by torch.compiler.load_cache_artifacts(), each in an empty home. Seconds are from the
end of the imports to the result; those of tkbundle begin when it does, and those of
PyTorch hold its loading. Then, in turn and alone, each into an empty home: emit of the
whole bundle, and load_cache_artifacts() as the first call of a program that has imported
torch, and called again with all modules there. The last line counts the checks.
"""

import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

from checks import check, finish_checks, run_of


def child(mode):
    import torch
    import transformers
    from torch._dynamo.utils import counters
    if os.environ.get("WORKERS_FIRST"):
        # Wait for them, so that they compile all kernels.
        from torch._inductor.async_compile import AsyncCompile
        AsyncCompile.wait_pool_ready()
    begin = time.time()
    loaded = 0.0
    if os.environ.get("ARTIFACTS_IN"):
        with open(os.environ["ARTIFACTS_IN"], "rb") as file:
            torch.compiler.load_cache_artifacts(file.read())
        loaded = time.time() - begin
    torch.manual_seed(2026)
    config = transformers.LlamaConfig(
        hidden_size=2048, intermediate_size=5632, num_hidden_layers=4,
        num_attention_heads=16, num_key_value_heads=16, vocab_size=32000)
    model = transformers.LlamaForCausalLM(config).half().cuda().eval()
    tokens = torch.arange(256, device="cuda").reshape(2, 128)
    run = torch.compile(model, mode=mode) if mode != "default" else torch.compile(model)
    with torch.no_grad():
        result = run(tokens).logits
        torch.cuda.synchronize()
    seconds = time.time() - begin
    if os.environ.get("ARTIFACTS_OUT"):
        saved = torch.compiler.save_cache_artifacts()
        with open(os.environ["ARTIFACTS_OUT"], "wb") as file:
            file.write(saved[0])
    inductor = counters["inductor"]
    print(json.dumps({
        "seconds": seconds, "loaded": loaded,
        "hits": inductor["fxgraph_cache_hit"], "misses": inductor["fxgraph_cache_miss"],
        "top": hashlib.sha256(result.argmax(-1).cpu().numpy().tobytes()).hexdigest()}),
        flush=True)
    os._exit(0)


# The second call reads and unpacks all again: the first one's files are gone.
LOAD = """
import os, shutil, sys, time
import torch
torch.cuda.init()
with open(sys.argv[1], "rb") as file:
    artifacts = file.read()
for _ in range(2):
    begin = time.time()
    torch.compiler.load_cache_artifacts(artifacts)
    print(time.time() - begin)
    for name in os.listdir(sys.argv[2]):
        shutil.rmtree(os.path.join(sys.argv[2], name))
"""


class Bench:
    def __init__(self, programs, work):
        self.tkbundle = os.path.join(os.path.abspath(programs), "tkbundle")
        self.work = os.path.abspath(work)
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.work)

    def environment(self, home, **others):
        home = os.path.join(self.work, home)
        os.makedirs(home, exist_ok=True)
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("TRITON_", "TORCHINDUCTOR_", "XDG_", "TKBUNDLE"))}
        env.update(HOME=home, TMPDIR=home, **others)
        return env

    def start(self, name, mode, home, is_run, *more, **others):
        env = self.environment(home, **others)
        command = [sys.executable, os.path.abspath(__file__), "--child", mode]
        if is_run:
            command = [self.tkbundle, "run", "--engine", "torch", "--ref", "torch/" + mode,
                       "--remote", os.path.join(self.work, "remote"), "--json",
                       "--wait", "20s", *more, "--"] + command
        done = subprocess.run(command, env=env, capture_output=True, timeout=300, check=False)
        lines = [line for line in done.stdout.decode().splitlines() if line.startswith("{")]
        if not lines:
            print(done.stderr.decode()[-2000:])
            return {"seconds": -1, "misses": -1, "run": {}}
        result = json.loads(lines[-1])
        result["run"] = run_of(done.stderr.decode())
        result["seconds"] += result["run"].get("delay_seconds", 0)
        print("%-14s %-22s %6.1f s  graphs: %d hits, %d misses; loaded in %.2f s; %s" % (
            mode, name, result["seconds"], result["hits"], result["misses"],
            result["run"].get("delay_seconds", result["loaded"]),
            {key: result["run"].get(key) for key in ("emitted", "compiled", "pushed")}
            if is_run else ""), flush=True)
        return result

    @staticmethod
    def check_warm(mode, started, cold):
        check(mode + ": all graphs are hits", started["misses"] == 0)
        check(mode + ": no kernel was compiled", started["run"].get("compiled") == 0)
        check(mode + ": the same result", started.get("top") == cold.get("top"))

    def measure(self, mode, rounds):
        artifacts = os.path.join(self.work, mode + ".artifacts")
        home = mode + "-cold"
        # Each of the two is filled by a cold start with its own settings.
        self.start("cold, saved", mode, mode + "-saved", False, ARTIFACTS_OUT=artifacts)
        shutil.rmtree(os.path.join(self.work, mode + "-saved"))
        cold = self.start("cold", mode, home, True)
        check(mode + ": the cold start was pushed", cold["run"].get("pushed"))
        place = self.start("in place", mode, home, True, "--push", "never")
        check(mode + ": in place, the same result", place.get("top") == cold.get("top"))
        shutil.rmtree(os.path.join(self.work, home))
        again = self.start("run, the same path", mode, home, True, "--push", "never")
        self.check_warm(mode, again, cold)
        shutil.rmtree(os.path.join(self.work, home))
        ours, theirs = [], []
        for number in range(rounds):
            ours.append(self.start("run, elsewhere", mode, "%s-ours%d" % (mode, number), True))
            self.check_warm(mode, ours[-1], cold)
            theirs.append(self.start("load_cache_artifacts", mode,
                                     "%s-theirs%d" % (mode, number), False,
                                     ARTIFACTS_IN=artifacts))
        ratio = median(ours, "seconds") / median(theirs, "seconds")
        print("%s: cold %.1f s, run %.1f s, load_cache_artifacts %.1f s: %.3f; "
              "emitted in %.3f s, loaded in %.3f s; artifacts %d bytes" % (
                  mode, cold["seconds"], median(ours, "seconds"), median(theirs, "seconds"),
                  ratio, median([one["run"] for one in ours], "delay_seconds"),
                  median(theirs, "loaded"), os.path.getsize(artifacts)), flush=True)
        self.measure_steps(mode, rounds, artifacts)


    def measure_steps(self, mode, rounds, artifacts):
        """What takes the place of loading, without what comes before and after."""
        bundle = os.path.join(self.work, mode + ".tkb")
        subprocess.run([self.tkbundle, "pull", "torch/" + mode, "--remote",
                        os.path.join(self.work, "remote"), "-o", bundle],
                       env=self.environment(mode + "-pulled"), check=True)
        emits, first, again = [], [], []
        for number in range(rounds):
            env = self.environment("%s-emit%d" % (mode, number))
            begin = time.time()
            done = subprocess.run([self.tkbundle, "emit", bundle, "--engine", "torch"],
                                  env=env, capture_output=True, check=True)
            emits.append(time.time() - begin)
            env = self.environment("%s-load%d" % (mode, number))
            loads = subprocess.run([sys.executable, "-c", LOAD, artifacts, env["HOME"]],
                                   env=env, capture_output=True, check=True).stdout.split()
            first.append(float(loads[0]))
            again.append(float(loads[1]))
        emit, one, other = (statistics.median(times) for times in (emits, first, again))
        print("%s: %s; emit alone %.3f s; load_cache_artifacts alone %.3f s, %.1f times, "
              "with all modules imported %.3f s, %.1f times" % (
                  mode, done.stdout.decode().strip(), emit, one, one / emit, other,
                  other / emit), flush=True)


def median(results, key):
    return statistics.median(result.get(key, -1) for result in results)


def main():
    bench = Bench(sys.argv[1], sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    # The first process of all reads libraries from the disk.
    bench.start("first of all", "default", "first", False)
    for mode in sys.argv[4:] or ("default", "max-autotune"):
        bench.measure(mode, rounds)
    return finish_checks()


if sys.argv[1:2] == ["--child"]:
    child(sys.argv[2])
else:
    sys.exit(main())
