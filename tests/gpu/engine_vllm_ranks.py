#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows on several GPUs that each rank of a vLLM server starts warm elsewhere.

    engine_vllm_ranks.py PROGRAM_DIR LAB_DIR WORK_DIR [RANKS]

PROGRAM_DIR holds tkbundle, LAB_DIR what engine_vllm.py takes. vLLM is started with
--tensor-parallel-size RANKS (2): by `tkbundle run` cold, then elsewhere, where nothing
of the first home is left, and once more there. All is done in WORK_DIR, which is left.
The last line counts the checks.
"""

import json
import os
import runpy
import shutil
import subprocess
import sys
import time

from checks import check, finish_checks, run_of

TIMEOUT_S = 200

# Ranks talk by NCCL alone, without what all GPUs of a host share.
TALK = {"NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1",
        "NVSHMEM_DISABLE_NVLS": "1", "VLLM_ALLREDUCE_USE_SYMM_MEM": "0"}


def child(lab, ranks):
    """The server. Where ranks are spawned, they import this file under another name."""
    os.environ["SERVE_EXTRA"] = json.dumps({
        "tensor_parallel_size": ranks, "disable_custom_all_reduce": True})
    runpy.run_path(os.path.join(lab, "serve.py"), run_name="__main__")


def start(programs, lab, work, name, ranks):
    """What the server says, and what `tkbundle run` does."""
    home = os.path.join(work, name.split(",")[0])
    os.makedirs(home, exist_ok=True)
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("VLLM_", "TRITON_", "TORCHINDUCTOR_", "XDG_", "TKBUNDLE"))}
    env.update(TALK, HOME=home, PYTHONPATH=os.path.join(work, "site"),
               SERVE_MODEL=os.path.join(lab, "model"),
               CUDA_VISIBLE_DEVICES=",".join(map(str, range(ranks))))
    log = os.path.join(work, name.replace(", ", "-") + ".log")
    begin = time.monotonic()
    with open(log, "w", encoding="utf-8") as err:
        done = subprocess.run(
            [os.path.join(programs, "tkbundle"), "run", "--engine", "vllm", "--ref", "ranks",
             "--remote", os.path.join(work, "remote"), "--json", "--wait", "20s", "--",
             "timeout", "-k", "5", str(TIMEOUT_S), sys.executable, os.path.abspath(__file__),
             "--child", lab, str(ranks)],
            env=env, stdout=subprocess.PIPE, stderr=err, timeout=TIMEOUT_S + 60, check=False)
    with open(log, encoding="utf-8", errors="replace") as file:
        text = file.read()
    said = {}
    for line in done.stdout.decode().splitlines():
        if line.startswith("{"):
            said = json.loads(line)
    run = run_of(text)
    if not said.get("ok"):
        print(text[-4000:])
    print("%-16s ready %6.1f s of %6.1f  %s" % (
        name, said.get("s_engine_ready", -1), time.monotonic() - begin,
        {key: run.get(key) for key in ("emitted", "used", "compiled", "pushed", "left_out",
                                       "saved_seconds", "kinds")}), flush=True)
    return said, run


def entries_of(work):
    """Keys and units' names of all entries of the ref; a kernel has no name."""
    entries = set()
    folder = os.path.join(work, "remote", "ref", "ranks")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            record = json.load(file)
        for entry in record["entries"]:
            entries.add((entry[0], entry[4][1] if len(entry) > 4 else ""))
    return entries


def ranks_of(work, name):
    """The ranks that have graphs, and those that have code compiled ahead of time."""
    graphs, ahead = set(), set()
    root = os.path.join(work, name, ".cache", "tkbundle", "engines", "vllm",
                        "torch_compile_cache")
    for folder, _, names in os.walk(root):
        inside = os.path.relpath(folder, root).split(os.sep)
        if "vllm_compile_cache.py" in names:
            graphs.add(inside[1])
        if inside[0] == "torch_aot_compile" and "model" in names:
            ahead.add(inside[2])
    return sorted(graphs), sorted(ahead)


def main():
    programs, lab, work = (os.path.abspath(path) for path in sys.argv[1:4])
    ranks = int(sys.argv[4]) if len(sys.argv) > 4 else 2
    site = os.path.join(work, "site")
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(site)
    for name in os.listdir(lab):
        if name.endswith(".tar.xz"):
            subprocess.run(["tar", "-C", site, "-xJf", os.path.join(lab, name)], check=True)
    subprocess.run([sys.executable, "-m", "compileall", "-q", "-j", "16", site], check=False)

    cold, run = start(programs, lab, work, "cold", ranks)
    check("cold: the engine starts", cold.get("ok"))
    if not cold.get("ok"):
        return finish_checks()
    check("cold: what it compiled was pushed", run.get("pushed") and not run.get("left_out"))
    wanted = ["rank_%d_0" % rank for rank in range(ranks)]
    have = ranks_of(work, "cold")
    print("ranks with graphs, and with code:", have, flush=True)
    check("cold: each rank has graphs and code", have == (wanted, wanted))
    compiled = run.get("compiled")
    os.rename(os.path.join(work, "cold"), os.path.join(work, "gone"))
    shutil.rmtree(os.path.join(work, "gone"))
    for name in ("elsewhere", "elsewhere, again"):
        before = entries_of(work)
        warm, run = start(programs, lab, work, name, ranks)
        pushed = sorted(entries_of(work) - before)
        print("pushed and new:", pushed, flush=True)
        check(name + ": the engine starts", warm.get("ok"))
        check(name + ": nothing is compiled", run.get("compiled") == 0)
        # What Inductor tunes can differ from rank to rank, and share a file.
        check(name + ": nothing is pushed but what was tuned again",
              all(unit.endswith(".best_config") for _, unit in pushed))
        check(name + ": the same tokens", warm.get("token_ids") == cold.get("token_ids"))
        if name == "elsewhere":
            check("elsewhere: all was emitted", run.get("emitted") == compiled)
            check("elsewhere: each rank has graphs and code",
                  ranks_of(work, "elsewhere") == (wanted, wanted))
        check(name + ": it is ready sooner",
              warm.get("s_engine_ready", 1e9) < cold["s_engine_ready"])
    return finish_checks()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(main())
