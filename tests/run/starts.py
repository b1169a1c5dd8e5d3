# SPDX-License-Identifier: Apache-2.0
"""Reports of starts: when they are left, what is in them, and what may prevent them."""
import contextlib
import hashlib
import json
import os
import shutil
import signal
import socket
import sys
import time

from faults import STARTED, check_started
from moments import QUIET, start
from pushes import reader
from scene import (ENTRIES, HERE, KERNELS, descendants, equal, files_below, hanging, is_there,
                   kill_all, need_root, require, test, wait_until)
from servers import READER, nginx, redis, s3

COMPILER = os.path.join(HERE, "..", "why", "compiler.py")
KEY = "5DJUWXT2"  # of add_kernel in the fixture
LEFT = "no report of this start: "
SECRET = "sk-very-secret"


def reports(scene):
    """The bytes of all reports, as they lie in the remote that is a folder."""
    found = []
    folder = scene.path("remote", "ref", "@starts,a,b")
    for _, path in files_below(folder):
        with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
            found.append(file.read())
    return [each for each in found if each.endswith(b"}")]


def report_of_push(scene):
    """The only report, once it tells that something was pushed."""
    def find():
        found = [json.loads(each) for each in reports(scene)]
        return found if len(found) == 1 and found[0]["pushed"] else None
    return wait_until(find, "a report of the push")[0]


def fleet(scene, remote=None):
    """The document of `fleet` for the ref; None: it has no report."""
    ended = scene.tkbundle("fleet", "a/b", "--json", "--remote",
                           remote or scene.remote, status=None)
    require(ended.status in (0, 3), ended.err)
    if ended.status == 3:
        return None
    ref, = json.loads(ended.out)["refs"]
    return ref


@test("a server that is killed with its pod has left a report when it pushed")
def _(scene):
    started = start(scene, *QUIET, "--node", "gpu-7")
    report = report_of_push(scene)
    kill_all(started)
    equal((report["compiled"], report["pushed"], report["node"]),
          (2, 2, "gpu-7"))
    require("status" not in report, report)
    ref = fleet(scene)
    equal((ref["starts"], ref["cold"], ref["compiled"]), (1, 1, 2))


@test("the report of the end takes the place of the one before: a start counts "
      "once")
def _(scene):
    started = start(scene, *QUIET)
    wait_until(lambda: reports(scene), "a report")
    source = scene.fixture("more")
    for key in sorted(os.listdir(source)):
        shutil.copytree(os.path.join(source, key),
                        os.path.join(scene.root, key), dirs_exist_ok=True)
    scene.write("end", "")
    equal(scene.finish(started).status, 0)
    left, = (json.loads(each) for each in reports(scene))
    equal((left["compiled"], left["status"]), (ENTRIES, 0), left)
    ref = fleet(scene)
    equal((ref["starts"], ref["compiled"], ref["nodes"][0]["starts"]),
          (1, ENTRIES, 1))
    # Another start counts besides, however much is alike.
    scene.shell("true")
    equal(fleet(scene)["starts"], 2)


@test("reports that nobody may remove stay, and the start counts once")
def _(scene):
    with nginx(scene, methods="PUT") as remote:
        started = start(scene, *QUIET, remote=remote)
        first = wait_until(lambda: fleet(scene, remote), "a report")
        scene.fixture("more")
        scene.write("end", "")
        equal(scene.finish(started).status, 0)
        equal((first["starts"], fleet(scene, remote)["starts"]), (1, 1))


@test("a start before anything is published is cold, and no failure")
def _(scene):
    started = start(scene, *QUIET)
    scene.write("end", "")
    equal(scene.finish(started).status, 0)
    ref = fleet(scene)
    equal((ref["starts"], ref["cold"], ref["first"], ref["failed"]),
          (1, 1, 1, 0))
    ended = scene.tkbundle("fleet", "a/b", "--remote", scene.remote)
    require("1 cold (1 with nothing published yet)" in ended.out, ended.out)


