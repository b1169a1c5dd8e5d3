# SPDX-License-Identifier: Apache-2.0
"""What is reported while the command runs: figures, lines, documents."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

from answers import Answering, serving
from pushes import compiling, figures, gauges_of, reader
from scene import (ENTRIES, HERE, KERNELS, children, equal, files_below,
                   hanging, is_there, process, require, test, wait_until)

OPERATIONS = os.path.join(HERE, "..", "..", "docs", "operations.md")
UNTIL_END = "until test -e end; do sleep 0.05; done"
START = re.compile(r"tkbundle: emitted (\w+), starting(?:; (.*))?")


def wait_for(scene, what, **values):
    """Wait until the file has these values."""
    def is_so():
        got = figures(scene)
        return got and all(got.get(name) == value
                           for name, value in values.items())
    wait_until(is_so, f"{what}: {values}, not {figures(scene)}")


def finish(scene, started):
    scene.write("end", "")
    return scene.finish(started)


def empty_remote(scene):
    for _, path in list(files_below(scene.path("remote", "cas"))):
        os.unlink(path)


def closed_port():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        return closed.getsockname()[1]


@test("figures are there while the command runs, whatever is pushed")
def _(scene):
    scene.fill()
    for push in ("never", "on-exit", "always"):
        root = scene.path(push)
        started = scene.start(
            "sh", "-c", "until test -e read; do sleep 0.05; done; " + reader()
            + "; until test -e compile; do sleep 0.05; done; mkdir "
            "$TRITON_CACHE_DIR/NEW && echo {} "
            ">$TRITON_CACHE_DIR/NEW/__grp__k.json; " + UNTIL_END, options=[
                "--cache", root, "--metrics", "figures", "--refresh", "100ms",
                "--push", push])
        wait_for(scene, push, emitted=ENTRIES, used=0, compiled=0, success=1)
        scene.write("read", "")
        wait_for(scene, push, used=KERNELS, compiled=0)
        scene.write("compile", "")
        wait_for(scene, push, used=KERNELS, compiled=1)
        require(started.poll() is None, "the command has ended")
        equal(finish(scene, started).counts()[:3],
              (str(ENTRIES), str(KERNELS), "1"))
        for name in ("read", "compile", "end", "figures"):
            os.unlink(scene.path(name))


@test("a push that has ended is told at once, not in 30 seconds")
def _(scene):
    started = scene.start("sh", "-c", compiling(scene) + "; " + UNTIL_END,
                          options=["--metrics", "figures"])
    wait_for(scene, "a push", pushed=ENTRIES, compiled=ENTRIES)
    require(time.monotonic() - started.begin < 25, "it was the interval")
    equal(finish(scene, started).counts()[3], str(ENTRIES))


@test("success is 0 while the command runs, where the pull failed")
def _(scene):
    scene.fill()
    empty_remote(scene)
    for push in ("never", "on-exit", "always"):
        for remote in (f"redis://127.0.0.1:{closed_port()}", scene.remote,
                       scene.path("no", "such")):
            started = scene.start(
                "sh", "-c", UNTIL_END, remote=remote, options=[
                    "--metrics", "figures", "--push", push])
            wait_for(scene, remote, success=0, emitted=0)
            finish(scene, started)
            equal(figures(scene)["success"], 0)
            os.unlink(scene.path("figures"))
            os.unlink(scene.path("end"))


@test("a pull that is late is told when it has ended, and no failure then")
def _(scene):
    scene.fill()
    for push in ("never", "always"):
        started = scene.start("sh", "-c", UNTIL_END, options=[
            "--wait", "0s", "--cache", push, "--metrics", "figures",
            "--push", push])
        wait_for(scene, "the pull", emitted=ENTRIES, success=1)
        ended = finish(scene, started)
        lines = ended.err.splitlines()
        require(START.fullmatch(lines[0]), lines)
        equal(lines[0].partition(",")[0], "tkbundle: emitted unknown")
        require(f"tkbundle: emitted {ENTRIES}, used 0, compiled anew 0, "
                "pushed 0; pull: not done after 0 s" in lines[1:-1] or
                len(lines) == 2, lines)
        os.unlink(scene.path("figures"))
        os.unlink(scene.path("end"))


@test("a late pull that fails is told before the command has ended")
def _(scene):
    with hanging() as remote:
        started = scene.start("sh", "-c", UNTIL_END, remote=remote, options=[
            "--wait", "100ms", "--deadline", "1s", "--metrics", "figures"],
            stderr=open(scene.path("err"), "w", encoding="utf-8"))
        wait_until(lambda: scene.read("err").count("\n") == 2, "a line")
        equal(figures(scene)["success"], 0)
        finish(scene, started)
    # Whose deadline is over first, that of the pull or ours for it?
    require(re.search("; pull: (not done after|.*the deadline of .* ended it)",
                      scene.read("err").splitlines()[1]), scene.read("err"))


@test("a push that fails is told once, not each time")
def _(scene):
    asked = []

    class Broken(Answering):
        def do_GET(self):  # pylint: disable=invalid-name
            # A pull asks once for the ref's records, and so does each push.
            if self.path.startswith("/cache/ref/a"):
                asked.append(self.path)
            self.answer(503)

    with serving(Broken) as server:
        started = scene.start("sh", "-c", "touch on; " + UNTIL_END, options=[
            "--quiet", "300ms"], remote=f"{server.url}/cache?retries=0")
        wait_until(is_there(scene.path("on")), "the command")
        for number in range(3):
            scene.write(f".triton/cache/K{number}/__grp__k.json", "{}")
            wait_until(lambda count=number + 2: len(asked) == count, "a push")
        ended = finish(scene, started)
    lines = ended.err.splitlines()
    equal(len(lines), 3, ended.err)
    require("; push: " in lines[1] and "; push: " in lines[2], ended.err)


@test("without --metrics nothing counts while nothing happens")
def _(scene):
    scene.fill()
    started = scene.start("sh", "-c", UNTIL_END, options=[
        "--push", "never"])
    wait_until(lambda: any(line[:1] == ["sh"] for line in
                           children(started.pid).values()), "the command")
    seen = set()
    for _ in range(200):
        seen.update(children(started.pid))
        time.sleep(0.005)
    equal(len(seen), 1)
    equal(finish(scene, started).status, 0)


@test("standard error that nobody reads holds neither start nor signals")
def _(scene):
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while True:
            os.write(write, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(write, True)
    try:
        started = scene.start("sh", "-c", "touch on; exec sleep 50",
                              stderr=write)
        wait_until(is_there(scene.path("on")), "the command")
        started.terminate()
        wait_until(lambda: not [line for line in children(started.pid).values()
                                if line[:1] == ["sleep"]], "its end")
    finally:
        os.close(write)
        os.close(read)
    started.communicate(timeout=60)
    equal(started.returncode, 128 + signal.SIGTERM)


@test("with --json each line is a document, and so is the last one")
def _(scene):
    scene.fill()
    for push in ("never", "always"):
        ended = scene.shell(reader() + "; exit 7", options=[
            "--json", "--cache", push, "--push", push, "--metrics", "figures"])
        equal((ended.status, ended.out), (7, f"{KERNELS}\n"))
        first, last = map(json.loads, ended.err.splitlines())
        equal((first["event"], last["event"]), ("start", "end"))
        equal((first["emitted"], first["used"], first["compiled"]),
              (ENTRIES, None, None))
        equal([last[name] for name in ("verb", "ref", "emitted", "used",
                                       "compiled", "pushed", "success",
                                       "reasons", "status")],
              ["run", "a/b", ENTRIES, KERNELS, 0, 0, True, [], 7])
        require(set(figures(scene)) <= set(last), figures(scene), last)
        equal(figures(scene)["delay_seconds"], last["delay_seconds"])
    ended = scene.shell("kill -9 $$", options=["--json"],
                        remote=f"redis://127.0.0.1:{closed_port()}")
    last = json.loads(ended.err.splitlines()[-1])
    equal((last["status"], last["success"]), (137, False))
    equal([reason["of"] for reason in last["reasons"]], ["pull"])


@test("a command that cannot be run has its last document and its figures")
def _(scene):
    scene.fill()
    scene.write("text", "no program")
    for word, status, reason in (
            ("no-such-command", 127, "No such file or directory"),
            ("./text", 126, "Permission denied")):
        for push in ("never", "always"):
            ended = scene.run(word, env={"PATH": "/usr/bin:/bin"}, options=[
                "--json", "--cache", f"of-{status}", "--push", push,
                "--metrics", "figures"], status=status)
            first, last = map(json.loads, ended.err.splitlines())
            equal((first["event"], last["event"]), ("start", "end"))
            equal((last["status"], last["reasons"]), (status, [
                {"of": "command",
                 "message": f"cannot run '{word}': {reason}"}]))
            equal((last["pushed"], last["success"]), (0, True))
            equal(figures(scene)["delay_seconds"], last["delay_seconds"])
            os.unlink(scene.path("figures"))


@test("a --refresh without --metrics is refused, and nothing is run")
def _(scene):
    ended = scene.shell("touch on", options=["--refresh", "1s"], status=2)
    require("'--refresh' needs '--metrics'" in ended.err, ended.err)
    require(not os.path.exists(scene.path("on")), "the command ran")


def alerts():
    """Names and expressions of the rules that operations.md shows."""
    with open(OPERATIONS, encoding="utf-8") as file:
        text = file.read()
    found = dict(re.findall(r"- alert: (\w+).*\n +expr: (.*)", text))
    require(len(found) > 4, found)
    return found


class Gauges(dict):
    """As in Prometheus, comparing with a missing metric gives nothing."""

    def __missing__(self, name):
        return float("nan")


def fires(expression, gauges, later=0):
    require(re.fullmatch(r"(?:tkbundle_\w+|time\(\)|[-<>=*. 0-9]|or)+",
                         expression), expression)
    names = Gauges(gauges, time=lambda: time.time() + later)
    return eval(expression, {"__builtins__": {}}, names)  # it is checked


@test("each alert of operations.md fires from what is written, and only then")
def _(scene):
    rules = alerts()
    fired = set()
    scene.fill()

    def gauges_while(script, **more):
        """Of a server that is up, and only pulls."""
        options = ["--metrics", "figures", "--refresh", "100ms", "--push",
                   "never", "--cache", "served", *more.pop("options", ())]
        started = scene.start("sh", "-c", f"{script}; touch on; {UNTIL_END}",
                              options=options, **more)
        wait_until(is_there(scene.path("on")), "the command")
        since = time.time()
        wait_until(lambda: figures(scene).get("timestamp_seconds", 0) > since,
                   "figures")
        got = gauges_of(scene, "figures")
        finish(scene, started)
        shutil.rmtree(scene.path("served"), ignore_errors=True)
        for name in ("on", "end", "figures"):
            os.unlink(scene.path(name))
        return got

    def note(name, gauges, **more):
        require(fires(rules[name], gauges, **more), name, gauges)
        fired.add(name)

    good = gauges_while("true")
    scene.tkbundle("pull", "a/b", "pulled", "--remote", scene.remote,
                   "--metrics", "pull.prom")
    scene.tkbundle("gc", "--remote", scene.remote, "--metrics", "gc.prom")
    good.update(gauges_of(scene, "pull.prom", "gc.prom"))
    for name, rule in rules.items():
        require(not fires(rule, good), name, good)

    note("KernelsNotCleanedUp", good, later=3 * 86400)
    note("KernelsStartCold", gauges_while(compiling(scene),
                                          remote=scene.path("empty")))
    refused = f"redis://127.0.0.1:{closed_port()}"
    note("KernelsRemoteFails", gauges_while("true", remote=refused))
    scene.tkbundle("pull", "a/b", "pulled", "--remote", refused,
                   "--best-effort", "--metrics", "pull.prom")
    note("KernelsRemoteFails", gauges_of(scene, "pull.prom"))
    with hanging() as remote:
        note("KernelsDelayStarts", gauges_while("true", remote=remote,
                                                options=["--wait", "2s"]))
    empty_remote(scene)
    note("KernelsEvicted", gauges_while("true"))
    scene.tkbundle("pull", "a/b", "evicted", "--remote", scene.remote,
                   "--metrics", "pull.prom", status=4)
    note("KernelsEvicted", gauges_of(scene, "pull.prom"))
    equal(fired, set(rules))


def killed(scene, *options):
    """Kill a run; the pid of its command."""
    started = scene.start("sh", "-c", "echo $$ >pid.new; mv pid.new pid; "
                          "exec sleep 50", options=options,
                          stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL)
    wait_until(is_there(scene.path("pid")), "the command")
    pid = int(scene.read("pid"))
    with open(f"/proc/{started.pid}/status", encoding="utf-8") as file:
        # The kernel tells a child of its parent's thread.
        require("Threads:\t1\n" in file.read(), "threads")
    started.kill()
    started.wait()
    os.unlink(scene.path("pid"))
    return pid


def is_alive(pid):
    facts = process(pid)
    return facts is not None and facts[1] != "Z"


@test("a run that is killed leaves its command, but with --kill-child")
def _(scene):
    for push in ("never", "always"):
        pid = killed(scene, "--push", push)
        try:
            time.sleep(0.5)
            require(is_alive(pid), "the command is gone")
        finally:
            os.kill(pid, signal.SIGKILL)
        pid = killed(scene, "--push", push, "--kill-child")
        wait_until(lambda gone=pid: not is_alive(gone), "its end")


@test("--kill-child changes nothing else for the command")
def _(scene):
    ended = scene.shell("exit 9", options=["--kill-child"])
    equal((ended.status, ended.counts()[2]), (9, "0"))
