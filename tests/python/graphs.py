# SPDX-License-Identifier: Apache-2.0
"""Inductor's remote caches, on our remotes: graphs that one process compiled are
hits in another one. PyTorch is a stand-in; tests/engines has the real one."""
import os
import re
import shutil
import sys
import tempfile

from machine import HERE, PACKAGE, launch, python, variables
from outages import liar, slow_program
from scene import (ENTRIES, PATIENCE, equal, files_below, hanging, need,
                   require, small_disk, test)
from servers import redis

USER = os.path.join(HERE, "graph_user.py")
STAND_IN = os.path.join(HERE, "stand_in")
GRAPHS = 4
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def environment_of(here, remote=None, env=None):
    return {**variables(here, STAND_IN),
            "TKBUNDLE_REMOTE": remote or here.remote, **(env or {})}


def use(here, *words, **more):
    return here.go([sys.executable, USER, *words], env=environment_of(here, **more),
                   status=0)


def found(ended):
    return int(re.search(r"found (\d+)", ended.out)[1])


def seconds(ended):
    return float(re.search(r" in ([0-9.]+) s", ended.out)[1])


def check_shared(here, **more):
    first = use(here, **more)
    second = use(here, "late", **more)
    equal((found(first), found(second)), (0, GRAPHS))
    equal((first.err, second.err), ("", ""))
    require("graph 3" in second.out, second.out)


@test("graphs of one process are hits in another one, by a folder")
def _(here):
    check_shared(here)


@test("graphs of one process are hits in another one, by Redis")
def _(here):
    with redis(here) as remote:
        check_shared(here, remote=remote)


@test("a graph that is put again replaces the one that was there")
def _(here):
    for value in ("one", "two", "three"):
        use(here, "again", value)
    require("three" in use(here).out)
    ref = next(name for name in os.listdir(here.path("remote", "ref"))
               if len(os.listdir(here.path("remote", "ref", name))) > 0)
    require(ref.startswith("torch,fx-graph,"), ref)


@test("graphs in a remote are cleaned up and checked as kernels are")
def _(here):
    use(here)
    here.tkbundle("gc", "--remote", here.remote, "--max-age", "1h")
    equal(found(use(here)), GRAPHS)
    here.tkbundle("gc", "--remote", here.remote, "--max-size", "0")
    equal(found(use(here)), 0)


@test("threads, forks and workers put their graphs")
def _(here):
    for verb, count in (("threads", 4), ("workers", 4), ("fork", 3)):
        remote = here.path("remote-" + verb)
        equal(use(here, verb, remote=remote).err, "")
        equal(found(use(here, remote=remote)), count, verb)


@test("a block with the caches of torch installs them, where a remote is named")
def _(here):
    code = """
import importlib, tkbundle
with tkbundle.warm("a/b", engine="torch"):
    caches = importlib.import_module("torch._inductor.remote_cache")
    print(caches.RemoteFxGraphCache.backend_override_cls is not None)
"""
    for remote, found in ((here.remote, "True\n"), ("", "False\n")):
        ended = here.go([sys.executable, "-c", code], env={
            **environment_of(here, env={"TKBUNDLE_REMOTE": remote}),
            "TORCHINDUCTOR_CACHE_DIR": here.path("cache")})
        equal((ended.status, ended.out), (0, found), ended.err)


@test("a block that may not wait installs them, and a graph finds the remote later")
def _(here):
    slow = slow_program(here)
    config = here.write("config", f"remote = {here.remote}\n")
    ended = here.go([sys.executable, "-c", """
import importlib, tkbundle, tkbundle.inductor
with tkbundle.warm("a/b", engine="torch", wait=0.1, push="never"):
    caches = importlib.import_module("torch._inductor.remote_cache")
    print(caches.RemoteFxGraphCache.backend_override_cls is not None)
"""], env={**environment_of(here), "TKBUNDLE_LIBRARY": slow, "TKBUNDLE_REMOTE": "",
           "TKBUNDLE_CONFIG": config, "TORCHINDUCTOR_CACHE_DIR": here.path("cache")})
    equal((ended.status, ended.out), (0, "True\n"), ended.err)
    require("remote cache" not in ended.err, ended.err)