@test("a kernel that a start compiled under two keys counts as one start's")
def _(scene):
    folder = scene.path("remote", "ref", "@starts,a,b")
    os.makedirs(folder)
    text = json.dumps({"format": "tkbundle-start-report", "version": 1,
                       "id": "1", "compiled": 2, "reasons": {"source": 2},
                       "made": [["add", key, "source"] for key in "AB"]})
    name = hashlib.sha256(text.encode()).hexdigest()
    scene.write(os.path.join("remote/ref/@starts,a,b", name), text)
    kernel, = fleet(scene)["kernels"]
    equal((kernel["name"], kernel["starts"], kernel["cold"],
           kernel["compiled"]), ("add", 1, 1, 2))


@test("a warm server leaves one too, once it is ready, and not before")
def _(scene):
    scene.fill()
    started = scene.start("sh", "-c", reader() + "; sleep 60", options=[
        "--quiet", "100ms", "--ready-file", scene.path("ready")])
    time.sleep(3)
    equal(reports(scene), [])
    scene.write("ready", "")
    wait_until(lambda: reports(scene), "a report")
    kill_all(started)
    report, = (json.loads(each) for each in reports(scene))
    equal((report["emitted"], report["used"], report["compiled"]),
          (ENTRIES, KERNELS, 0))
    require(report["delay_ms"] + report["ready_ms"] > 2000, report)
    equal(fleet(scene)["cold"], 0)


@test("a report makes no remote: its folder may not be mounted")
def _(scene):
    ended = scene.run("true", options=["-v"])
    require("the folder is not there" in ended.err, ended.err)
    require(not os.path.exists(scene.path("remote")), os.listdir(scene.folder))


@test("two runs that share a root leave each their own")
def _(scene):
    os.mkdir(scene.path("remote"))
    runs = [scene.start("sh", "-c", f"exit {status}")
            for status in (0, 5, 6)]
    for each in runs:
        scene.finish(each)
    equal(sorted(json.loads(each)["status"] for each in reports(scene)),
          [0, 5, 6])


def over(server, scene):
    """A cold start and a warm one leave reports, and fleet adds them up."""
    with server(scene) as remote:
        started = start(scene, *QUIET, remote=remote)
        wait_until(lambda: fleet(scene, remote), "a report")
        scene.write("end", "")
        equal(scene.finish(started).status, 0)
        shutil.rmtree(scene.path(".triton"))
        warm = scene.shell(reader(), remote=remote, options=["-v"])
        equal(warm.counts(), ("2", "2", "0", "0"), warm.err)
        require(LEFT not in warm.err, warm.err)
        ref = fleet(scene, remote)
        equal((ref["starts"], ref["cold"], ref["compiled"], ref["unread"]),
              (2, 1, 2, 0))


@test("over Redis")
def _(scene):
    over(redis, scene)


@test("over HTTP")
def _(scene):
    over(nginx, scene)


@test("over S3")
def _(scene):
    over(s3, scene)


def hindered(scene, remote, *says, wait="30s", before=()):
    """The start does not change; there is a message with -v, else none."""
    for options in ([], ["-v"]):
        begin = time.time()
        ended = scene.shell(STARTED, remote=remote, before=before,
                            options=["--wait", wait, *options])
        check_started(scene, begin, ended, 0)
        require(ended.seconds < 8, ended.seconds)
        told = [line for line in ended.err.splitlines() if LEFT in line]
        equal(len(told), 1 if options else 0, ended.err)
        for text in says if options else ():
            require(text in told[0], text, told)
        require("secretword" not in ended.err, ended.err)
        os.unlink(scene.path("started"))


@test("a remote that can only be read hinders no start")
def _(scene):
    scene.fill()
    hindered(scene, scene.remote + "?mode=ro", "no remote may be written")
    equal(reports(scene), [])


@test("nor does a server that refuses writes")
def _(scene):
    with nginx(scene, methods="off") as remote:
        hindered(scene, remote, "can only be read")
    with redis(scene, user="default on nopass ~* -@all +@read +@connection "
               "+info +time") as remote:
        hindered(scene, remote, "ACL", "or do not push (push=never)")
    with s3(scene) as remote:
        scene.environment.update(READER)
        hindered(scene, remote, "403", "or do not push (push=never)")


