# SPDX-License-Identifier: Apache-2.0
"""Breaks starts in known ways, and asks `tkbundle why --last` what it was.

Each breakage is one thing that differs from what was there: a part of a kernel's
metadata, IR or PTX, of vLLM's factors, of a graph of Inductor's.
"""
import base64
import hashlib
import json
import os
import re
import shutil
import sys

from machines import GRAPH, TORCH, VLLM, Machine, full
from scene import Skip, equal, files_below, read, require, test

HERE = os.path.dirname(os.path.realpath(__file__))
COMPILER = os.path.join(HERE, "compiler.py")
KEY = "5DJUWXT2"  # of add_kernel in the fixture
SECRET = "sk-very-secret"


def compiling(*words):
    return (sys.executable, "-B", COMPILER, *words)


def last(scene, **more):
    """What `why --last` says, as a document and for people."""
    document = scene.tkbundle("why", "--last", "--json", **more)
    return json.loads(document.out), scene.tkbundle("why", "--last", **more).out


def one_made(scene, reason, *says, **more):
    """The last start made one kernel, for this reason."""
    document, words = last(scene, **more)
    made, = document["made"]
    equal((made["reason"], document["reasons"]), (reason, {reason: 1}), words)
    for text in says:
        require(text in words, text, words)
    return made


def kernel_scene(scene, *edits, **more):
    root = scene.fixture("here")
    scene.tkbundle("relocate", root)
    scene.run(*compiling("kernel", root, KEY, *edits), options=("--cache", root), **more,
              status=0)
    return root


def seed(what, edits, reason, *says):
    @test(f"a kernel with {what}: the page says '{reason}'")
    def _(scene):
        kernel_scene(scene, *edits)
        made = one_made(scene, reason, *says)
        equal(made["name"], "add_kernel")


seed("another ptxas", (".ptx", ".version 8.7", ".version 9.0"), "ptxas",
     "12.8 there, 13.0 here", "TRITON_PTXAS_PATH", "run --engine torch")
seed("a variable that Triton takes into its key",
     (".json", '"enable_fp_fusion"',
      '"DISABLE_PTXAS_OPT": "1", "enable_fp_fusion"'),
     "environment", "not set there, 1 here", "unset DISABLE_PTXAS_OPT")
for name, value, edits in (
        ("TRITON_DEFAULT_FP_FUSION", "false",
         (".json", '"enable_fp_fusion": true', '"enable_fp_fusion": false')),
        ("TRITON_DISABLE_LINE_INFO", "true", (".source", "%at", "%0at")),
        ("TRITON_F32_DEFAULT", "ieee",
         (".json", 'precision": "tf32"', 'precision": "ieee"',
          ".source", "arith.addf", "arith.addf ieee")),
        ("TRITON_OVERRIDE_ARCH", "sm80", (".json", '"sm90"', '"sm80"'))):
    seed(f"{name}, which decides other parts, too",
         (*edits, ".json", '"name"', f'"{name}": "{value}", "name"'),
         "environment", f"{name}: not set there, {value} here",
         f"unset {name}")
seed("assertions in its code",
     (".json", '"debug": false', '"debug": true',
      ".source", "arith.addf", "tt.assert"), "options",
     "debug: false there, true here")
seed("another Triton", (".json", "3.6.0", "3.7.1"), "triton",
     "3.6.0 there, 3.7.1 here", "install Triton 3.6.0")
seed("another architecture", (".json", '"arch": 90', '"arch": 100'), "target",
     "cuda:90 there, cuda:100 here")
seed("another architecture, and an option that up to Triton 3.3 follows from it",
     (".json", '"arch": 90', '"arch": 80',
      ".json", '"name"', '"deprecated_fp8_dtypes": [], "name"'), "target",
     "target: cuda:90 there, cuda:80 here\n")
seed("more warps", (".json", '"num_warps": 4', '"num_warps": 8'), "options",
     "num_warps: 4 there, 8 here")