@test("a remote that a file names is that of graphs, too, and of functions")
def _(here):
    here.write("config", f"remote = {here.remote}\nwait = 60s\n")
    named = {"TKBUNDLE_REMOTE": "", "TKBUNDLE_CONFIG": here.path("config")}
    equal((found(use(here, env=named)), found(use(here, env=named))),
          (0, GRAPHS))
    ended = here.go([sys.executable, "-c", "import sys, tkbundle\n"
                     "print(tkbundle.push('a', sys.argv[1]).pushed)",
                     here.fixture()],
                    env=environment_of(here, env=named))
    equal((ended.status, ended.out), (0, f"{ENTRIES}\n"), ended.err)
    here.write("config", "remote = \n")
    check_cold(use(here, env=named), "config:1")


@test("a variable installs them when PyTorch is imported, and nothing else does")
def _(here):
    code = """
import importlib, sys
from tkbundle import _autoload
caches = importlib.import_module("torch._inductor.remote_cache")
_autoload.start()  # as PyTorch calls its entry points
artifacts = importlib.import_module("torch.compiler._cache")
print(caches.RemoteFxGraphCache.backend_override_cls is not None,
      "tkbundle" in artifacts.CacheArtifactFactory.types,
      "tkbundle.inductor" in sys.modules)
"""
    for value, said, warnings in (
            ("", "False False False\n", 0), ("0", "False False False\n", 0),
            ("1", "True False True\n", 0),
            ("artifacts", "True True True\n", 0),
            ("yes", "False False True\n", 1)):
        ended = here.go([sys.executable, "-c", code], env=environment_of(
            here, env={"TKBUNDLE_INDUCTOR": value}))
        equal((ended.status, ended.out, ended.err.count("\n")),
              (0, said, warnings), ended.err)
        require(not warnings or "neither 1 nor artifacts" in ended.err)


@test("installing without a remote is one warning, before anything is compiled")
def _(here):
    install = "import tkbundle.inductor as i; i.install(); i.install()"
    start = "from tkbundle import _autoload; _autoload.start()"
    for code, env, count in (
            (install, {"TKBUNDLE_REMOTE": ""}, 1),
            (start, {"TKBUNDLE_REMOTE": "", "TKBUNDLE_INDUCTOR": "1"}, 1),
            (start, {"TKBUNDLE_REMOTE": ""}, 0),
            (install, {"TKBUNDLE_REMOTE": "", "TKBUNDLE_DISABLE": "1"}, 0),
            (install.replace("install()", f"install({here.remote!r})"),
             {"TKBUNDLE_REMOTE": ""}, 0), (install, {}, 0)):
        ended = here.go([sys.executable, "-c", code],
                        env=environment_of(here, env=env))
        equal((ended.status, ended.err.count("\n")), (0, count), ended.err)
        equal(ended.err.count("no remote is named: "), count, ended.err)


@test("a package that is broken does not keep PyTorch from its start")
def _(here):
    folder = here.path("broken", "tkbundle")
    shutil.copytree(os.path.join(PACKAGE, "tkbundle"), folder)
    os.remove(os.path.join(folder, "_guard.py"))
    ended = here.go([sys.executable, "-c", "from tkbundle import _autoload\n"
                     "_autoload.start()"], env={
        "PYTHONPATH": here.path("broken"), "TKBUNDLE_INDUCTOR": "1"})
    equal((ended.status, ended.err.count("\n")), (0, 1), ended.err)


@test("eight processes at once share their graphs, and none sees an error")
def _(here):
    for _ in range(2):
        started = [launch(here, [sys.executable, USER],
                          environment_of(here)) for _ in range(8)]
        ended = [here.finish(one) for one in started]
        equal({(one.status, one.err) for one in ended}, {(0, "")})
    equal({found(one) for one in ended}, {GRAPHS})


