# SPDX-License-Identifier: Apache-2.0
"""Signals, stops and orphans."""
import collections
import os
import signal
import subprocess
import sys
import time

from scene import (Skip, children, equal, hanging, is_there, need, need_root,
                   process, require, test, wait_until)

# Logs each signal, until there is a file "end".
COUNTER = """
import os, signal, sys, time
log = open("log", "a", buffering=1)
def note(number, frame):
    print(int(number), file=log)
numbers = [int(word) for word in sys.argv[1:]]
for number in numbers:
    signal.signal(number, note)
open("ready", "w").close()
while not os.path.exists("end"):
    time.sleep(0.02)
"""
FORWARDED = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT,
             signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH, signal.SIGALRM,
             signal.SIGCONT, signal.SIGURG, signal.SIGTSTP, signal.SIGTTIN,
             signal.SIGTTOU, signal.SIGPIPE, signal.SIGRTMIN + 3]


def start_counter(scene, **more):
    started = scene.start(sys.executable, "-c", COUNTER,
                          *(str(int(number)) for number in FORWARDED), **more)
    wait_until(is_there(scene.path("ready")), "the command")
    return started


def logged(scene):
    if not os.path.exists(scene.path("log")):
        return []
    return [int(line) for line in scene.read("log").split()]


@test("each signal is forwarded once")
def _(scene):
    started = start_counter(scene)
    for number in FORWARDED:
        os.kill(started.pid, number)
        wait_until(lambda wanted=int(number): wanted in logged(scene),
                   f"signal {int(number)}")
    time.sleep(0.3)
    scene.write("end", "")
    equal(scene.finish(started).status, 0)
    got = collections.Counter(logged(scene))
    require(set(got.values()) == {1} and len(got) == len(FORWARDED), got)


@test("a signal that the command ends of ends it all")
def _(scene):
    started = scene.start("sh", "-c", "touch on; exec sleep 60")
    wait_until(is_there(scene.path("on")), "the command")
    time.sleep(0.1)
    started.terminate()
    ended = scene.finish(started)
    equal(ended.status, 143)
    ended.line()


@test("what the command sends to its group does not come back to it")
def _(scene):
    # Real-time signals are queued, each of them.
    script = """
import os, signal, time
number = signal.SIGRTMIN + 1
signal.pthread_sigmask(signal.SIG_BLOCK, [number])
os.killpg(0, number)
time.sleep(0.5)
count = 0
while signal.sigtimedwait([number], 0):
    count += 1
print(count)
"""
    started = scene.start(sys.executable, "-c", script, start_new_session=True)
    equal(scene.finish(started).out, "1\n")


@test("a signal that comes while it waits ends it without the command")
def _(scene):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        for push in ("always", "never"):
            with hanging() as remote:
                started = scene.start("touch", "on", remote=remote,
                                      options=["--wait", "20s",
                                               "--push", push])
                time.sleep(0.4)
                started.send_signal(number)
                ended = scene.finish(started)
            equal(ended.status, 128 + number)
            require(ended.seconds < 8, ended.seconds)
            require(not os.path.exists(scene.path("on")), "it was started")


@test("a signal that nohup ignores does not end the wait")
def _(scene):
    need("nohup")
    with hanging() as remote:
        started = scene.start("echo", "on", remote=remote, before=["nohup"],
                              options=["--wait", "1s"])
        time.sleep(0.4)
        started.send_signal(signal.SIGHUP)
        ended = scene.finish(started)
    equal((ended.status, ended.out), (0, "on\n"))


@test("a size of the window that changes does not end the wait")
def _(scene):
    with hanging() as remote:
        started = scene.start("echo", "on", remote=remote,
                              options=["--wait", "1s"])
        time.sleep(0.3)
        for number in (signal.SIGWINCH, signal.SIGCONT, signal.SIGCHLD):
            started.send_signal(number)
        equal(scene.finish(started).out, "on\n")


@test("it stops when the command stops, and goes on with it")
def _(scene):
    started = start_counter(scene)
    command = [pid for pid, line in children(started.pid).items()
               if COUNTER in line][0]
    os.kill(command, signal.SIGSTOP)
    wait_until(lambda: process(started.pid)[1] == "T", "our stop")
    os.kill(started.pid, signal.SIGCONT)
    wait_until(lambda: process(command)[1] != "T", "the command's going on")
    scene.write("end", "")
    equal(scene.finish(started).status, 0)