seed("another constant",
     (".source", "constant 1024 : i32", "constant 512 : i32"), "constants",
     "1024 there, 512 here")
seed("another source", (".source", "arith.addf", "arith.mulf"), "source",
     "arith.addf", "arith.mulf")
seed("a source that begins on another line",
     (".source", 'kernels.py":23:', 'kernels.py":42:'), "source",
     "first line: 23 there, 42 here")
seed("its code on another line, as where a comment was added",
     (".source", 'kernels.py":25:', 'kernels.py":26:'), "source",
     "the same code is at other places")
seed("another type of an argument",
     (".ttir", "%n: i32", "%n: i64"), "signature", "i32", "i64")
seed("nothing else that is recorded", (), "unknown",
     "what is recorded is equal")


def ptxas(scene, name, version):
    return scene.write(name, f"Cuda compilation tools, release {version[:4]}, "
                       f"V{version}\n")


def seed_start(what, find, reason, *says):
    """Of a kernel, nothing that is recorded differs; of the starts, something."""
    @test(f"a kernel after a start with {what}: the page says '{reason}'")
    def _(scene):
        before, here = find(scene)
        root = scene.fixture("here")
        scene.tkbundle("relocate", root)
        for words, env in ((("-c", "pass"), before),
                           ((COMPILER, "kernel", root, KEY), here)):
            scene.run(sys.executable, "-B", *words, options=("--cache", root), env=env,
                      status=0)
        one_made(scene, reason, "what is recorded is equal", *says)


seed_start("another Triton", lambda scene: (
    {"PYTHONPATH": packages(scene, "old", library=b"1")[0]},
    {"PYTHONPATH": packages(scene, "new", library=b"2", version="3.7.1")[0]}),
    "triton", "probably Triton: 3.6.0 in the start before, 3.7.1 here",
    "install Triton 3.6.0")
seed_start("another build of Triton", lambda scene: (
    {"PYTHONPATH": packages(scene, "old", library=b"1")[0]},
    {"PYTHONPATH": packages(scene, "new", library=b"2")[0]}),
    "libtriton", "probably libtriton: ", "install the same wheel")
seed_start("another ptxas", lambda scene: (
    {"TRITON_PTXAS_PATH": ptxas(scene, "old", "12.8.93")},
    {"TRITON_PTXAS_PATH": ptxas(scene, "new", "13.0.88")}),
    "ptxas", "probably ptxas: 12.8.93 ", "13.0.88 ", "TRITON_PTXAS_PATH")
seed_start("the same ptxas at another path", lambda scene: (
    {"TRITON_PTXAS_PATH": ptxas(scene, "old", "12.8.93")},
    {"TRITON_PTXAS_PATH": ptxas(scene, "new", "12.8.93")}),
    "unknown", "what is left")
seed_start("another variable", lambda _: ({"TRITON_F32_DEFAULT": "ieee"}, {}),
           "environment", "probably TRITON_F32_DEFAULT: ieee in the start "
           "before, not set here", "set TRITON_F32_DEFAULT=ieee")
seed_start("another path", lambda _: ({"CUDA_HOME": "/usr/local/cuda"},
                                      {"CUDA_HOME": "/opt/cuda"}),
           "path", "probably CUDA_HOME: /usr/local/cuda in the start before, "
           "/opt/cuda here", "set CUDA_HOME=/usr/local/cuda")
seed_start("another libdevice",
           lambda _: ({"TRITON_LIBDEVICE_PATH": "/a/libdevice.10.bc"},
                      {"TRITON_LIBDEVICE_PATH": "/b/libdevice.10.bc"}),
           "path", "probably TRITON_LIBDEVICE_PATH: /a/libdevice.10.bc in the "
           "start before, /b/libdevice.10.bc here",
           "set TRITON_LIBDEVICE_PATH=/a/libdevice.10.bc")
