# SPDX-License-Identifier: Apache-2.0
"""with tkbundle.warm(...): a block of a program that starts warm."""
import os
import shutil
import signal
import sys
import time

from machine import USER, compiled, kernels, launch, python, use, variables
from outages import slow_program
from scene import (ENTRIES, LATE_S, PATIENCE, TIMEOUT_S, equal, hanging, process, require,
                   test, wait_until)

CODE = """
import os, shutil, sys, time
begin = time.monotonic()
import tkbundle
source, root = sys.argv[1:]
with tkbundle.warm("a/b", root{options}):
    print(f"{{time.monotonic() - begin:.3f}}")
    there = set(os.listdir(root)) - {{".tkbundle"}} if os.path.isdir(
        root) else set()
    print(len(there))
    for key in set(os.listdir(source)) - there:
        shutil.copytree(os.path.join(source, key), os.path.join(root, key))
"""


def block(here, root, options="", **more):
    """What a block found, and how long it had to wait."""
    source = here.path("source", ".triton", "cache")
    if not os.path.isdir(source):
        here.fixture()
    more.setdefault("env", {"TKBUNDLE_REMOTE": here.remote})
    ended = python(here, CODE.format(options=options), source, root, **more)
    equal(ended.status, 0, ended.err)
    wait, found = ended.out.split()
    return float(wait), int(found), ended


@test("a block has what an earlier one elsewhere compiled")
def _(here):
    equal(block(here, "one")[1], 0)
    equal(kernels(here), ENTRIES)
    _, found, ended = block(here, "two")
    equal((found, ended.err), (ENTRIES, ""))


@test("a block that is not to push pushes nothing")
def _(here):
    block(here, "one", ', push="never"')
    equal(kernels(here), 0)


@test("what is no choice of push pushes nothing, and all but False is a warning")
def _(here):
    for number, (push, warnings) in enumerate((("False", 0), ('"nevr"', 1), ("7", 1))):
        ended = block(here, f"root{number}", f", push={push}")[2]
        equal(ended.err.count("is none of always, on-exit, never"), warnings, ended.err)
        equal((kernels(here), ended.err.count("has no record")), (0, 1), ended.err)


@test("a block knows the folders of an engine")
def _(here):
    code = """
import os, shutil, sys, tkbundle
with tkbundle.warm("a/b", engine="torch"):
    root = os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], "triton", "0")
    print(os.path.isdir(root))
    if not os.path.isdir(root):
        shutil.copytree(sys.argv[1], root)
"""
    source = here.fixture()
    for folder, found, warnings in (("one", "False\n", 1), ("two", "True\n", 0)):
        ended = python(here, code, source, env={
            "TORCHINDUCTOR_CACHE_DIR": here.path(folder),
            "TKBUNDLE_REMOTE": here.remote})
        equal((ended.status, ended.out, ended.err.count("\n")), (0, found, warnings),
              ended.err)


@test("a block begins though the remote refuses, and says so once")
def _(here):
    _, found, ended = block(
        here, "one", ', remote="redis://me:secretword@127.0.0.1:1"')
    equal(found, 0)
    equal((ended.err.count("tkbundle: pull: "), ended.err.count("\n")), (1, 1),
          ended.err)
    require("secretword" not in ended.err, ended.err)


@test("a block waits no longer for a silent remote than it is told")
def _(here):
    with hanging() as remote:
        wait, found, ended = block(
            here, "one", ", wait=1, deadline=2",
            env={"TKBUNDLE_REMOTE": remote})
    equal(found, 0)
    require(1 <= wait <= 10 * PATIENCE, wait)
    require(ended.seconds < 30 * PATIENCE, ended.seconds)


