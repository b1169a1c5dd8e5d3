# SPDX-License-Identifier: Apache-2.0
"""A remote that fails costs a miss, a bounded time and one warning."""
import contextlib
import os
import shutil
import socket
import threading
import time

from machine import SUPPORT, compiled, kernels, launch, python, use, user
from scene import (ENTRIES, PATIENCE, equal, files_below, hanging, process,
                   require, small_disk, test, wait_until)

WAIT_S = 1
SHORT = {"TKBUNDLE_WAIT": f"{WAIT_S}s", "TKBUNDLE_DEADLINE": "3s"}


def seconds(ended):
    """How long the look-ups took, with what was compiled."""
    return float(ended.out.split()[-2])


def check_cold(ended, *words):
    equal(compiled(ended), 2)
    for what, reason in words:
        require(ended.err.count(f"tkbundle: {what}: ") == 1, ended.err)
        require(reason in ended.err, ended.err)
    require("Traceback" not in ended.err, ended.err)
    equal(ended.err.count("\n"), len(words), ended.err)


@test("a remote that refuses is a miss, and one warning")
def _(here):
    ended = use(here, "3.6", remote="redis://me:secretword@127.0.0.1:1")
    check_cold(ended, ("pull", "Connection refused"))
    require("secretword" not in ended.err, ended.err)


@test("a remote that says nothing costs --wait, and at exit the deadline")
def _(here):
    with hanging() as remote:
        ended = use(here, "3.6", remote=remote, env=SHORT)
    check_cold(ended, ("pull", "not done after"), ("push", "not done"))
    # The compile itself takes a second; the machine is busy.
    require(WAIT_S <= seconds(ended) <= WAIT_S + 20 * PATIENCE, ended.out)
    require(ended.seconds < 40 * PATIENCE, ended.seconds)


@test("a push that is under way at exit has its deadline, and no second one")
def _(here):
    with hanging() as remote:
        ended = python(here, """
import threading, time
from tkbundle import _share
_share.LOOK_S = 0.1
os = __import__("os")
os.makedirs("cache/A")
share = _share.Share("cache", "a/b", wait=0, push="always", deadline=4)
share.note("A")
time.sleep(2.5)  # it pushes now
begin = time.monotonic()
share.finish()
print(time.monotonic() - begin)
""", env={"TKBUNDLE_REMOTE": remote})
    equal((ended.status, ended.err.count("\n")), (0, 1), ended.err)
    require(float(ended.out) < 3 + PATIENCE, ended.out)


@test("several roots have one deadline at exit, all together")
def _(here):
    script = here.write("roots.py", f"""
import os, sys, time
sys.path.insert(0, {SUPPORT!r})
from triton_kernel import use_driver, want
use_driver()
for warps in 1, 2, 4, 8:
    os.environ["TRITON_CACHE_DIR"] = f"root{{warps}}"
    want(warps)
print(time.time())
""")
    with hanging() as remote:
        ended = use(here, "3.6", script=script, remote=remote, env={
            "TKBUNDLE_WAIT": "10ms", "TKBUNDLE_DEADLINE": "4s"})
        took = time.time() - float(ended.out)
    require(4 <= took < 8 * PATIENCE, took)