@test("what the program itself chose for these caches stays")
def _(here):
    equal(use(here, "mine").err, "")


@test("what was tuned is shared where Triton has a GPU, and only there")
def _(here):
    use(here, env={"STAND_IN_GPU": "its hash"})


@test("graphs: TKBUNDLE_PUSH=never puts nothing, on-exit does")
def _(here):
    for push, count in (("never", 0), ("on-exit", GRAPHS)):
        use(here, env={"TKBUNDLE_PUSH": push})
        equal(found(use(here, env={"TKBUNDLE_PUSH": "never"})), count)
    use(here, "again", "other", env={"TKBUNDLE_PUSH": "never"})
    require("other" not in use(here).out)
    equal(found(use(here, env={"TKBUNDLE_DISABLE": "1"})), 0)


def check_cold(ended, *reasons):
    equal(found(ended), 0)
    equal(ended.err.count("tkbundle: remote cache: "), len(reasons), ended.err)
    equal(ended.err.count("\n"), len(reasons), ended.err)
    for reason in reasons:
        require(reason in ended.err, ended.err)


@test("graphs: a remote that refuses is a miss, and one warning")
def _(here):
    ended = use(here, remote="redis://me:secretword@127.0.0.1:1")
    check_cold(ended, "Connection refused")
    require("secretword" not in ended.err, ended.err)


@test("graphs: a remote that was gone for a while is asked again")
def _(here):
    need("redis-server")
    ended = python(here, """
import contextlib, os, subprocess, time
from tkbundle import _values
_values.REST_S = 0.5
values = _values.Values()

@contextlib.contextmanager
def server():
    with subprocess.Popen(
            ["redis-server", "--port", "0", "--save", "", "--unixsocket", "s"],
            stdout=subprocess.DEVNULL) as started:
        try:
            while not os.path.exists("s"):
                time.sleep(0.02)
            yield
        finally:
            started.terminate()

def put(name):
    puts = values.counts().puts
    values.put(name, b"1")
    until = time.monotonic() + 30
    while values.counts().puts == puts and time.monotonic() < until:
        time.sleep(0.02)

with server():
    put("torch/fx-graph/1")
    print(values.get("torch/fx-graph/1"))
print(values.get("torch/fx-graph/1"))
with server():
    time.sleep(0.6)
    put("torch/fx-graph/2")
    print(values.get("torch/fx-graph/1"), values.get("torch/fx-graph/2"))
""", env={"TKBUNDLE_REMOTE": "redis+unix://" + here.path("s")})
    equal((ended.status, ended.out), (0, "b'1'\nNone\nNone b'1'\n"), ended.err)
    equal(ended.err.count("\n"), 1, ended.err)


@test("graphs: a remote that says nothing costs --wait in all")
def _(here):
    with hanging() as remote:
        ended = use(here, remote=remote, env={
            "TKBUNDLE_WAIT": "1s", "TKBUNDLE_DEADLINE": "3s"})
    equal((found(ended), ended.err.count("\n")), (0, 1), ended.err)
    require(1 <= seconds(ended) <= 10 * PATIENCE, ended.out)
    require(ended.seconds < 30 * PATIENCE, ended.seconds)


@test("graphs: a remote that lies is a miss")
def _(here):
    with liar() as remote:
        ended = use(here, remote=remote, env={
            "TKBUNDLE_WAIT": "1s", "TKBUNDLE_DEADLINE": "3s"})
    equal(found(ended), 0)
    require("Traceback" not in ended.err, ended.err)


@test("graphs: no remote, no library and a URL that is none are one warning")
def _(here):
    check_cold(use(here, env={"TKBUNDLE_REMOTE": ""}), "TKBUNDLE_REMOTE")
    check_cold(use(here, remote="gopher://x"), "gopher")
    ended = use(here, env={"TKBUNDLE_LIBRARY": here.folder})
    require("Traceback" not in ended.err, ended.err)