seed_start("another GPU", lambda _: ({"TKBUNDLE_GPU": "NVIDIA H100,580"},
                                     {"TKBUNDLE_GPU": "NVIDIA H200,580"}),
           "gpu", "probably gpu: NVIDIA H100 in the start before, NVIDIA H200 "
           "here", "a machine with this GPU")
seed_start("the same of all that is noted", lambda _: ({}, {}), "unknown",
           "what is left")


@test("a kernel of Inductor with nothing else that differs: the ptxas of its key")
def _(scene):
    machine = Machine(scene, "one", TORCH, engine="torch")
    root = machine.path("triton/0")
    for key, edits, reason, says in (
            ("3ZMFR5NZ", (), "ptxas", "PyTorch's in their keys"),
            ("C5SROS2B", (".source", "c5nsflqgsgue", "c5nsflqgsgua"), "unknown",
             "what is recorded is equal (Triton, arch, code, lines")):
        scene.run(*compiling("kernel", root, key, *edits), options=("--engine", "torch"),
                  env=machine.environment, status=0)
        made = one_made(scene, reason, says, env=machine.environment)
        require(("run --engine torch" in made["advice"]) == (reason == "ptxas"), made)


def start_with_new_kernel(scene, **named):
    """Run a command that compiles a kernel into an empty cache."""
    root = scene.fixture("here")
    other = scene.path("there")
    os.rename(root, other)
    os.makedirs(root)
    kernel, = (name for name in os.listdir(other) if name.startswith(KEY))
    scene.run("cp", "-r", os.path.join(other, kernel), root,
              options=("--cache", root), **named)


@test("a kernel that nothing is like: nobody has pushed it")
def _(scene):
    start_with_new_kernel(scene)
    one_made(scene, "not-in-bundle", "let CI, or a first server, run")


@test("a kernel that the remote may have, and no pull brings: 'not-pulled'")
def _(scene):
    start_with_new_kernel(scene, remote="redis://127.0.0.1:1/0")
    one_made(scene, "not-pulled", "cannot connect", "--wait")


@test("a kernel that a policy, which is not there, keeps from being pulled: the same")
def _(scene):
    start_with_new_kernel(scene, env={"TKBUNDLE_TRUST": scene.path("none")})
    one_made(scene, "not-pulled", "there is no policy")


@test("a kernel that the remote has, and the policy does not trust")
def _(scene):
    key = scene.path("ci.pem")
    policy = scene.path("policy")
    scene.tkbundle("key", "new", key)
    scene.write(policy, "ci.key = ci.pem.pub\nci.publish = *\n", 0o600)
    scene.tkbundle("push", "a/b", scene.fixture("pushed"), "--remote", scene.remote)
    start_with_new_kernel(scene, env={"TKBUNDLE_TRUST": policy})
    one_made(scene, "untrusted", "no key of the policy has signed it",
             "tkbundle sign")