@contextlib.contextmanager
def server(answer, on_put=None):
    """An HTTP server that answers everything so, or a PUT in its own way."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(16)

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    client = listening.accept()[0]
                    with client, contextlib.suppress(OSError):
                        asked = client.recv(65536)
                        client.sendall(b"HTTP/1.1 " + (
                            on_put if on_put and asked.startswith(b"PUT ")
                            else answer))
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        listening.shutdown(socket.SHUT_RDWR)


def liar():
    """It has everything, and all of it is the same."""
    return server(b"200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\n"
                  b"[{\"a\":1}]")


@test("a remote that lies is a miss")
def _(here):
    with liar() as remote:
        ended = use(here, "3.6", remote=remote, env=SHORT)
    equal(compiled(ended), 2, ended.err)
    require("Traceback" not in ended.err, ended.err)


@test("a blob that is damaged is a miss, and nothing of it is used")
def _(here):
    use(here, "3.6", root="one")
    for _, path in files_below(here.path("remote", "cas")):
        os.chmod(path, 0o600)
        with open(path, "r+b") as file:
            file.seek(os.path.getsize(path) // 2)
            file.write(b"damaged!")
    ended = use(here, "3.6", root="two")
    equal(compiled(ended), 2)
    require("tkbundle: pull: " in ended.err, ended.err)


@test("without a remote, a ref or the program, one warning says what to do")
def _(here):
    env = {"TKBUNDLE_REMOTE": "", "TKBUNDLE_REF": ""}
    ended = use(here, "3.6", env=env)
    check_cold(ended, ("pull", "TKBUNDLE_RE"))
    ended = use(here, "3.6", root="two",
                env={"TKBUNDLE_LIBRARY": here.folder, "PATH": "/nowhere"})
    check_cold(ended, ("pull", "the program tkbundle is neither"))


@test("a ref that is not there is one warning, that says what becomes of it")
def _(here):
    check_cold(use(here, "3.6", root="one", env={"TKBUNDLE_PUSH": "never"}),
               ("pull", "': push one elsewhere, or check the names of ref and"))
    ended = use(here, "3.6", root="two")
    check_cold(ended, ("pull", "': what is compiled is pushed to it; if"))
    require("ref 'a/b' has no record in 'file:///" in ended.err, ended.err)
    check_cold(use(here, "3.6", root="three", env={"TKBUNDLE_REF": "../b"}),
               ("pull", "'../b' cannot be a ref's name"))


@test("a URL that is none is one warning, that names it")
def _(here):
    for number, remote in enumerate(("gopher://x", "http://", "s3:///x")):
        check_cold(use(here, "3.6", root=str(number), remote=remote),
                   ("pull", f"remote '{remote}'"))


@test("a remote that grants no rights is one warning")
def _(here):
    with server(b"403 Forbidden\r\nContent-Length: 0\r\nConnection: close"
                b"\r\n\r\n") as remote:
        check_cold(use(here, "3.6", remote=remote),
                   ("pull", "the right to read it is missing"))


GRANT = "grant the right to write there, or do not push (push=never)"


@test("a remote that may be read alone is one warning, that says what to do")
def _(here):
    nothing = b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with server(b"404 Not Found" + nothing, b"403 No" + nothing) as remote:
        # So nothing is listed.
        remote += "?listing=document&single-writer=1"
        check_cold(use(here, "3.6", root="one", remote=remote),
                   ("pull", "has no record"), ("push", "HTTP 403: " + GRANT))
        check_cold(use(here, "3.6", root="two", remote=remote,
                       env={"TKBUNDLE_PUSH": "never"}),
                   ("pull", "has no record"))


@test("a full disk, of the remote or of the cache, is one warning")
def _(here):
    with small_disk(here.path("disk"), "8k"):
        check_cold(use(here, "3.6", root="one", remote=here.path("disk")),
                   ("pull", "has no record"),
                   ("push", "No space left on device: make room there, or "
                            "use another folder"))
    here.tkbundle("push", "a/b", here.fixture(), "--remote", here.remote)
    with small_disk(here.path("disk"), "40k"):
        ended = python(here, "import tkbundle\n"
                       "with tkbundle.warm('a/b', 'disk/cache'): print('begun')",
                       env={"TKBUNDLE_REMOTE": here.remote})
    equal((ended.status, ended.out, ended.err.count("\n")), (0, "begun\n", 1),
          ended.err)
    require("No space left on device: make room there" in ended.err,
            ended.err)


def slow_program(here):
    """A folder as the program's, where it takes 2 s to start."""
    built, slow = os.path.dirname(here.program), here.path("slow")
    os.mkdir(slow)
    for name in os.listdir(built):
        if name.startswith("libtkbundle"):
            os.symlink(os.path.join(built, name), os.path.join(slow, name))
    path = os.path.join(slow, "tkbundle")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nsleep 2\nexec '{here.program}' \"$@\"\n")
    os.chmod(path, 0o755)
    return slow


@test("a program that starts slowly is waited for as TKBUNDLE_WAIT says")
def _(here):
    use(here, "3.6", root="one")
    ended = use(here, "3.6", root="two",
                env={"TKBUNDLE_LIBRARY": slow_program(here)})
    equal((compiled(ended), ended.err), (0, ""))


BLOCK = """
import shutil, sys, tkbundle
with tkbundle.warm("a/b", "cache"):
    shutil.copytree(sys.argv[1], "cache", dirs_exist_ok=True)
"""