@test("graphs: a value that does not fit into memory is packed on the disk")
def _(here):
    with small_disk(here.path("memory"), "64k"):
        ended = python(here, """
import os
from tkbundle import _memory
_memory.PLACE = "memory"
value = os.urandom(200000)
assert _memory.unpack(_memory.pack("value", "value", value)) == value
assert os.listdir("memory") == []
""")
    equal((ended.status, ended.err), (0, ""))


@test("graphs: a value that cannot be put is one warning, and others are put")
def _(here):
    ended = python(here, """
from tkbundle import _memory, _values
pack = _memory.pack
def limited(tree, name, value):
    if len(value) > 9:
        raise OSError(27, "File too large")
    return pack(tree, name, value)
_memory.pack = limited
values = _values.Values()
for name, value in ("1", b"1234567890"), ("2", b"2"):
    values.put("torch/fx-graph/" + name, value)
values.finish()
assert values.get("torch/fx-graph/2") is None  # and does not wait
print(values.counts().puts, _values.Values().get("torch/fx-graph/2"))
""", env={"TKBUNDLE_REMOTE": here.remote})
    equal((ended.status, ended.out), (0, "1 b'2'\n"), ended.err)
    equal(ended.err.count("File too large"), 1, ended.err)


@test("graphs: a value that is no JSON, or too deep, is a miss")
def _(here):
    ended = python(here, """
from tkbundle import inductor
print([inductor._is_value(data) for data in (b"{}", b"[" * 200000, b"{", None)])
""")
    equal(ended.out, "[True, False, False, False]\n", ended.err)


@test("graphs: a value that is damaged is a miss")
def _(here):
    use(here)
    for _, path in files_below(here.path("remote", "cas")):
        os.chmod(path, 0o600)
        os.truncate(path, os.path.getsize(path) // 2)
    ended = use(here)
    equal(found(ended), 0)
    require("Traceback" not in ended.err, ended.err)
    equal(found(use(here)), GRAPHS)


@test("graphs: os._exit while a remote hangs leaves nothing that runs")
def _(here):
    with hanging() as remote:
        started = launch(here, [sys.executable, USER, "leave"],
                         environment_of(here, remote=remote, env={
                             "TKBUNDLE_WAIT": "500ms"}))
        ended = here.finish(started)
    equal((ended.status, found(ended)), (0, 0), ended.err)
    require(ended.seconds < 20 * PATIENCE, ended.seconds)
    equal([name for name in os.listdir(here.folder) if "tkbundle" in name], [])
    equal(moments(started.pid), [])


def moments(pid):
    """What a process has left in memory."""
    return [name for name in os.listdir(MEMORY or tempfile.gettempdir())
            if name.startswith(f"tkbundle-moment-{pid}-")]


@test("what a process left in memory goes, what is young stays")
def _(here):
    left, young = [
        tempfile.mkdtemp(prefix="tkbundle-moment-0-",
                         dir=MEMORY or here.folder) for _ in range(2)]
    try:
        with open(os.path.join(left, "value"), "wb"):
            pass
        os.utime(left, (1, 1))
        use(here)
        equal([os.path.exists(folder) for folder in (left, young)],
              [False, True])
    finally:
        for folder in (left, young):
            shutil.rmtree(folder, ignore_errors=True)


@test("a PyTorch without such caches is one warning, that names the version")
def _(here):
    folder = here.path("old", "torch", "_inductor")
    here.write(os.path.join(folder, "remote_cache.py"),
               "class RemoteFxGraphCache: pass\n")
    code = ("import tkbundle.inductor; tkbundle.inductor.install()\n"
            "import torch._inductor.remote_cache")
    ended = here.go([sys.executable, "-c", code], env={
        **variables(here, here.path("old")), "TKBUNDLE_REMOTE": here.remote})
    equal((ended.status, ended.err.count("\n")), (0, 1), ended.err)
    require("2.6" in ended.err, ended.err)
