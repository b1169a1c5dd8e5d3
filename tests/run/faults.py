# SPDX-License-Identifier: Apache-2.0
"""Whatever part of tkbundle fails, hangs or crashes, the command runs."""
import errno
import glob
import json
import os
import shutil
import signal
import socket
import sys
import time

from pushes import compiling, reader
from sandbox import NEWER, refusing
from scene import (ENTRIES, HERE, KERNELS, Skip, children, equal, hanging, is_there, need,
                   need_root, process, processes, require, small_disk, test, wait_until)

STARTED = "date +%s.%N >started; exit 3"


def delay(scene, begin):
    """How many seconds later than `begin` the command was started."""
    return float(scene.read("started")) - begin


def check_started(scene, begin, ended, least, most=8):
    """Check that the command ran, not before `least` and not much later."""
    equal(ended.status, 3, ended.err)
    require(least <= delay(scene, begin) < least + most,
            f"it began after {delay(scene, begin)} s")


@test("a remote that says nothing delays the start by --wait, no more or less")
def _(scene):
    for wait, seconds in (("700ms", 0.7), ("2s", 2)):
        with hanging() as remote:
            begin = time.time()
            ended = scene.shell(STARTED, remote=remote, options=[
                "--wait", wait])
        check_started(scene, begin, ended, seconds)
        shown = "2 s" if wait == "2s" else "700 ms"
        require(f"; pull: not done after {shown}" in ended.err, ended.err)


@test("without --wait it is two seconds")
def _(scene):
    with hanging() as remote:
        line = scene.line_of("sh", "-c", STARTED, remote=remote)
        at = line.index("--wait")
        begin = time.time()
        check_started(scene, begin, scene.go([*line[:at], *line[at + 2:]]), 2)


@test("with --wait 0s nothing is waited for")
def _(scene):
    with hanging() as remote:
        begin = time.time()
        ended = scene.shell(STARTED, remote=remote, options=["--wait", "0s"])
    check_started(scene, begin, ended, 0, most=1)


@test("a pull that has ended is not waited for")
def _(scene):
    scene.fill()
    begin = time.time()
    ended = scene.shell(STARTED, options=["--wait", "30s"])
    check_started(scene, begin, ended, 0)
    equal((ended.counts()[0], ended.reason()), (str(ENTRIES), ""))


@test("a remote that refuses is named, with why, and without its secret")
def _(scene):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        ended = scene.shell("exit 3",
                            remote=f"redis://:secretword@127.0.0.1:{port}/2")
    equal((ended.status, ended.counts()), (3, ("0", "0", "0", "0")))
    require("pull: " in ended.reason() and f"127.0.0.1:{port}/2" in ended.err
            and "refused" in ended.err, ended.err)
    require("secretword" not in ended.err, ended.err)
    # There is a warning before the reason.
    ended = scene.shell("exit 3",
                        remote="rediss://127.0.0.1:1?verify=false")
    reasons = ended.reason().split("; ")
    require(reasons[0].startswith("remote 'rediss://127.0.0.1:1': verify=false")
            and reasons[1].startswith("pull: remote 'rediss://127.0.0.1:1': ")
            and "refused" in reasons[1] and "verify" not in reasons[1] and
            len(reasons) == 2, ended.err)


@test("a remote that is no URL, or a ref that is none, starts the command")
def _(scene):
    for remote in ("nonsense://x", "redis://", "file://"):
        ended = scene.shell("exit 3", remote=remote)
        equal((ended.status, ended.counts()[0]), (3, "0"))
        require("pull: " in ended.reason(), ended.err)
    line = scene.line_of("sh", "-c", "exit 3")
    line[line.index("a/b")] = "../b"
    ended = scene.go(line, status=3)
    require("pull: " in ended.reason(), ended.err)


@test("a pull that is killed, or crashes, is a cold start")
def _(scene):
    for number in (signal.SIGKILL, signal.SIGABRT, signal.SIGTRAP):
        with hanging() as remote:
            started = scene.start("sh", "-c", "exit 3", remote=remote,
                                  options=["--wait", "20s"])
            os.kill(scene.child(started, "pull"), number)
            ended = scene.finish(started)
        equal(ended.status, 3)
        require(ended.seconds < 10, ended.seconds)
        equal(ended.reason(), f"pull: killed by signal {int(number)}")


