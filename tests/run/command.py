# SPDX-License-Identifier: Apache-2.0
"""The command gets all that tkbundle was given, and tkbundle ends as the command
does."""
import hashlib
import os
import signal
import subprocess
import sys

from scene import (ENTRIES, Skip, children, equal, hanging, is_there, process,
                   processes, require, test, wait_until)

# Prints what a process inherits, except what differs for each process.
FACTS = """
import os, re, signal
own = os.listdir("/proc/self/fd")
print(sorted(int(fd) for fd in own if os.path.exists("/proc/self/fd/" + fd)))
with open("/proc/self/status") as file:
    print(re.findall("Sig(?:Blk|Ign|Cgt):.*", file.read()))
print(os.getpgrp(), os.getsid(0), os.nice(0), os.getcwd())
print(sorted(item for item in os.environ.items()
             if item[0] not in ("TRITON_CACHE_DIR", "_")))
"""


@test("it exits as the command does")
def _(scene):
    for status in (0, 1, 7, 126, 255):
        scene.shell(f"exit {status}", status=status)


@test("a command that dies of a signal gives 128 and its number")
def _(scene):
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV,
                   signal.SIGINT):
        scene.shell(f"kill -{int(number)} $$", status=128 + number)


@test("a command that is not there gives 127, and one that is no program 126")
def _(scene):
    # A folder of the PATH that cannot be read would make it 126.
    path = {"PATH": "/usr/bin:/bin"}
    ended = scene.run("no-such-command", env=path, status=127)
    require("cannot run 'no-such-command': No such file" in ended.err,
            ended.err)
    scene.write("text", "no program")
    scene.run("./text", status=126)
    for push in ("never", "on-exit"):
        options = ["--push", push]
        scene.run("./text", options=options, status=126)
        scene.run("no-such-command", options=options, env=path, status=127)


@test("the command's words are its own")
def _(scene):
    words = ["", "--ref", "-h", "--", "a b", "redis://:x@host", "\n"]
    ended = scene.run("printf", "%s|", *words)
    equal(ended.out, "".join(word + "|" for word in words))
    line = [word for word in scene.line_of("printf", "%s|", *words)]
    line.remove("--")  # the first
    equal(scene.go(line).out, ended.out)


@test("a command line without a command is refused")
def _(scene):
    ended = scene.go(scene.line_of())
    equal((ended.status, ended.out), (2, ""))
    require("COMMAND is missing" in ended.err, ended.err)
    scene.run("true", options=["--wait", "soon"], status=2)


@test("the command reads all of standard input, which nobody else touches")
def _(scene):
    data = os.urandom(3_000_000)
    ended = scene.run("sha256sum", data=data)
    equal(ended.out.split()[0], hashlib.sha256(data).hexdigest())


@test("the command can print much, and its reader sees the end with its own")
def _(scene):
    with hanging() as remote:
        started = scene.start("sh", "-c",
                              "head -c 50000000 /dev/zero; exec >&-; "
                              "until test -e go; do sleep 0.02; done",
                              remote=remote, options=["--wait", "100ms"])
        size = 0
        while True:
            part = os.read(started.stdout.fileno(), 1 << 20)
            if not part:
                break
            size += len(part)
        equal(size, 50_000_000)
        require(started.poll() is None, "the command has ended")
        equal(len(all_pulls(scene)), 1, "the pull is to go on")
    scene.write("go", "")
    equal(scene.finish(started).status, 0)


@test("who writes to the command's standard input learns when it is closed")
def _(scene):
    read, write = os.pipe()
    with hanging() as remote:
        check_input(scene, read, write, scene.line_of(
            "sh", "-c", "exec <&-; touch closed; "
            "until test -e go; do sleep 0.02; done", remote=remote,
            options=["--wait", "100ms"]))


def check_input(scene, read, write, line):
    with subprocess.Popen(line, stdin=read, env=scene.environment,
                          cwd=scene.folder, stderr=subprocess.PIPE) as started:
        scene.started.append(started)
        os.close(read)
        wait_until(is_there(scene.path("closed")), "the command")
        try:
            os.write(write, b"x")
            raise AssertionError("somebody still holds it")
        except BrokenPipeError:
            pass
        finally:
            os.close(write)
            scene.write("go", "")
        started.communicate(timeout=60)


@test("the command has our descriptors, signals, group and environment")
def _(scene):
    command = [sys.executable, "-c", FACTS]
    wanted = scene.go(command).out
    extra = os.open("/dev/null", os.O_RDONLY)
    try:
        for options in ([], ["--push", "never"], ["--push", "on-exit"]):
            got = scene.run(*command, options=options)
            differing = [pair for pair in zip(wanted.splitlines(),
                                              got.out.splitlines())
                         if pair[0] != pair[1]]
            require(wanted.count("\n") == 4 and not differing, differing,
                    got.err)
            with_extra = scene.run(*command, options=options,
                                   pass_fds=[extra])
            require(f" {extra}]" in with_extra.out or
                    f" {extra}," in with_extra.out, with_extra.out)
    finally:
        os.close(extra)


@test("what is ignored, blocked or closed for us is for the command, too")
def _(scene):
    odd = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM])