@test("a kernel that the remote has, and damaged: 'damaged'")
def _(scene):
    scene.tkbundle("push", "a/b", scene.fixture("pushed"), "--remote", scene.remote)
    blob, = (path for _, path in
             files_below(scene.path("remote", "cas")))
    os.chmod(blob, 0o600)
    with open(blob, "r+b") as file:
        file.seek(os.path.getsize(blob) // 2)
        file.write(bytes(16))
    start_with_new_kernel(scene)
    one_made(scene, "damaged", "tkbundle verify", "--repair")


def make_graph(scene, machine, before, after, edits, env):
    """vLLM compiles its graph once more: its factors are edited."""
    inner = os.path.relpath(machine.path(GRAPH), machine.path(os.path.dirname(
        os.path.dirname(GRAPH))))
    edits = [(os.path.join(inner, "cache_key_factors.json"), *edit) for edit in edits]
    scene.run(
        *compiling("folder", before, after, *(word for edit in edits for word in edit),
                   os.path.join(inner, "vllm_compile_cache.py"),
                   os.path.basename(before), os.path.basename(after)),
        options=("--engine", "vllm"), env={**machine.environment, **env}, status=0)


def graph_scene(scene, *edits, **more):
    machine = Machine(scene, "one", VLLM)
    before = machine.path(os.path.dirname(os.path.dirname(GRAPH)))
    make_graph(scene, machine, before, before[:-1] + "b", edits, more)
    return machine


def seed_graph(what, edits, reason, *says):
    @test(f"vLLM's graph with {what}: the page says '{reason}'")
    def _(scene):
        machine = graph_scene(scene, *edits)
        made = one_made(scene, reason, *says, env=machine.environment)
        equal(made["kind"], "vllm")


@test("a unit is not taken for one that is not whole and has a longer name")
def _(scene):
    machine = Machine(scene, "one", VLLM)
    other = scene.path("other")
    shutil.copytree(machine.tree, other)
    graph = os.path.join(other, GRAPH)
    os.rename(graph, graph + "_2")
    scene.write(os.path.join(graph + "_2", "cache_key_factors.json"), "[")
    ended = scene.tkbundle("why", GRAPH, machine.tree, other, status=4)
    require(f"left out of B {GRAPH}_2: metadata" in ended.err, ended.err)
    require("nothing like it in B" in ended.out, ended.out)


seed_graph("another $HOME",
           [("/home/serve/.config/vllm", "/home/other/.config/vllm")], "home",
           "VLLM_CONFIG_ROOT: /home/serve/.config/vllm there, "
           "/home/other/.config/vllm here", "tkbundle run --engine vllm")
seed_graph("another variable",
           [('"VLLM_BATCH_INVARIANT": false', '"VLLM_BATCH_INVARIANT": true')],
           "environment", "VLLM_BATCH_INVARIANT: false there, true here",
           "set VLLM_BATCH_INVARIANT=false")
seed_graph("another path", [('"/usr/local/cuda"', '"/opt/cuda"')], "path",
           "CUDA_HOME: /usr/local/cuda there, /opt/cuda here",
           "set CUDA_HOME=/usr/local/cuda")
seed_graph("other options of the server",
           [('"config_hash": "f', '"config_hash": "0')], "options",
           "configuration (a hash)")
seed_graph("another code", [('"code_hash": "2', '"code_hash": "0')], "source",
           "code (a hash)")
seed_graph("another compiler",
           [('"compiler_hash": "b', '"compiler_hash": "0')], "compiler",
           "compiler (a hash)", "the same PyTorch, Triton and CUDA")


@test("an API key in the environment is named, and never told")
def _(scene):
    machine = graph_scene(
        scene, ('"VLLM_API_KEY": null', f'"VLLM_API_KEY": "{SECRET}"'),
        VLLM_API_KEY=SECRET)
    one_made(scene, "environment", "VLLM_API_KEY: not set there, hidden here",
             "vllm serve --api-key", env=machine.environment)
    for folder, _, names in os.walk(
            os.path.join(machine.home, ".local", "state")):
        for name in names:
            require(SECRET.encode() not in
                    read(os.path.join(folder, name)), name)


def seed_inductor(what, old, new, reason):
    @test(f"Inductor's graph with {what}: the page says '{reason}'")
    def _(scene):
        machine = Machine(scene, "one", TORCH, engine="torch")
        graph = "fxgraph/aw/fawyouikxz3vy4wohrkdtafraxbgxgopb7mqymd7o7e7rmefxde5"
        name, = os.listdir(machine.path(graph))
        scene.run(
            *compiling("folder", machine.path(graph),
                       machine.path(graph[:-1] + "6"), name, old, new),
            options=("--engine", "torch"), env=machine.environment, status=0)
        one_made(scene, reason, new[:20], env=machine.environment)


seed_inductor("another GPU's name", "{'name': 'NVIDIA H100 80GB HBM3'}",
              "{'name': 'NVIDIA H800 80GB HBM3'}", "gpu")
seed_inductor("another setting", "inductor_config[verbose_progress]: False",
              "inductor_config[verbose_progress]: Falsy", "options")


def seed_tuned(what, here, reason, *says):
    @test(f"what was tuned with {what}: the page says '{reason}'", full)
    def _(scene, first):
        first.push(env={"TKBUNDLE_GPU": "NVIDIA H200,580"})
        unit = next(path for _, path in files_below(first.tree)
                    if path.endswith(".best_config"))
        second = Machine(scene, "second")
        # run may have chosen another place for the tree.
        root = f"${{VLLM_CACHE_ROOT:-{second.tree}}}"
        there = os.path.join(root, os.path.relpath(unit, first.tree))
        scene.shell(f'mkdir -p "{os.path.dirname(there)}" && cp "{unit}" "{there}"',
                    options=("--engine", "vllm"),
                    env={**second.environment, "TKBUNDLE_GPU": here}, status=0)
        made = one_made(scene, reason, *says, env=second.environment)
        equal(made["kind"], "vllm")


seed_tuned("another driver", "NVIDIA H200,590", "driver",
           "tuned on gpu NVIDIA H200, driver 580 there, "
           "gpu NVIDIA H200, driver 590 here", "a machine with this driver")
seed_tuned("another GPU", "NVIDIA H100,580", "gpu",
           "gpu NVIDIA H100, driver 580 here", "a machine with this GPU")


def compile_graphs(scene, member, first, *starts):
    """Two starts of vLLM, with these variables, of which each makes the graph before
    it anew: `member` of its factors, a hash, begins with another digit."""
    machine = Machine(scene, "one", VLLM)
    before = machine.path(os.path.dirname(os.path.dirname(GRAPH)))
    for variables, old, new in zip(starts, (first, "0"), ("0", "1")):
        make_graph(scene, machine, before, before[:-1] + new,
                   [(f'"{member}": "{old}', f'"{member}": "{new}')], variables)
        before = before[:-1] + new
    return machine.environment


def installed(scene, package, version):
    """The variables under which this version of a package is found."""
    os.makedirs(scene.path(version, f"{package}-{version}.dist-info"))
    return {"PYTHONPATH": scene.path(version)}


@test("vLLM's graph of another GPU, whose name the hash of the compiler covers")
def _(scene):
    env = compile_graphs(scene, "compiler_hash", "b",
                         {"TKBUNDLE_GPU": "NVIDIA H100,580"},
                         {"TKBUNDLE_GPU": "NVIDIA H200,580"})
    made = one_made(scene, "gpu", env=env)
    equal(made["detail"], "GPU: NVIDIA H100 there, NVIDIA H200 here")


@test("vLLM's graph of another Triton, and with other options, which that does not bring")
def _(scene):
    env = compile_graphs(scene, "config_hash", "f",
                         installed(scene, "triton", "3.6.0"),
                         installed(scene, "triton", "3.7.1"))
    one_made(scene, "triton", "Triton: 3.6.0 there, 3.7.1 here; "
             "configuration (a hash): 0", env=env)


@test("vLLM's graph by another version of vLLM: the page says 'engine'")
def _(scene):
    env = compile_graphs(scene, "config_hash", "f",
                         installed(scene, "vllm", "0.23.0"),
                         installed(scene, "vllm", "0.24.0"))
    one_made(scene, "engine", "engine: vllm 0.23.0 there, vllm 0.24.0 here", env=env)


@test("notes of several ranks are one start, and an older one is another")
def _(scene):
    root = kernel_scene(scene, ".ptx", ".version 8.7", ".version 9.0")
    folder, (name,) = notes(scene)
    text = json.loads(read(os.path.join(folder, name)))
    for rank, (ago_ms, key) in enumerate(((1, "SAME"), (2, "OTHER"),
                                          (3600_000, "LONGAGO")), 1):
        other = {**text, "time_ms": text["time_ms"] - ago_ms}
        if key != "SAME":
            other["made"] = [{**text["made"][0], "key": key}]
        path = os.path.join(folder, f"{other['time_ms']}-{rank}.json")
        scene.write(path, json.dumps(other))
    document, words = last(scene)
    equal((document["runs"], document["compiled"], document["reasons"]),
          (3, 2, {"ptxas": 2}), words)
    require(", 3 runs: emitted" in words and "LONGAGO" not in words, words)
    scene.run("true", options=("--cache", root))
    document, words = last(scene)
    require("runs" not in document and "it was warm" in words, words)


KERNEL = """\
import triton
import triton.language as tl

@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + at, at < n) + tl.load(y + at, at < n)
    tl.store(out + at, total, at < n)
"""
SIGNATURE = "*fp32:16, *fp32:16, *fp32:16, i32, {}"
VENV = os.path.join(HERE, "..", "..", "build", "venv")


def compile_kernel(scene, root, text=KERNEL, block=1024, words=(), **env):
    """With the real Triton; returns the cache."""
    path = scene.write(f"{root}.py", text)
    scene.tkbundle("compile", f"{path}:add_kernel", "--target", "cuda:90", "--cache",
                   scene.path(root), "--python", os.path.join(VENV, "bin", "python3"),
                   "--signature", SIGNATURE.format(block), *words, env=env)
    return scene.path(root)


@test("what real Tritons compile differs in the part that was changed")
def _(scene):
    older = os.path.join(VENV, "triton-3.3.1")
    if not os.path.isdir(older):
        raise Skip("./bootstrap test makes a folder with Tritons")
    base = compile_kernel(scene, "base")
    noted = read(os.path.join(base, ".tkbundle", "makers")).decode()
    require(re.search(r"= libtriton=[0-9a-f]{16}; triton=3\.6\.0\n", noted),
            noted)
    for number, (says, more) in enumerate((
            ("the code differs only in numbers: 1024 in A, 128 in B",
             {"block": 128}),
            ("num_warps: 4 in A, 8 in B", {"words": ("--num-warps", "8")}),
            ("DISABLE_PTXAS_OPT: not set in A, true in B",
             {"DISABLE_PTXAS_OPT": "1"}),
            ("first line: 5 in A, 6 in B", {"text": "#\n" + KERNEL}),
            ("the same code is at other places of its source",
             {"text": KERNEL.replace("    total", "    # a\n    total")}),
            ("B: another variable\n  TRITON_DISABLE_LINE_INFO: not set in A, "
             "true in B\n", {"TRITON_DISABLE_LINE_INFO": "1"}),
            ("text of its source, where names and comments count, constants "
             "that its code does not show, libdevice, the ptxas whose version "
             "is in its key\n",
             {"text": KERNEL.replace("at < n)\n    tl", "at < n)  # a\n    tl")}),
            ("Triton: 3.6.0 in A, 3.3.1 in B", {"PYTHONPATH": older}))):
        ended = scene.tkbundle("why", "add_kernel", base,
                               compile_kernel(scene, f"b{number}", **more), status=4)
        require(says in ended.out, says, ended.out)


@test("of two Pythons, each has made its own kernels alone")
def _(scene):
    older = os.path.join(VENV, "triton-3.3.1")
    if not os.path.isdir(older):
        raise Skip("./bootstrap test makes a folder with Tritons")
    python = os.path.abspath(os.path.join(VENV, "bin", "python3"))
    other = scene.write("python", f"#!/bin/sh\nPYTHONPATH='{os.path.abspath(older)}' "
                        f"exec '{python}' \"$@\"\n", 0o755)
    item = {"file": scene.write("both.py", KERNEL), "kernel": "add_kernel",
            "signature": SIGNATURE.format(64)}
    both = scene.write("both.json", json.dumps(
        [{**item, "python": python}, {**item, "python": other}]))
    root = scene.path("both")
    scene.tkbundle("compile", both, "--target", "cuda:90", "--cache", root)
    noted = read(os.path.join(root, ".tkbundle", "makers")).decode()
    keys = [name for name in os.listdir(root) if name in noted]
    equal(len([name for name in os.listdir(root) if len(name) == 52]), 2, noted)
    equal((len(keys), noted.count("triton=3.6.0")), (1, 1), noted)


@test("a warm start is called so")
def _(scene):
    root = scene.fixture("here")
    scene.run("true", options=("--cache", root))
    document, words = last(scene)
    equal((document["compiled"], document["made"]), (0, []), words)
    require("it was warm" in words, words)


def packages(scene, name, *, library, version="3.6.0"):
    """A folder of packages with a Triton as pip leaves it; its libtriton.so is not
    read, since its digest stands in the list."""
    digest = hashlib.sha256(library).digest()
    listed = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    lists = scene.path(name, f"triton-{version}.dist-info")
    os.makedirs(lists)
    os.makedirs(scene.path(name, "triton", "_C"))
    with open(scene.path(name, "triton", "_C", "libtriton.so"), "wb") as file:
        file.write(bytes(len(library)))
    with open(os.path.join(lists, "RECORD"), "w", encoding="utf-8") as file:
        file.write("triton/__init__.py,sha256=x,12\n"
                   f"triton/_C/libtriton.so,sha256={listed},{len(library)}\n"
                   f"triton-{version}.dist-info/RECORD,,\n")
    return scene.path(name), digest.hex()[:16]


def two_builds(scene):
    """A start of one build of Triton pushes a kernel; one of another, elsewhere,
    compiles it again."""
    source = scene.fixture("source")
    kernel, = (name for name in os.listdir(source) if name.startswith(KEY))
    one, one_digest = packages(scene, "one", library=b"for a Python")
    other, other_digest = packages(scene, "other", library=b"for another")
    first, second = scene.path("first"), scene.path("second")
    for root, words, folder in (
            (first, ("folder", os.path.join(source, kernel),
                     os.path.join(first, kernel)), one),
            (second, ("kernel", second, KEY), other)):
        os.makedirs(root)
        scene.run(*compiling(*words), options=("--cache", root),
                  env={"PYTHONPATH": folder}, status=0)
    return first, second, one_digest, other_digest


@test("a kernel by another build of Triton, which a pull tells of: 'libtriton'")
def _(scene):
    _, _, one, other = two_builds(scene)
    one_made(scene, "libtriton", f"libtriton: {one} there, {other} here",
             "install the same wheel")


@test("caches and refs tell of two builds of Triton")
def _(scene):
    first, second, one, other = two_builds(scene)
    says = f"libtriton: {one} in A, {other} in B"
    own = [name for name in os.listdir(second) if not name.startswith((KEY, "."))]
    for name in os.listdir(second):
        if name.startswith(KEY):
            shutil.rmtree(os.path.join(second, name))
    ended = scene.tkbundle("why", "add_kernel", first, second, status=4)
    equal(len(own), 1, ended.err)
    require(says in ended.out, ended.out)
    for ref, root in (("a/first", first), ("a/second", second)):
        scene.tkbundle("push", ref, root, "--remote", scene.remote)
    ended = scene.tkbundle("why", "add_kernel", "a/first", "a/second",
                           "--remote", scene.remote, status=4)
    require(says in ended.out, ended.out, ended.err)


@test("what made entries is noted without places, and is in no bundle")
def _(scene):
    first, second, digest, _ = two_builds(scene)
    noted = read(os.path.join(first, ".tkbundle", "makers")).decode()
    require(f"libtriton={digest}; triton=3.6.0" in noted, noted)
    require(scene.folder not in noted and "/" not in noted, noted)
    for name in (first, second):
        shutil.rmtree(os.path.join(second, ".tkbundle"), ignore_errors=True)
        scene.tkbundle("collect", name, "--key", KEY, "-o", name + ".tkb")
    equal(read(first + ".tkb"), read(second + ".tkb"))


def notes(scene):
    folder = scene.path(".local", "state", "tkbundle", "starts")
    return folder, sorted(os.listdir(folder))


@test("the last 32 notes stay, and nobody else can read them")
def _(scene):
    root = scene.fixture("here")
    scene.run("true", options=("--cache", root))
    folder, (first,) = notes(scene)
    for number in range(1, 41):
        scene.write(os.path.join(folder, f"{number}-1.json"), "{}")
    scene.run("true", options=("--cache", root))
    _, names = notes(scene)
    equal(len(names), 32)
    require(first in names and "1-1.json" not in names, names)
    for path in (folder, os.path.join(folder, first)):
        equal(os.stat(path).st_mode & 0o077, 0, path)


@test("a note of the future, as after a clock was set back, is the oldest")
def _(scene):
    root = scene.fixture("here")
    scene.run("true", options=("--cache", root))
    folder, (first,) = notes(scene)
    for number in range(40):
        shutil.copy(os.path.join(folder, first),
                    os.path.join(folder, f"99{number:011d}-1.json"))
    scene.run("false", options=("--cache", root))
    document, _ = last(scene)
    equal(document["command"], "false")
    _, names = notes(scene)
    equal(len(names), 32)
    require(first in names, names)


@test("a note holds no command line and no secret")
def _(scene):
    root = scene.fixture("here")
    scene.run("true", "--hf-token", SECRET, options=("--cache", root),
              env={"VLLM_API_KEY": SECRET, "TRITON_URL": f"x://u:{SECRET}@h"})
    folder, (name,) = notes(scene)
    text = read(os.path.join(folder, name)).decode()
    require(SECRET not in text, text)


@test("a run is as good where no note can be written")
def _(scene):
    root = scene.fixture("here")
    scene.write("file", "")
    ended = scene.run("true", options=("--cache", root),
                      env={"HOME": scene.path("file"),
                           "TMPDIR": scene.path("file")})
    equal((ended.status, ended.counts()), (0, ("0", "5", "0", "0")), ended.err)


@test("without a note, and with a damaged one, there is one sentence")
def _(scene):
    ended = scene.tkbundle("why", "--last", status=3)
    require("there is no note of a start" in ended.err, ended.err)
    scene.run("true", options=("--cache", scene.fixture("here")))
    folder, (name,) = notes(scene)
    with open(os.path.join(folder, name), "r+", encoding="utf-8") as file:
        file.truncate(20)
    ended = scene.tkbundle("why", "--last", status=5)
    equal(len(ended.err.splitlines()), 1, ended.err)


@test("two notes tell what differs between two starts")
def _(scene):
    root = scene.fixture("here")
    scene.run("true", options=("--cache", root))
    scene.run("true", options=("--cache", root), env={"CUDA_HOME": "/opt/x"})
    folder, names = notes(scene)
    ended = scene.tkbundle("why", "add_kernel", status=4,
                           *(os.path.join(folder, name) for name in names))
    require(re.search(r"env.CUDA_HOME: .* in A, /opt/x in B", ended.out),
            ended.out)
    first = os.path.join(folder, names[0])
    ended = scene.tkbundle("why", "add_kernel", first, first)
    equal(ended.out, "")


@test("of two notes, one lists a kernel that the other start had not to compile")
def _(scene):
    kernel_scene(scene)
    folder, (name,) = notes(scene)
    cold = os.path.join(folder, name)
    document = json.loads(read(cold))
    warm = scene.write("warm", json.dumps({**document, "made": []}))
    for one, other, status in ((cold, warm, 4), (warm, cold, 4), (cold, cold, 0)):
        ended = scene.tkbundle("why", "add_kernel", one, other, status=status)
        require("add_kernel was compiled in" in ended.out, ended.out)