@test("a pull that is stopped delays the start by --wait, and is killed")
def _(scene):
    with hanging() as remote:
        started = scene.start("sh", "-c", STARTED, remote=remote,
                              options=["--wait", "1s"])
        pull = scene.child(started, "pull")
        os.kill(pull, signal.SIGSTOP)
        ended = scene.finish(started)
    equal(ended.status, 3)
    require(1 <= ended.seconds < 10, ended.seconds)
    equal(ended.reason(), "pull: not done after 1 s")
    require(process(pull) is None, "the pull is still there")


@test("a pull that is over its deadline is ended beside the command")
def _(scene):
    with hanging() as remote:
        started = scene.start("sh", "-c",
                              "until test -e end; do sleep 0.05; done",
                              remote=remote, options=[
                                  "--wait", "100ms", "--deadline", "1s"])
        pull = scene.child(started, "pull")
        os.kill(pull, signal.SIGSTOP)  # it does not end by itself
        wait_until(lambda: process(pull) is None, "its end")
        scene.write("end", "")
        ended = scene.finish(started)
    equal(ended.reason(), "pull: not done after 1 s")


@test("a push that is killed is told, and the rest is pushed in the end")
def _(scene):
    script = compiling(scene) + "; until test -e end; do sleep 0.05; done"
    with hanging() as remote:
        started = scene.start("sh", "-c", script, remote=remote, options=[
            "--wait", "100ms", "--deadline", "2s"])
        first = scene.child(started, "push")
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: process(first) is None, "its end")
        scene.write("end", "")
        again = scene.child(started, "push")
        os.kill(again, signal.SIGKILL)
        ended = scene.finish(started)
    equal(ended.status, 0)
    require("push: killed by signal 9" in ended.reason(), ended.err)


@test("the program may be removed or replaced while it runs")
def _(scene):
    for replace in (False, True):
        copy = scene.path("copy")
        shutil.copy2(scene.program, copy)
        real, scene.program = scene.program, copy
        libraries = {"LD_LIBRARY_PATH": os.path.dirname(real)}
        started = scene.start("sh", "-c",
                              "rm -f copy; touch on; "
                              "until test -e end; do sleep 0.05; done; " +
                              compiling(scene, int(replace) + 1),
                              env=libraries)
        scene.program = real
        wait_until(is_there(scene.path("on")), "the command")
        if replace:
            scene.write("copy", "#!/bin/sh\nexit 9\n")
            os.chmod(copy, 0o755)
        scene.write("end", "")
        ended = scene.finish(started)
        equal(ended.counts()[3], "1", ended.err)
        os.remove(scene.path("end"))
        os.remove(scene.path("on"))
        shutil.rmtree(scene.path(".triton"))


@test("a name service that does not answer is a cold start")
def _(scene):
    need_root()
    need("ip")
    scene.write("resolv.conf", "nameserver 127.0.0.1\noptions timeout:30\n")
    script = ('ip link set lo up && '
              'mount --bind resolv.conf /etc/resolv.conf && exec "$@"')
    server = ("import os, socket, subprocess, sys\n"
              "s = socket.socket(type=socket.SOCK_DGRAM)\n"
              "s.bind(('127.0.0.1', 53))\n"
              "sys.exit(subprocess.run(sys.argv[1:]).returncode)\n")
    before = scene.able(["unshare", "-mn", "sh", "-c", script, "sh", sys.executable,
                         "-c", server], "there can be no namespaces here")
    begin = time.time()
    ended = scene.shell(STARTED, before=before, options=["--wait", "1s"],
                        remote="redis://cache.example.invalid/"
                        "?timeout=60s&connect-timeout=60s")
    check_started(scene, begin, ended, 1)
    require("pull: not done after 1 s" in ended.reason(), ended.err)


def dead(scene, folder):
    """The arguments to run a command that sees `folder` as a dead mount."""
    need_root()
    os.makedirs(folder, exist_ok=True)
    return scene.able(["unshare", "-m", sys.executable,
                       os.path.join(HERE, "dead_mount.py"), folder], "there is no FUSE here")


