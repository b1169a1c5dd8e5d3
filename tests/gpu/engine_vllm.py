#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows on a GPU that a vLLM server starts warm elsewhere, and measures it.

    engine_vllm.py PROGRAM_DIR LAB_DIR WORK_DIR [ROUNDS]

PROGRAM_DIR holds tkbundle. LAB_DIR holds vllm-*.tar.xz, a vLLM that runs on one
GPU, and serve.py and model, which start an engine. All is done in WORK_DIR, which
is left. Prints a table of seconds, and what was checked; the last line counts.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from checks import check, finish_checks, run_of

PROGRAMS, LAB, WORK = (os.path.abspath(path) for path in sys.argv[1:4])
TKBUNDLE = os.path.join(PROGRAMS, "tkbundle")
SITE = os.path.join(WORK, "site")
REMOTE = os.path.join(WORK, "remote")
ROUNDS = int(sys.argv[4]) if len(sys.argv) > 4 else 3
NOBODY = 65534
FIGURES = ("s_vllm_imported", "s_engine_ready", "s_done")


def prepare():
    os.makedirs(SITE)
    for name in os.listdir(LAB):
        if name.endswith(".tar.xz"):
            subprocess.run(["tar", "-C", SITE, "-xJf", os.path.join(LAB, name)], check=True)
    subprocess.run([sys.executable, "-m", "compileall", "-q", "-j", "16", SITE], check=False)


def environment(home, **others):
    """As of a user whose home folder is `home`, who has set nothing else."""
    os.makedirs(home, exist_ok=True)
    result = {key: value for key, value in os.environ.items()
              if not key.startswith(("VLLM_", "TRITON_", "TORCH", "XDG_", "TKBUNDLE"))}
    result.update(HOME=home, PYTHONPATH=SITE, SERVE_MODEL=os.path.join(LAB, "model"), **others)
    return result


SERVE = [sys.executable, os.path.join(LAB, "serve.py")]
RUN = [TKBUNDLE, "run", "--engine", "vllm", "--ref", "llama/test", "--remote", REMOTE,
       "--json", "--wait", "20s", "--"]


def log_of(name):
    return os.path.join(WORK, name.replace(",", "").replace(" ", "-") + ".log")


def launch(name, command, env, user=None):
    with open(log_of(name), "w", encoding="utf-8") as log:
        process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=log,
                                   user=user, group=user,
                                   extra_groups=None if user is None else [])
    process.env = env
    return process


