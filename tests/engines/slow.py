# SPDX-License-Identifier: Apache-2.0
"""Units that are still being written, and what a start has compiled."""
import json
import os
import sys
import time

from machines import Machine, contents
from running import serve
from scene import equal, kill_all, read, require, test, wait_until, write

GRAPH = "torch_compile_cache/1/rank_0_0/backbone"

# Appends to a file for a while, then to another one of its unit.
WRITER = """
import os, sys, time
root, seconds = sys.argv[1], float(sys.argv[2])
folder = os.path.join(root, "graphs", "a")
os.makedirs(folder)
for name in ("one", "two"):
    with open(os.path.join(folder, name), "wb", buffering=0) as file:
        end = time.monotonic() + seconds / 2
        while time.monotonic() < end:
            file.write(b"x" * 1000)
            time.sleep(0.05)
        file.write(b"whole")
open(os.path.join(root, "graphs", "other"), "w").write("small")
time.sleep(2)
"""
PROFILE = {"engine": "own", "package": "own", "versions": [], "commands": [],
           "models": [], "set": [], "roots": [
               {"name": "triton", "kernels": 1, "variable": "OWN_TRITON",
                "places": [["HOME", "/triton"]], "rules": []},
               {"name": "own", "variable": "OWN",
                "places": [["HOME", "/own"]],
                "rules": [{"path": "graphs/a", "is": "unit"}]}]}


def own_engine(scene):
    write(scene.path("profiles", "own.json"), json.dumps(PROFILE))
    return {"TKBUNDLE_ENGINES": scene.path("profiles")}


def pulled(scene, number, env):
    """The files that another machine gets."""
    root = scene.path(f"pulled-{number}")
    ended = scene.tkbundle(
        "pull", "a/b", "--remote", scene.remote, "--engine", "own", status=None,
        env={**env, "OWN": root, "OWN_TRITON": root + ".triton"})
    require(ended.status in (0, 3), ended.err)
    return contents(root)


@test("a unit that is being written is not pushed before it is whole, whatever "
      "else is", own_engine)
def _(scene, env):
    started = scene.start(
        sys.executable, "-c", WRITER, scene.path("own"), "5",
        options=["--engine", "own", "--quiet", "1s"], env={
            **env, "OWN": scene.path("own")})
    early = scene.path("own", "early")
    wait_until(lambda: os.path.isdir(scene.path("own", "graphs", "a")),
               "a unit")
    write(early, "early")
    seen = []
    while started.poll() is None:
        found = pulled(scene, len(seen), env)
        whole = [found.get(f"graphs/a/{name}", b"whole") for name in
                 ("one", "two")]
        require(all(data.endswith(b"whole") for data in whole), found.keys())
        equal("graphs/a/one" in found, "graphs/a/two" in found)
        seen.append(found)
    ended = scene.finish(started)
    equal((ended.status, ended.counts()[2:]), (0, ("3", "3")), ended.err)
    require(any("early" in found and "graphs/a/one" not in found
                for found in seen), "nothing was pushed before")
    require("graphs/a/one" in seen[-1] or "graphs/a/one" in
            pulled(scene, "last", env), "it never came")


@test("what a server was writing when it was killed is not pushed", own_engine)
def _(scene, env):
    scene.run("sh", "-c", "mkdir -p $OWN/graphs/a; echo x >$OWN/b; "
              "sleep 4.8; echo half >$OWN/graphs/a/one; kill -9 $$",
              options=["--engine", "own", "--quiet", "4s"], env=env,
              status=137)
    equal(list(pulled(scene, 0, env)), ["b"])


# Writes units and entries of kernels without a pause, and notes when.
BUSY = """
import os, shutil, sys, time
root, kernels, source, notes = sys.argv[1:]
os.makedirs(root, exist_ok=True)
os.makedirs(kernels, exist_ok=True)
keys = sorted(os.listdir(source))
number = 0
while True:
    name = f"unit-{number}"
    with open(os.path.join(root, name), "w") as file:
        file.write("x" * 1000)
    if number % 5 == 0 and number // 5 < len(keys):
        name += " " + keys[number // 5]
        shutil.copytree(os.path.join(source, keys[number // 5]),
                        os.path.join(kernels, keys[number // 5]))
    with open(notes, "a") as file:
        print(time.monotonic(), name, file=file)
    number += 1
    time.sleep(0.1)
"""


@test("killed while it compiles without a pause, run lacks the last quiet time "
      "of kernels, and two of units")
def _(scene):
    quiet, push = 4, 2.5
    env = own_engine(scene)
    started = scene.start(
        sys.executable, "-c", BUSY, scene.path("own"), scene.path("triton"),
        scene.fixture("more"), scene.path("notes"),
        options=["--engine", "own", "--quiet", f"{quiet}s"], env={
            **env, "OWN": scene.path("own"),
            "OWN_TRITON": scene.path("triton")})
    notes = scene.path("notes")
    wait_until(lambda: os.path.exists(notes), "a unit")
    time.sleep(4 * quiet - 0.5)
    end = time.monotonic()
    kill_all(started)

    found = pulled(scene, 0, env)
    keys = os.listdir(scene.path("pulled-0.triton"))
    for line in read(notes).decode().splitlines():
        when, name, *key = line.split()
        age = end - float(when)
        if age > quiet + push:
            require(all(each in keys for each in key), age, key, keys)
        if age > 2 * quiet + push:
            require(name in found, age, name, sorted(found))