os.close(0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
    command = [sys.executable, "-S", "-c", FACTS]
    before = [sys.executable, "-c", odd]
    wanted = scene.go([*before, *command])
    require("SigBlk:\\t0000000000004200" in wanted.out, wanted.out)
    equal(scene.run(*command, before=before).out, wanted.out)
    equal(scene.run(*command, before=before,
                    options=["--push", "never"]).out, wanted.out)


@test("the command learns where the cache is")
def _(scene):
    print_both = ("echo ${TRITON_CACHE_DIR-none} "
                  "${TORCHINDUCTOR_CACHE_DIR-none}")

    def said(*options, **env):
        ended = scene.shell(print_both, options=options, env=env)
        return ended.out.split(), ended.reason()

    equal(said()[0], [scene.root, "none"])
    equal(said("--cache", "warm")[0], [scene.path("warm"), "none"])
    equal(said(TRITON_CACHE_DIR="mine")[0], ["mine", "none"])
    equal(said("--cache", "torchinductor_me")[0],
          ["none", scene.path("torchinductor_me")])
    equal(said(TORCHINDUCTOR_CACHE_DIR="x")[0], ["none", "x"])
    os.makedirs(scene.path("other", "triton", "3"))
    equal(said("--cache", "other")[0], ["none", scene.path("other")])
    words, reason = said("--cache", "warm", TRITON_CACHE_DIR="mine")
    equal(words, ["mine", "none"])
    require("TRITON_CACHE_DIR names 'mine'" in reason, reason)


@test("the command has the user's TKBUNDLE_REMOTE, and not ours")
def _(scene):
    script = "echo ${TKBUNDLE_REMOTE-none}"
    equal(scene.shell(script).out, "none\n")
    equal(scene.shell(script, env={"TKBUNDLE_REMOTE": "file:///x"}).out,
          "file:///x\n")


@test("the remote can come from the environment")
def _(scene):
    scene.fill()
    line = scene.line_of("true")
    at = line.index("--remote")
    ended = scene.go([*line[:at], *line[at + 2:]],
                     env={"TKBUNDLE_REMOTE": scene.remote})
    equal((ended.status, ended.counts()[0]), (0, str(ENTRIES)), ended.err)
    # The command line has precedence.
    ended = scene.run("true", options=["--cache", "other"],
                      env={"TKBUNDLE_REMOTE": "file:///nowhere"})
    equal(ended.counts()[0], str(ENTRIES), ended.err)


@test("with TKBUNDLE_DISABLE it becomes the command at once")
def _(scene):
    with hanging() as remote:
        started = scene.start("sh", "-c", "echo $$ $TRITON_CACHE_DIR",
                              remote=remote, env={"TKBUNDLE_DISABLE": "1"})
        ended = scene.finish(started)
    equal((ended.status, ended.out), (0, f"{started.pid}\n"))
    require(ended.seconds < 1.5, ended.seconds)


@test("with --push never it only counts beside the command")
def _(scene):
    scene.fill()
    ended = scene.shell("ls $TRITON_CACHE_DIR | wc -l; exit 9",
                        options=["--push", "never"])
    equal((ended.status, ended.out), (9, f"{ENTRIES}\n"))
    equal(ended.counts(), (str(ENTRIES), "0", "0", "0"))


@test("with --push never a pull goes on that is no child of the command's")
def _(scene):
    options = ["--push", "never", "--wait", "300ms", "--deadline", "3s"]
    with hanging() as remote:
        started = scene.start("sh", "-c", "echo $$ >pid; : >on; exec sleep 30",
                              options=options, remote=remote)
        pulls = wait_until(lambda: all_pulls(scene), "the pull")
        wait_until(is_there(scene.path("on")), "the command")
        equal(list(children(int(scene.read("pid"))).values()), [])
        require(os.path.exists(f"/proc/{pulls[0]}"), "the pull is gone")
        wait_until(lambda: not os.path.exists(f"/proc/{pulls[0]}"),
                   "the pull's end")
        require(started.poll() is None, "the command has ended")


def all_pulls(scene):
    """Pulls into this scene's root, whoever's they are."""
    return [pid for pid, facts in processes().items()
            if facts[3][1:2] == ["pull"] and scene.root in facts[3]]


@test("no secret stands in a command line or in the last line")
def _(scene):
    with hanging() as remote:
        started = scene.start("sh", "-c", "touch on; sleep 1",
                              options=["--wait", "500ms"], remote=remote)
        pull = scene.child(started, "pull")
        lines = [process(pid)[3] for pid in (started.pid, pull)]
        ended = scene.finish(started)
    require("secretword" not in str(lines), lines)
    require("secretword" not in ended.err, ended.err)
    equal(ended.status, 0)


@test("where no process can be had, it becomes the command")
def _(scene):
    if os.geteuid() != 0:
        raise Skip("it needs root, to be somebody who has no processes")
    os.chmod(scene.folder, 0o777)
    before = ["prlimit", "--nproc=1", "setpriv", "--reuid", "64321",
              "--regid", "64321", "--clear-groups"]
    if not can_be_run_by_others(scene):
        raise Skip("others cannot run the program here")
    started = scene.start("sh", "-c", "echo $$", before=before)
    ended = scene.finish(started)
    equal((ended.status, ended.out), (0, f"{started.pid}\n"), ended.err)


def can_be_run_by_others(scene):
    return scene.go(["setpriv", "--reuid", "64321", "--regid", "64321",
                     "--clear-groups", scene.program,
                     "--version"]).status == 0