@test("push=never counts however slowly the program starts, also after a fork")
def _(here):
    source = here.fixture()
    forked = """
import os, shutil, sys
from tkbundle import _share
share = _share.Share("cache", "a/b")
share.begin()
child = os.fork()
if child == 0:
    shutil.copytree(sys.argv[1], "cache", dirs_exist_ok=True)
    for key in os.listdir("cache"):
        share.note(key)
    share.finish()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    graph = """
from tkbundle._values import Values
values = Values()
values.put("torch/fx-graph/1", b"{}")
values.finish()
"""
    slow = {"TKBUNDLE_WAIT": "1ms", "TKBUNDLE_LIBRARY": slow_program(here),
            "TKBUNDLE_REMOTE": here.remote}
    for code in (BLOCK, forked, graph):
        ended = python(here, code, source, env={**slow, "TKBUNDLE_PUSH": "never"})
        equal((ended.status, os.path.exists(here.path("remote"))), (0, False),
              ended.err)
    shutil.rmtree(here.path("cache"))
    ended = python(here, BLOCK, source, env=slow)
    equal((ended.status, kernels(here)), (0, ENTRIES), ended.err)


@test("where nobody can know whether pushes are allowed, there are none")
def _(here):
    slow, source = slow_program(here), here.fixture()
    here.write("slow/tkbundle", f"""#!/bin/sh
case $1 in
config) echo nothing ;;
*) exec '{here.program}' "$@" ;;
esac
""")
    ended = python(here, BLOCK, source, env={
        "TKBUNDLE_LIBRARY": slow, "TKBUNDLE_REMOTE": here.remote})
    equal((ended.status, kernels(here)), (0, 0), ended.err)
    require("push: the configuration cannot be read: " in ended.err, ended.err)


@test("where SIGCHLD is ignored, a push that fails is a failure")
def _(here):
    source, killed = here.fixture(), slow_program(here)
    here.write("slow/tkbundle", "#!/bin/sh\nkill -9 $$\n")
    for env in ({"TKBUNDLE_REMOTE": "redis://127.0.0.1:1"},
                {"TKBUNDLE_LIBRARY": killed}):
        ended = python(here, """
import os, signal, sys, time
from tkbundle import _share
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
share = _share.Share(sys.argv[1], "a/b", push="on-exit")
for key in os.listdir(sys.argv[1]):
    share.note(key)
print(share.push(time.monotonic()), len(share._new))
""", source, env=env)
        equal(ended.out, f"False {ENTRIES}\n", ended.err)
        equal(ended.err.count("tkbundle: push: "), 1, ended.err)


@test("one warning hides no other one of its kind, and there are not many")
def _(here):
    ended = python(here, """
from tkbundle._guard import warn
for reason in ("a", "b", "a", "c", "d", "e", "f"):
    warn("pull", reason)
warn("push", "a")
warn("push", "g")
""")
    equal(ended.err.split("\n"), ["tkbundle: pull: " + one for one in "abcd"]
          + ["tkbundle: push: g", ""])


@test("a process that is killed while it pulls leaves nothing that runs")
def _(here):
    with hanging() as remote:
        line, environment = user(
            here, "3.6", remote=remote,
            env={"TKBUNDLE_WAIT": "60s", "TKBUNDLE_DEADLINE": "60s"})
        started = launch(here, line, environment)
        pid = here.child(started, "pull")
        started.kill()
        started.wait()
        wait_until(lambda: has_ended(pid), "the end of the pull")


@test("who is forked while the parent pulls does not wait for that")
def _(here):
    with hanging() as remote:
        ended = use(here, "3.6", "early", remote=remote, env={
            "TKBUNDLE_WAIT": "40s", "TKBUNDLE_DEADLINE": "50s"})
    require(seconds(ended) < 30, ended.out)


@test("os._exit ends what runs, and exit does")
def _(here):
    for verb in ("leave", "plain"):
        with hanging() as remote:
            line, environment = user(
                here, "3.6", verb, remote=remote, root=verb,
                env={"TKBUNDLE_WAIT": "2s", "TKBUNDLE_DEADLINE": "6s"})
            started = launch(here, line, environment)
            pid = here.child(started, "pull")
            started.wait()
            wait_until(lambda pid=pid: has_ended(pid), "the end of the pull", 2)


def has_ended(pid):
    facts = process(pid)
    return facts is None or facts[1] == "Z"