@test("a root on a dead mount gives way to another one, that is pulled into")
def _(scene):
    scene.fill()
    root = scene.path("dead", "cache")
    begin = time.time()
    ended = scene.shell("ls $TRITON_CACHE_DIR | wc -l; " + STARTED,
                        options=["--cache", root, "--wait", "8s"],
                        before=dead(scene, scene.path("dead")))
    check_started(scene, begin, ended, 4)
    equal((ended.out, ended.counts()[0]), (f"{ENTRIES}\n", str(ENTRIES)))
    require(f"cache: '{root}' does not answer" in ended.reason(), ended.err)


@test("a remote on a dead mount is a cold start, and holds no exit for ever")
def _(scene):
    begin = time.time()
    ended = scene.shell(compiling(scene) + "; " + STARTED,
                        remote=scene.path("dead", "remote"),
                        before=dead(scene, scene.path("dead")),
                        options=["--wait", "1s", "--deadline", "2s"])
    check_started(scene, begin, ended, 1)
    require(ended.seconds < 15, ended.seconds)
    require("pull: not done after 1 s" in ended.reason(), ended.err)
    require("push: not done after" in ended.reason(), ended.err)


@test("with --push never, too, a dead mount only delays the start")
def _(scene):
    begin = time.time()
    ended = scene.shell(STARTED, remote=scene.path("dead", "remote"),
                        before=dead(scene, scene.path("dead")),
                        options=["--wait", "1s", "--push", "never"])
    check_started(scene, begin, ended, 1)
    require("pull: not done after 1 s" in ended.reason(), ended.err)


@test("a dead home folder, and with it the configuration, is a cold start")
def _(scene):
    begin = time.time()
    environment = {"HOME": scene.path("dead"), "TKBUNDLE_CONFIG": "",
                   "TRITON_CACHE_DIR": scene.path("warm")}
    ended = scene.shell(STARTED, env=environment,
                        before=dead(scene, scene.path("dead")),
                        options=["--wait", "1s", "--deadline", "2s"])
    check_started(scene, begin, ended, 0)
    require("configuration does not answer" in ended.reason(), ended.err)
    require("pull: not done after" in ended.reason(), ended.err)


@test("a root that dies while the command runs does not hold the exit")
def _(scene):
    """The command mounts it itself, and leaves somebody to keep it so."""
    root = scene.path("cache")
    dead(scene, scene.path("other"))
    script = (f"{sys.executable} {HERE}/dead_mount.py {root} "
              "sh -c 'touch on; exec sleep 40' >&- 2>&- & "
              "until test -e on; do sleep 0.05; done; sleep 3; exit 3")
    started = scene.start("sh", "-c", script, before=["unshare", "-m"],
                          options=["--cache", root, "--deadline", "3s"])
    ended = scene.finish(started)
    for pid in [pid for pid, facts in processes().items() if root in facts[3]]:
        os.kill(pid, signal.SIGKILL)
    equal(ended.status, 3)
    require(ended.seconds < 15, ended.seconds)
    equal(ended.counts()[1:3], ("unknown", "unknown"), ended.err)


@test("a limit on memory is no reason not to run the command")
def _(scene):
    need("prlimit")
    scene.shell("exit 3", before=["prlimit", "--fsize=1000"], status=3)
    scene.shell("exit 3", before=["prlimit", "--nofile=4"], status=3)


@test("nobody is left behind")
def _(scene):
    script = compiling(scene) + "; sleep 5"
    with hanging() as remote:
        started = scene.start("sh", "-c", script, remote=remote, options=[
            "--wait", "200ms", "--deadline", "1s"])
        seen = set()
        while started.poll() is None:
            seen.update(children(started.pid))
            time.sleep(0.02)
        scene.finish(started)
    left = [pid for pid in seen if process(pid) is not None]
    require(len(seen) > 2 and not left, seen, left)