@test("a remote that is slow hinders no start")
def _(scene):
    with hanging() as remote:
        hindered(scene, remote, "not done after 2 s", wait="200ms")


@test("a remote that is full hinders no start")
def _(scene):
    with redis(scene, maxmemory="1", maxmemory_policy="noeviction") as remote:
        hindered(scene, remote, "memory is full")
        equal(fleet(scene, remote), None)


@test("a folder that is full hinders no start")
def _(scene):
    need_root()
    os.makedirs(scene.path("full"))
    before = scene.able([
        "unshare", "-m", "sh", "-c",
        'cd "$1" && shift && mount -t tmpfs -o size=16k none full && mkdir full/remote && '
        '{ head -c 99999 /dev/zero >full/filler 2>/dev/null; exec "$@"; }', "sh",
        scene.folder])
    hindered(scene, "file://" + scene.path("full", "remote"), "No space left",
             "make room there, or use another folder",
             before=before)


@test("a remote that is slow while the command runs delays neither it nor its "
      "signals")
def _(scene):
    with hanging() as remote:
        started = scene.start("sh", "-c", "trap 'exit 7' TERM; touch on; "
                              "while :; do sleep 0.05; done", remote=remote,
                              options=["--wait", "100ms", "--quiet", "50ms"])
        wait_until(is_there(scene.path("on")), "the command")
        wait_until(lambda: any(line[1:2] == ["run"] for line in
                               descendants(started.pid).values()),
                   "the child that leaves a report")
        begin = time.monotonic()
        started.send_signal(signal.SIGTERM)
        ended = scene.finish(started)
    equal(ended.status, 7, ended.err)
    require(time.monotonic() - begin < 15, ended.err)


@test("why a kernel was compiled stands in the report, and fleet counts it; no "
      "secret, host or path does")
def _(scene):
    root = scene.fixture("here")
    scene.tkbundle("relocate", root)
    secrets = {"HF_TOKEN": SECRET, "OPENAI_API_KEY": SECRET + "-2",
               "HOSTNAME": "the-name-of-this-host"}
    scene.run(sys.executable, "-B", COMPILER, "kernel", root, KEY, ".ptx",
              ".version 8.7", ".version 9.0", env=secrets, options=("--cache", root),
              status=0)
    report, = reports(scene)
    document = json.loads(report)
    (name, _, reason), = document["made"]
    equal((name, reason, document["reasons"]),
          ("add_kernel", "ptxas", {"ptxas": 1}))
    ref = fleet(scene)
    equal([(each["reason"], each["compiled"], each["starts"])
           for each in ref["reasons"]], [("ptxas", 1, 1)])
    equal([each["name"] for each in ref["kernels"]], ["add_kernel"])
    # Nor does a failure tell of them.
    scene.run("true", env=secrets, options=("--cache", "/proc/no/such/root"))
    stored = b"\n".join(reports(scene))
    equal(len(reports(scene)), 2)
    require(b"cannot be written" in stored, stored)
    for text in (SECRET, "the-name-of-this-host", socket.gethostname(),
                 scene.folder, "/proc", "compiler.py", "HF_TOKEN"):
        require(text.encode() not in stored, text, stored)
    require(max(map(len, reports(scene))) <= 2048, stored)


@test("the name of a node can neither write on the terminal nor be large")
def _(scene):
    os.mkdir(scene.path("remote"))
    scene.run("true", options=["--node", "\x1b[31mred\n\x07line" + "x" * 999])
    ended = scene.tkbundle("fleet", "a/b", "--remote", scene.remote)
    require(not set(ended.out) & set("\x1b\x07"), ended.out)
    require(not any(line.startswith("\x07line") or line.startswith("line")
                    for line in ended.out.splitlines()), ended.out)
    report, = reports(scene)
    equal(len(json.loads(report)["node"]), 64)