@test("push and collect leave out what was changed within --settle", own_engine)
def _(scene, env):
    write(scene.path("own", "graphs", "a", "one"), "x")
    for words in (("push", "a/b", "--remote", scene.remote),
                  ("collect", "-o", "a.tkb")):
        ended = scene.tkbundle(*words, "--engine", "own", "--settle", "1h",
                               env=env, status=4)
        require("graphs/a: busy: 'one' was changed a moment ago" in ended.err,
                ended.err)
        scene.tkbundle(*words, "--engine", "own", "--settle", "1ms", env=env)


@test("a unit without its index is not whole")
def _(scene):
    machine = Machine(scene, "first")
    write(machine.path(GRAPH, "artifact"), "graph")
    write(machine.path("modelinfos", "x.json"), "{}")
    document = machine.push()
    equal((document["pushed"], document["left_out"]), (1, []))
    write(machine.path(GRAPH, "vllm_compile_cache.py"), "{}")
    equal(machine.push()["pushed"], 1)


def kinds(ended):
    last = json.loads(ended.err.splitlines()[-1])
    return {each["kind"]: (each["engine"], each["emitted"], each["used"],
                           each["compiled"]) for each in last["kinds"]}


@test("figures tell by engine and kind what was emitted, used and compiled")
def _(scene):
    options = ("--engine", "vllm", "--json", "--metrics", "figures")
    kernels = scene.fixture("kernels")

    # Of a package that texts name, nothing is counted.
    os.makedirs(scene.path("site", "deep_gemm"))
    first, _, _ = serve(scene, "one", options=options, KERNELS=kernels,
                        PYTHONPATH=scene.path("site"))
    equal(kinds(first), {"kernels": ("vllm", 0, 0, 5),
                         "vllm": ("vllm", 0, 0, 1)})
    second, _, _ = serve(scene, "two", options=options, MORE="traits")
    equal(kinds(second), {"kernels": ("vllm", 5, 0, 0),
                          "vllm": ("vllm", 1, 1, 1)})
    last = json.loads(second.err.splitlines()[-1])
    equal((last["emitted"], last["used"], last["compiled"], last["pushed"]),
          (6, 1, 1, 1))

    lines = scene.read("figures").splitlines()
    for line in ('kind_emitted{ref="a/b",engine="vllm",kind="kernels"} 5',
                 'kind_used{ref="a/b",engine="vllm",kind="vllm"} 1',
                 'kind_compiled{ref="a/b",engine="vllm",kind="vllm"} 1'):
        require("tkbundle_run_" + line in lines, line, lines)
    equal(len([line for line in lines if line.startswith(
        "# HELP tkbundle_run_kind_used")]), 1)


@test("--require-warm lists kernels and units that were compiled, of each "
      "engine")
def _(scene):
    env = own_engine(scene)
    options = ("--engine", "vllm", "--engine", "own", "--require-warm")
    kernels = scene.fixture("kernels")
    cold, _, told = serve(scene, "one", options=options, KERNELS=kernels,
                          **env)
    equal(cold.status, 4, cold.err)
    require("not warm: compiled anew 5 kernels, 1 unit of 'vllm'\n"
            in cold.err, cold.err)
    unit = os.path.join(told["VLLM_CACHE_ROOT"], GRAPH)
    require(f"  made anew: {unit}\n" in cold.err, cold.err)
    equal(cold.err.count("  made anew: "), 6, cold.err)
    warm, _, _ = serve(scene, "one", options=options, **env)
    equal(warm.status, 0, warm.err)

    program = "mkdir -p $OWN; for n in $(seq 60); do echo >$OWN/unit-$n-"
    many = scene.run("sh", "-c", program + "x" * 80 + "; done", options=options,
                     env={**env, "HOME": scene.path("one")}, status=4)
    require("compiled anew 60 units of 'own'" in many.err, many.err)
    listed = many.err.count("  made anew: ")
    require(f"  and {60 - listed} more\n" in many.err, many.err)


@test("a start that adds to a unit that was pulled is not warm, however late the "
      "pull was")
def _(scene):
    serve(scene, "one")
    for wait in ("30s", "0s"):
        tree = scene.path("tree" + wait)
        ended = scene.run(
            "sh", "-c", f"until test -d {tree}/{GRAPH}; do sleep 0.1; done; "
            f"sleep 1; echo x >{tree}/{GRAPH}/more",
            options=["--engine", "vllm", "--require-warm", "--wait", wait,
                     "--cache", "kernels" + wait],
            env={"VLLM_CACHE_ROOT": tree}, status=4)
        require("compiled anew 1 unit of 'vllm'" in ended.err, ended.err)
