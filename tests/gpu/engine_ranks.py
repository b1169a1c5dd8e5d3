#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows on several GPUs that each rank of a torch.compile program starts warm elsewhere.

    engine_ranks.py PROGRAM_DIR WORK_DIR [RANKS]

PROGRAM_DIR holds tkbundle. RANKS processes (2), a GPU each, compile a layer that is
split between them and reduce its result: cold, then elsewhere, where nothing of the
first home is left. The last line counts the checks.
"""

import glob
import json
import os
import shutil
import subprocess
import sys

from checks import check, finish_checks, run_of


def child():
    import torch
    import torch.distributed as dist
    from torch._dynamo.utils import counters
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    torch.manual_seed(2026 + rank)
    up, down = torch.nn.Linear(512, 1024), torch.nn.Linear(1024, 512)
    up, down = up.half().cuda(), down.half().cuda()

    def layer(x):
        result = down(torch.nn.functional.gelu(up(x)))
        dist.all_reduce(result)
        return torch.softmax(result, dim=-1)

    with torch.no_grad():
        result = torch.compile(layer)(torch.ones(64, 512, dtype=torch.half, device="cuda"))
    torch.cuda.synchronize()
    inductor = counters["inductor"]
    with open(os.path.join(os.environ["RANKS_OUT"], "%d.json" % rank), "w",
              encoding="utf-8") as file:
        json.dump({"hits": inductor["fxgraph_cache_hit"],
                   "misses": inductor["fxgraph_cache_miss"],
                   "result": result.double().sum().item()}, file)
    dist.destroy_process_group()


def start(programs, work, name, ranks):
    """What each rank says, and what `tkbundle run` does."""
    home = os.path.join(work, name)
    os.makedirs(os.path.join(home, "out"))
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("TRITON_", "TORCHINDUCTOR_", "XDG_", "TKBUNDLE"))}
    env.update(HOME=home, TMPDIR=home, RANKS_OUT=os.path.join(home, "out"))
    done = subprocess.run(
        [os.path.join(os.path.abspath(programs), "tkbundle"), "run", "--engine", "torch",
         "--ref", "ranks", "--remote", os.path.join(work, "remote"), "--json",
         "--wait", "20s", "--", sys.executable, "-m", "torch.distributed.run",
         "--standalone", "--nproc-per-node", str(ranks), os.path.abspath(__file__), "--child"],
        env=env, capture_output=True, timeout=300, check=False)
    said = []
    for path in sorted(glob.glob(os.path.join(home, "out", "*.json"))):
        with open(path, encoding="utf-8") as file:
            said.append(json.load(file))
    run = run_of(done.stderr.decode())
    if len(said) != ranks:
        print(done.stderr.decode()[-3000:])
    print("%-10s %s %s" % (name, said, {key: run.get(key) for key in (
        "emitted", "compiled", "pushed", "duration_seconds")}), flush=True)
    return said, run


def main():
    programs, work = sys.argv[1], os.path.abspath(sys.argv[2])
    ranks = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    shutil.rmtree(work, ignore_errors=True)
    cold, run = start(programs, work, "cold", ranks)
    check("cold: all ranks end", len(cold) == ranks)
    check("cold: each compiled a graph", all(one["misses"] for one in cold))
    check("cold: what they compiled was pushed", run.get("pushed"))
    shutil.rmtree(os.path.join(work, "cold"))
    warm, run = start(programs, work, "elsewhere", ranks)
    check("elsewhere: all ranks end", len(warm) == ranks)
    check("elsewhere: all graphs are hits",
          all(one["hits"] and not one["misses"] for one in warm))
    check("elsewhere: no kernel was compiled", run.get("compiled") == 0)
    check("elsewhere: the same results",
          [one["result"] for one in warm] == [one["result"] for one in cold])
    return finish_checks()


if sys.argv[1:2] == ["--child"]:
    child()
else:
    sys.exit(main())