@test("a sandbox that refuses newer system calls changes nothing")
def _(scene):
    cache = scene.fixture()
    for number in errno.EPERM, errno.ENOSYS:
        bound = {"preexec_fn": refusing(number, *NEWER)}
        place = scene.path(str(number))
        os.mkdir(place)

        def verb(*words):
            ended = scene.tkbundle(*words, **bound)
            equal(ended.err, "", words)
            return ended.out

        for profile in "lean", "full":
            said = verb("collect", cache, "-o", f"{place}/{profile}.tkb",
                        "--profile", profile)
            require(said.startswith(f"collected {ENTRIES} entries"), said)
        said = verb("emit", f"{place}/full.tkb", f"{place}/cache")
        require(said.startswith(f"emitted {ENTRIES}, "), said)
        verb("push", "a/b", f"{place}/cache", "--remote", scene.remote)
        ended = scene.shell(reader(), options=["--cache", f"{place}/cache"], **bound)
        equal(ended.out, f"{KERNELS}\n", ended.err)
        require("cannot be written" not in ended.err, ended.err)
        said = verb("gc", f"{place}/cache", "--max-size", "0")
        require(said.startswith(f"removed {ENTRIES} "), said)


def without_proc(scene):
    """Words to put before a command, and the variables that it needs then."""
    need_root()
    if os.environ.get("TKB_TEST_SANITIZED"):
        raise Skip("a sanitizer needs /proc")
    before = scene.able(["unshare", "-m", "sh", "-c",
                         'mount -t tmpfs none /proc && exec "$@"', "sh"])
    # The loader finds what is beside a program by /proc.
    return before, {"LD_LIBRARY_PATH": os.path.dirname(scene.program)}


@test("where no /proc is mounted, it starts warm")
def _(scene):
    before, libraries = without_proc(scene)
    scene.fill()
    for refused in (), NEWER:
        ended = scene.shell(reader(), before=before, env=libraries,
                            preexec_fn=refusing(errno.ENOSYS, *refused))
        equal(ended.out, f"{KERNELS}\n", ended.err)


@test("where no /proc is mounted, a bundle is exported, and keys are asked for")
def _(scene):
    before, libraries = without_proc(scene)
    bundle, config, asked = map(scene.path, ("a.tkb", "config", "asked"))
    scene.tkbundle("collect", scene.fixture(), "-o", bundle)
    scene.write(config, f"[default]\ncredential_process = touch {asked}\n")
    for refused in (), NEWER:
        bound = {"preexec_fn": refusing(errno.ENOSYS, *refused), "env": {
            **libraries, "AWS_CONFIG_FILE": config,
            "AWS_SHARED_CREDENTIALS_FILE": scene.path("none")}}
        ended = scene.go([*before, scene.program, "export", bundle, "--format", "zip", "-o",
                          scene.path(f"{len(refused)}.tar")], **bound)
        equal((ended.status, ended.err), (0, ""))
        scene.go([*before, scene.program, "refs", "--remote",
                  "s3://bucket?endpoint=http://localhost:1&retries=0"], **bound)
        os.remove(asked)


@test("an emit leaves no stage where a file that is open keeps its folder, as on NFS")
def _(scene):
    scene.tkbundle("collect", scene.fixture(), "-o", "all.tkb")
    trace = scene.strace(["-e", "trace=unlinkat", "-e",
                          "inject=unlinkat:error=ENOTEMPTY:when=2"],
                         "emit", "all.tkb", "cache")
    require("AT_REMOVEDIR) = -1 ENOTEMPTY" in trace, trace)
    equal(glob.glob(scene.path("cache", ".tkbundle", "stage-*")), [])


@test("a kernel that has no room on the disk leaves it to the others")
def _(scene):
    large = glob.glob(scene.fixture() + "/*/*.ptx")[0]
    with open(large, "a", encoding="ascii") as file:
        file.write((8 << 20) * "/" + "\n")
    scene.tkbundle("collect", scene.path("source", ".triton", "cache"), "-o", "a.tkb")
    with small_disk(scene.path("disk"), "6m"):
        ended = scene.tkbundle("emit", "--json", "-j", "1", "a.tkb", "disk/cache", status=4)
        require(os.path.basename(large) in ended.err and "No space left" in ended.err,
                ended.err)
        said = json.loads(ended.out)
        equal((said["emitted"], said["failed"]), (ENTRIES - 1, 1))