@test("it goes on with a command that alone is continued or killed")
def _(scene):
    for number, status in (signal.SIGCONT, 0), (signal.SIGKILL, 137):
        started = start_counter(scene)
        command = [pid for pid, line in children(started.pid).items()
                   if COUNTER in line][0]
        os.kill(command, signal.SIGSTOP)
        wait_until(lambda: process(started.pid)[1] == "T", "our stop")
        os.kill(command, number)
        wait_until(lambda: process(started.pid)[1] != "T", "our going on")
        scene.write("end", "")
        equal(scene.finish(started).status, status)
        equal(logged(scene), [int(signal.SIGCONT)])
        os.unlink(scene.path("ready"))
        os.unlink(scene.path("end"))


@test("one child looks at a command that is stopped again and again")
def _(scene):
    started = start_counter(scene)
    command = [pid for pid, line in children(started.pid).items()
               if COUNTER in line][0]
    count = len(children(started.pid))
    os.kill(command, signal.SIGSTOP)
    for _ in range(5):
        wait_until(lambda: process(started.pid)[1] == "T", "our stop")
        os.kill(command, signal.SIGCONT)
        os.kill(command, signal.SIGSTOP)
        time.sleep(0.02)
        os.kill(started.pid, signal.SIGCONT)
        time.sleep(0.02)
    equal(len(children(started.pid)), count + 1)
    os.kill(command, signal.SIGCONT)
    wait_until(lambda: process(started.pid)[1] != "T", "our going on")
    scene.write("end", "")
    equal(scene.finish(started).status, 0)


@test("orphans of the command come to us, and are reaped")
def _(scene):
    # The shell in the middle dies before its own child.
    script = ("sh -c 'sleep 1 & echo $! >orphan'; "
              "until test -e end; do sleep 0.02; done")
    started = scene.start("sh", "-c", script)
    wait_until(lambda: os.path.exists(scene.path("orphan")) and
               scene.read("orphan"), "the orphan")
    orphan = int(scene.read("orphan"))
    wait_until(lambda: process(orphan)[2] == started.pid, "it to us")
    wait_until(lambda: process(orphan) is None, "its end")
    scene.write("end", "")
    equal(scene.finish(started).status, 0)


@test("an orphan that lives on does not hold it")
def _(scene):
    ended = scene.shell("sh -c 'exec sleep 5 >&- 2>&-' & exit 3", status=3)
    require(ended.seconds < 4, ended.seconds)


def need_namespaces():
    need_root()
    need("unshare")
    if subprocess.run(["unshare", "-pf", "--mount-proc", "true"], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip("there can be no PID namespace here")


CONTAINER = ["unshare", "-pf", "--mount-proc"]


@test("as process 1 it exits as the command does")
def _(scene):
    need_namespaces()
    for script, status in (("exit 5", 5), ("kill -TERM $$", 143),
                           ("kill -INT $$", 130)):
        for push in ("always", "never"):
            scene.shell(script, before=CONTAINER, options=["--push", push],
                        status=status)


@test("as process 1 it forwards what would be ignored, and reaps")
def _(scene):
    need_namespaces()
    started = scene.start(
        "sh", "-c", "trap 'echo got; exit 6' TERM; sh -c 'sleep 0.1 &'; "
        "touch on; for i in $(seq 100); do sleep 0.1; "
        "ps -e -o stat= | grep -c Z >zombies; done", before=CONTAINER)
    wait_until(is_there(scene.path("on")), "the command")
    wait_until(is_there(scene.path("zombies")), "a count")
    time.sleep(0.8)
    init = list(children(started.pid))[0]
    os.kill(init, signal.SIGTERM)
    ended = scene.finish(started)
    equal((ended.status, ended.out), (6, "got\n"), ended.err)
    equal(scene.read("zombies"), "0\n")


@test("as process 1 with --push never, no pull is left to the command")
def _(scene):
    need_namespaces()
    with hanging() as remote:
        ended = scene.shell("ps -e -o ppid=,args= | grep \"^ *$$ \" | "
                            "grep -v ps; echo ran", before=CONTAINER,
                            remote=remote,
                            options=["--push", "never", "--wait", "300ms"])
    require(" pull " not in ended.out and ended.out.endswith("ran\n"),
            ended.out)
    require("pull: not done after 300 ms" in ended.reason(), ended.err)