@test("an exception of the block goes through, and what it compiled is pushed")
def _(here):
    source = here.fixture()
    ended = python(here, """
import shutil, sys, tkbundle
with tkbundle.warm("a/b", "one"):
    shutil.copytree(sys.argv[1], "one", dirs_exist_ok=True)
    raise KeyError("mine")
""", source, env={"TKBUNDLE_REMOTE": here.remote})
    require("KeyError: 'mine'" in ended.err, ended.err)
    equal(kernels(here), ENTRIES)


@test("a block pushes what is new in its root, and not what was there before")
def _(here):
    source = here.fixture()
    ended = python(here, """
import os, shutil, sys, tkbundle
first, second, *_ = sorted(os.listdir(sys.argv[1]))
def put(key):
    shutil.copytree(os.path.join(sys.argv[1], key), os.path.join("one", key))
put(first)
with tkbundle.warm("a/b", "one"):
    put(second)
with tkbundle.warm("a/b", "one"):
    pass
""", source, env={"TKBUNDLE_REMOTE": here.remote})
    equal((ended.status, kernels(here)), (0, 1), ended.err)


@test("a folder of others in the root does not keep a block from its push")
def _(here):
    ended = python(here, """
import os, shutil, sys, tkbundle
with tkbundle.warm("a/b", "one"):
    shutil.copytree(sys.argv[1], "one", dirs_exist_ok=True)
    for name in "ab", "abcdefgh":
        os.mkdir(os.path.join("one", name))
        open(os.path.join("one", name, "graph.so"), "w").close()
""", here.fixture(), env={"TKBUNDLE_REMOTE": here.remote})
    equal((ended.status, kernels(here)), (0, ENTRIES), ended.err)


@test("what one block used is not pushed by the next one, of another ref")
def _(here):
    ended = python(here, """
import os, shutil, sys, tkbundle
from tkbundle import _specialisations
for ref, key in zip(("c/d", "a/b"), sorted(os.listdir(sys.argv[1]))):
    with tkbundle.warm(ref, "one"):
        shutil.copytree(os.path.join(sys.argv[1], key), os.path.join("one", key))
        _specialisations._noted[key] = None
""", here.fixture(), env={"TKBUNDLE_REMOTE": here.remote})
    equal((ended.status, kernels(here)), (0, 1), ended.err)


@test("what a block found in its root is pushed if the ref is empty")
def _(here):
    stock = {"TRITON_CACHE_MANAGER": "triton.runtime.cache:FileCacheManager"}
    use(here, "3.6", "block", env={**stock, "TKBUNDLE_PUSH": "never"})
    equal(kernels(here), 0)
    equal(compiled(use(here, "3.6", "block", env=stock)), 0)
    equal(kernels(here), 2)


@test("a root that cannot be written is one warning, and no other root is pushed")
def _(here):
    source = here.fixture()
    # The default root of this user, which is not meant.
    shutil.copytree(source, here.root)
    ended = python(here, """
import shutil, sys, tkbundle
from tkbundle import _other_root, _share
_other_root.is_usable = lambda root: False
with tkbundle.warm("a/b", "named"):
    shutil.copytree(sys.argv[1], "named")
_other_root.find = lambda root: None
share = _share.Share("named", "a/b")
share.ready()
share.push_now(None)
""", source, env={"TKBUNDLE_REMOTE": here.remote})
    equal((ended.status, ended.err.count("\n")), (0, 1), ended.err)
    require("named' cannot be written: nothing is pulled into it" in ended.err, ended.err)
    require(not os.path.exists(here.path("remote")))
    equal([name for name in os.listdir(here.folder) if ".tkbundle-" in name], [])


@test("more keys than a command line holds are pushed one after another")
def _(here):
    ended = python(here, """
import os, sys
from tkbundle import _share
_share.KEYS_LIMIT = 2
share = _share.Share(sys.argv[1], "a/b")
share.push_now(sorted(os.listdir(sys.argv[1]))[:3])
""", here.fixture(), env={"TKBUNDLE_REMOTE": here.remote})
    equal((ended.status, kernels(here)), (0, 3), ended.err)


