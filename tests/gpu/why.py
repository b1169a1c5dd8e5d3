#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows on a GPU that `tkbundle why --last` names two causes of cold starts.

    why.py torch PROGRAM_DIR WORK_DIR PTXAS
    why.py vllm PROGRAM_DIR LAB_DIR WORK_DIR

PROGRAM_DIR holds tkbundle. A torch.compile program starts on another's kernels without
its graphs. Inductor's workers compiled those, with the version of PyTorch's ptxas in
their keys; the process that compiles without them has that of Triton's own ptxas, which
is PTXAS here: of another version than PyTorch's. A vLLM that another user has started is
started under another $HOME. Both are compiled anew; the page names the cause, and after
its advice nothing is. LAB_DIR is that of engine_vllm.py. The last line counts the checks.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys

from checks import check, finish_checks

HERE = os.path.dirname(os.path.abspath(__file__))
KIND = sys.argv[1]
PATHS = [os.path.abspath(path) for path in sys.argv[2:]]
if KIND == "torch":
    PROGRAMS, WORK, PTXAS = PATHS
    LAB = []
else:
    PROGRAMS, *LAB, WORK = PATHS
TKBUNDLE = os.path.join(PROGRAMS, "tkbundle")
SITE = os.path.join(WORK, "site")


def environment(home, **others):
    os.makedirs(home, exist_ok=True)
    result = {key: value for key, value in os.environ.items()
              if not key.startswith(("VLLM_", "TRITON_", "TORCH", "XDG_", "TKBUNDLE"))}
    result.update(HOME=home, TMPDIR=home, **others)
    if LAB:
        result.update(PYTHONPATH=SITE, SERVE_MODEL=os.path.join(LAB[0], "model"))
    return result


def start(name, command, env, *options):
    """Run the command by tkbundle; what `why --last` says of it."""
    line = [TKBUNDLE, "run", "--wait", "30s", *options, "--", *command]
    ended = subprocess.run(line if options else command, env=env, check=False,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(name + ": it starts", ended.returncode == 0)
    if ended.returncode != 0:
        print(ended.stdout.decode(errors="replace")[-3000:])
    if not options:
        return {}
    asked = subprocess.run([TKBUNDLE, "why", "--last"], env=env, check=False,
                           stdout=subprocess.PIPE, text=True)
    print("--- " + name + "\n" + "\n".join(asked.stdout.splitlines()[:30]), flush=True)
    told = subprocess.run([TKBUNDLE, "why", "--last", "--json"], env=env, check=False,
                          stdout=subprocess.PIPE, text=True)
    return json.loads(told.stdout or "{}")


def remote(name):
    return "--remote", os.path.join(WORK, "remote-" + name), "--ref", "why/" + name


def of_reason(document, reason):
    return [made for made in document.get("made", []) if made["reason"] == reason]


def package(name):
    return os.path.dirname(importlib.util.find_spec(name).origin)


def version(ptxas):
    return subprocess.run([ptxas, "--version"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.splitlines()[-1]


def make_triton():
    """A Triton in SITE whose own ptxas is PTXAS, and all else the installed one's."""
    for folder, _, names in os.walk(package("triton")):
        here = os.path.join(SITE, "triton", os.path.relpath(folder, package("triton")))
        os.makedirs(here)
        for name in names:
            own = os.path.join(folder, name)
            os.symlink(PTXAS if own.endswith("nvidia/bin/ptxas") else own,
                       os.path.join(here, name))


def torch():
    program = [sys.executable, os.path.join(HERE, "engine_torch.py"), "--child", "default"]
    make_triton()
    versions = {"PyTorch's": version(os.path.join(package("torch"), "bin", "ptxas")),
                "Triton's own": version(os.path.join(package("triton"), "backends",
                                                     "nvidia", "bin", "ptxas")),
                "PTXAS": version(PTXAS)}
    print(versions, flush=True)
    check("PyTorch's ptxas is not PTXAS", versions["PyTorch's"] != versions["PTXAS"])

    def home(name, **others):
        return environment(os.path.join(WORK, name), PYTHONPATH=SITE,
                           PYTHONDONTWRITEBYTECODE="1", **others)

    start("cold", program, home("one", WORKERS_FIRST="1"), *remote("kernels"))
    again = start("on kernels alone", program, home("two", TORCHINDUCTOR_COMPILE_THREADS="1"),
                  *remote("kernels"))
    found = of_reason(again, "ptxas")
    check("on kernels alone: kernels were compiled anew", again.get("compiled"))
    check("on kernels alone: the cause is ptxas", found)
    check("on kernels alone: the advice is TRITON_PTXAS_PATH or run --engine torch",
          found and "TRITON_PTXAS_PATH=/" in found[0]["advice"]
          and "run --engine torch" in found[0]["advice"])
    engine = ("--engine", "torch", *remote("engine"))
    start("as advised, cold", program, home("three", WORKERS_FIRST="1"), *engine)
    warm = start("as advised", program, home("four"), *engine)
    check("as advised: nothing is compiled for a ptxas", not of_reason(warm, "ptxas"))
    kernels = [made for made in warm.get("made", []) if made["kind"] == "kernels"]
    check("as advised: no kernel is compiled", warm.get("emitted") and not kernels)


def vllm():
    os.makedirs(SITE)
    for name in os.listdir(LAB[0]):
        if name.endswith(".tar.xz"):
            subprocess.run(["tar", "-C", SITE, "-xJf", os.path.join(LAB[0], name)], check=True)
    serve = [sys.executable, os.path.join(LAB[0], "serve.py")]
    one = environment(os.path.join(WORK, "one"))
    start("cold, without run", serve, one)
    # The volume stays, the user's home folder is another one.
    caches = {"VLLM_CACHE_ROOT": os.path.join(one["HOME"], ".cache", "vllm"),
              "TRITON_CACHE_DIR": os.path.join(one["HOME"], ".triton", "cache")}
    two = environment(os.path.join(WORK, "two"), **caches)
    again = start("another home", serve, two, "--engine", "vllm", "--push", "never")
    found = of_reason(again, "home")
    check("another home: the cause is $HOME", found)
    check("another home: VLLM_CONFIG_ROOT is named",
          found and "VLLM_CONFIG_ROOT" in found[0]["detail"])
    check("another home: the advice is run --engine vllm, with a remote",
          found and "run --engine vllm" in found[0]["advice"])
    engine = ("--engine", "vllm", *remote("vllm"))
    start("as advised, cold", serve, environment(os.path.join(WORK, "three")), *engine)
    warm = start("as advised", serve, environment(os.path.join(WORK, "four")), *engine)
    check("as advised: nothing is compiled anew", warm.get("compiled") == 0)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    {"torch": torch, "vllm": vllm}[KIND]()
    return finish_checks()


sys.exit(main())