def finish(name, process):
    """The engine's own figures; and, of a run, the last of its documents."""
    out, _ = process.communicate(timeout=400)
    lines = [line for line in out.decode().splitlines() if line.startswith("{")]
    result = json.loads(lines[-1]) if lines else {"ok": False}
    result["run"] = {}
    with open(log_of(name), encoding="utf-8", errors="replace") as log:
        text = log.read()
    result["run"] = run_of(text)
    triton = result.get("triton", {})
    inductor = result.get("inductor", {})
    print("%-26s ready %6.1f s  imported %5.1f  compiled %3s  hits %3s  torch.compile %5s  %s" % (
        name, result.get("s_engine_ready", -1), result.get("s_vllm_imported", -1),
        triton.get("compiles"), triton.get("cache_hits"), result.get("vllm_compile_time_s"),
        {key: inductor[key] for key in inductor if "miss" in key}), flush=True)
    if not result.get("ok"):
        print(text[-3000:])
    if result["run"]:
        print("   run:", {key: value for key, value in result["run"].items()
                          if key not in ("verb", "version", "schema")}, flush=True)
    if 0 < triton.get("compiles", 0) < 10:
        said = subprocess.run([TKBUNDLE, "why", "--last"], env=process.env, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        print(said, flush=True)
        result["signatures"] = sum(map(int, re.findall(r"^(\d+) signature: ", said, re.M)))
    return result


def start(name, command, env, user=None):
    return finish(name, launch(name, command, env, user))


def settings(env):
    """What `run` sets for a command whose environment this is."""
    document = json.loads(subprocess.run(
        [TKBUNDLE, "config", "--engine", "vllm", "--json"], check=True, stdout=subprocess.PIPE,
        env=dict(env, TKBUNDLE_REMOTE=REMOTE)).stdout)
    return {item["variable"]: item["value"] for item in document["engines"][0]["settings"]
            if item["value"] is not None}


def check_warm(name, result, first):
    check(name + ": the engine starts", result.get("ok"))
    check(name + ": Triton compiles nothing", result.get("triton", {}).get("compiles") == 0)
    check(name + ": no graph is compiled",
          result.get("ok") and not result.get("inductor", {}).get("fxgraph_cache_miss"))
    check(name + ": the same tokens", result.get("token_ids") == first.get("token_ids"))


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    prepare()
    home = os.path.join(WORK, "first")
    cold = start("cold", RUN + SERVE, environment(home))
    check("cold: the engine starts", cold.get("ok"))
    if not cold.get("ok"):
        return 1
    check("cold: what it compiled was pushed", cold["run"].get("pushed"))
    base = os.path.join(home, ".cache", "tkbundle", "engines")
    placed = settings(environment(home))
    print("run sets", placed, flush=True)
    check("run says where it has placed the caches",
          placed.get("VLLM_CACHE_ROOT") == base + "/vllm"
          and placed.get("TRITON_CACHE_DIR") == base + "/triton")
    # In turn, since the machine's speed wanders; each elsewhere is another place.
    places, moved = [], []
    for number in range(ROUNDS):
        if os.path.exists(home + ".gone"):
            shutil.rmtree(home, ignore_errors=True)  # what an engine has made there anew
            os.rename(home + ".gone", home)
        places.append(start("warm, in place", SERVE, environment(home, **placed)))
        check_warm("warm, in place", places[-1], cold)
        os.rename(home, home + ".gone")
        other = environment(os.path.join(WORK, "other%d" % number))
        moved.append(start("run, elsewhere", RUN + SERVE, other))
        check_warm("run, elsewhere", moved[-1], cold)
        check("run, elsewhere: all was emitted",
              moved[-1]["run"].get("emitted") == cold["run"].get("compiled"))
        check("run, elsewhere: nothing was compiled anew",
              moved[-1]["run"].get("compiled") == 0)
    # Another user, who may not look where the first one's caches lay.
    os.rename(home + ".gone", home)
    os.chmod(home, 0o700)
    if os.geteuid() == 0:
        other = environment(os.path.join(WORK, "nobody"))
        os.chown(other["HOME"], NOBODY, NOBODY)
        check_warm("another user", start("another user", RUN + SERVE, other, NOBODY), cold)
        check_warm("another user, again", start("another user, again", RUN + SERVE, other, NOBODY),
                   cold)
    # Two servers at once fill one empty root.
    both = environment(os.path.join(WORK, "both"), SERVE_UTIL="0.3")
    pair = [launch("two at once, %d" % number, RUN + SERVE, both) for number in range(2)]
    for number, process in enumerate(pair):
        name = "two at once, %d" % number
        ended = finish(name, process)
        with open(log_of(name), encoding="utf-8", errors="replace") as log:
            text = log.read()
        # vLLM bears no neighbour who takes or frees memory while it measures it.
        disturbed = ("Error in memory profiling" in text or
                     "No available memory for the cache blocks" in text)
        if not ended.get("ok") and disturbed:
            ended = start(name + ", again", RUN + SERVE, both)
        # Nor has it a neighbour's sizes: of what is left of the memory it may make such
        # as are multiples of 16 for one of them alone, which Triton compiles for.
        if "signatures" in ended:
            ended["triton"]["compiles"] -= ended["signatures"]
        check_warm("two at once", ended, cold)
    # A pull that is killed half way leaves nothing that is torn.
    torn = environment(os.path.join(WORK, "torn"))
    for delay in (0.02, 0.05, 0.1):
        process = subprocess.Popen(
            [TKBUNDLE, "pull", "--engine", "vllm", "--remote", REMOTE, "llama/test",
             os.path.join(WORK, "torn", "triton")],
            env=dict(torn, VLLM_CACHE_ROOT=os.path.join(WORK, "torn/.cache/tkbundle/engines/vllm")),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
    check_warm("after kill -9", start("after kill -9", RUN + SERVE, torn), cold)

    # vLLM's own first start leaves its kernels where its second does not look.
    home = os.path.join(WORK, "default")
    default = start("default places, by itself", SERVE, environment(home))
    again = start("default places, run", [TKBUNDLE, "run", "--engine", "vllm", "--json", "--"]
                  + SERVE, environment(home))
    check_warm("default places, run", again, default)

    def median(results, key):
        values = sorted(result.get(key, -1) for result in results)
        return values[len(values) // 2]

    print("\nseconds                  " + "".join("%18s" % key for key in FIGURES))
    for name, results in (("cold, first of all", [cold]), ("warm, in place", places),
                          ("run --engine, elsewhere", moved),
                          ("default places, by itself", [default]),
                          ("default places, run", [again])):
        print("%-25s" % name + "".join("%18.1f" % median(results, key) for key in FIGURES))
    ratio = median(moved, "s_engine_ready") / median(places, "s_engine_ready")
    print("elsewhere / in place: %.3f" % ratio)
    return finish_checks()


sys.exit(main())