@test("an argument of any kind or size is a warning at most, and the block runs")
def _(here):
    good = ("wait=float('inf')", "wait=10 ** 400", "deadline=float('inf')",
           "deadline=1e7", "root=b'one'", "root=pathlib.Path('one')")
    wrong = ("wait='5s'", "wait=float('nan')", "deadline=[]", "root=1",
             "root='a\\0b'", "engine=1", "ref=1", "remote=1",
             "ref='a\\0b'", "push='nevr'")
    block(here, "zero")
    for argument in good + wrong:
        ended = python(here, "import pathlib, tkbundle\nwith tkbundle.warm(**{"
                       "'ref': 'a/b', 'root': 'one', "
                       f"**dict({argument})}}): print('run')",
                       env={"TKBUNDLE_REMOTE": here.remote})
        equal((ended.status, ended.out, ended.err.count("\n")),
              (0, "run\n", argument in wrong), argument, ended.err)
        equal(os.path.isdir(here.path("one")),
              argument in good or argument.startswith(("wait", "deadline", "push")),
              argument)
        shutil.rmtree(here.path("one"), ignore_errors=True)


@test("a time of the configuration that is none is a warning at most")
def _(here):
    for wait in ("inf", "1e999", "nan", "25h", "5"):
        ended = python(here, "import tkbundle\n"
                       "with tkbundle.warm('a/b', 'one'): print('run')",
                       env={"TKBUNDLE_REMOTE": here.remote, "TKBUNDLE_WAIT": wait})
        equal((ended.status, ended.out, ended.err.count("\n")), (0, "run\n", 1),
              ended.err)


@test("where no thread can be started, nothing is waited for, then or later")
def _(here):
    for number, failing in enumerate(("[0]", "[1]", "[0, 1]")):
        ended = python(here, f"""
import threading, time, tkbundle
from tkbundle import _share
started, start = [], threading.Thread.start
def fail(thread):
    started.append(thread)
    if len(started) - 1 in {failing}:
        raise RuntimeError("can't start new thread")
    start(thread)
threading.Thread.start = fail
share, begin = _share.Share("one", "a/b", deadline=2), time.monotonic()
for _ in range(3):
    share.ready()
share.note("A")
share.finish()
assert time.monotonic() - begin < 20, time.monotonic() - begin
with tkbundle.warm("a/b", "one"):
    print("run")
""", env={"TKBUNDLE_REMOTE": here.remote})
        equal((ended.status, ended.out), (0, "run\n"), ended.err)
        equal(ended.err.count("can't start new thread"), 1, ended.err)


@test("Triton 3.0 compiles as ever where its look-ups cannot be shared")
def _(here):
    ended = use(here, "3.0", env={"TKBUNDLE_WAIT": "inf"})
    equal((compiled(ended), ended.err.count("\n")), (2, 1), ended.err)
    ended = use(here, "3.0", USER, script=here.write("broken.py", """
import sys
from tkbundle import _share
def broken(*told, **more):
    raise RuntimeError("broken")
_share.Share = broken
path = sys.argv.pop()
with open(path) as file:
    exec(compile(file.read(), path, "exec"), {"__file__": path, "__name__": "user"})
"""), root="two")
    equal(compiled(ended), 2, ended.err)


@test("a block without a root takes Triton's, as that Triton knows it")
def _(here):
    block(here, "one")
    for number, (code, where) in enumerate((
            ("", "home/.triton/cache"),
            ("cache = types.ModuleType('cache')\n"  # as of Triton 3.0
             "cache.default_cache_dir = lambda: 'default'\n"
             "sys.modules['triton.runtime.cache'] = cache\n", "default"),
            ("knobs = types.ModuleType('knobs')\n"
             "knobs.cache = types.SimpleNamespace(dir='chosen')\n"
             "sys.modules['triton.knobs'] = knobs\n", "chosen"))):
        ended = python(here, f"import sys, types, tkbundle\n{code}"
                       "with tkbundle.warm('a/b'): pass", env={
                           "TKBUNDLE_REMOTE": here.remote,
                           "TORCHINDUCTOR_CACHE_DIR": here.path("inductor"),
                           "TRITON_HOME": here.path("home")})
        equal((ended.status, ended.err, os.path.isdir(here.path("inductor"))),
              (0, "", False), number)
        require(os.path.isdir(here.path(where)), where)


@test("the remote of graphs is asked for once, within the time to wait")
def _(here):
    slow, asked = slow_program(here), here.path("asked")
    here.write("slow/tkbundle", f"""#!/bin/sh
case "$*" in *--get*) echo asked >>'{asked}'; exec sleep {TIMEOUT_S} ;; esac
exec '{here.program}' "$@"
""")
    ended = python(here, """
import time, tkbundle
begin = time.monotonic()
with tkbundle.warm("a/b", engine="torch", wait=1):
    print(time.monotonic() - begin)
""", env={"TKBUNDLE_LIBRARY": slow,
          "TORCHINDUCTOR_CACHE_DIR": here.path("inductor")})
    equal((ended.status, here.read("asked")), (0, "asked\n"), ended.err)
    require(1 <= float(ended.out) < 1 + LATE_S, ended.out)


INTERRUPTED = """
import os, shutil, sys, threading, time, tkbundle
try:
    with tkbundle.warm("a/b", "one", wait={wait}, deadline=50):
        shutil.copytree(sys.argv[1], "one", dirs_exist_ok=True)
    {more}
except KeyboardInterrupt:
    print("interrupted", flush=True)
time.sleep(60)
"""
SHARED = """
    from tkbundle import _share
    _share.LOOK_S = 0.1
    share = _share.Share("one", "a/b", push="always", deadline=50)
    share.note(os.listdir("one")[0])
    time.sleep(2)
    share.finish()
"""


@test("Ctrl-C ends what was begun for a block, and for the end")
def _(here):
    source = here.fixture()
    for verb, wait, push, more in (("pull", 50, "always", "pass"),
                                   ("push", 0, "always", "pass"),
                                   ("push", 0, "never", SHARED.strip())):
        shutil.rmtree(here.path("one"), ignore_errors=True)
        with hanging() as remote:
            started = launch(here, [
                sys.executable, "-c", INTERRUPTED.format(wait=wait, more=more), source],
                {**variables(here), "TKBUNDLE_REMOTE": remote, "TKBUNDLE_PUSH": push})
            child = here.child(started, verb)
            time.sleep(3)  # until it is waited for, in the last case at the end
            started.send_signal(signal.SIGINT)
            equal(started.stdout.readline(), b"interrupted\n", verb)
            wait_until(lambda child=child: (process(child) or " Z")[1] == "Z",
                       f"the end of the {verb}", 5)
            started.kill()


@test("what a push left in the folder for temporary files goes when it is old")
def _(here):
    old, young, root, other = [here.path(name) for name in (
        "tkbundle-push-1-a_older1", "tkbundle-push-1-a_newer1",
        "tkbundle-0-0123456789abcdef", "tkbundle-push-results")]
    for folder in (old, young, root, other):
        os.mkdir(folder)
    for folder in (old, root, other):
        os.utime(folder, (1, 1))
    block(here, "one")
    equal([os.path.exists(folder) for folder in (old, young, root, other)],
          [False, True, True, True])


@test("a hit costs as much after 20,000 others")
def _(here):
    ended = python(here, """
import time
from tkbundle._share import Share
share, took = Share("one", "a/b"), []
for first in range(0, 40000, 1000):
    begin = time.process_time()
    for number in range(first, first + 1000):
        share.use(str(number))
    took.append(time.process_time() - begin)
print(min(took[-10:]) / min(took[:10]))
""")
    require(float(ended.out) < 5, ended.out)
