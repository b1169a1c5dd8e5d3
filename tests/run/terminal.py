# SPDX-License-Identifier: Apache-2.0
"""On a terminal: Ctrl-C, Ctrl-Z, fg, and new sizes."""
import contextlib
import fcntl
import os
import pty
import re
import select
import shlex
import signal
import struct
import sys
import termios
import time

from scene import (TIMEOUT_S, descendants, equal, hanging, is_there, require, test,
                   wait_until)
from signals import COUNTER

WATCHED = [str(int(number)) for number in
           (signal.SIGINT, signal.SIGQUIT, signal.SIGWINCH)]


TICK = """import os, sys, time
ticks = 0
while not os.path.exists("end"):
    ticks += 1
    with open("ticks", "w") as file:
        file.write(f"{ticks}\\n")
    time.sleep(0.05)
print("over")
sys.exit(4)
"""


class Terminal:
    """A program on a terminal of its own, and what it has shown."""

    def __init__(self, scene, line):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(scene.folder)
            os.execve(line[0], line, {**scene.environment, "PS1": "ready> ",
                                      "TERM": "dumb"})
        self.shown = ""

    def see(self, pattern, seconds=20):
        """Wait until `pattern` is shown; forget what was before it."""
        end = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.shown)
            if found:
                self.shown = self.shown[found.end():]
                return found
            left = end - time.monotonic()
            require(left > 0, f"no '{pattern}' in {self.shown!r}")
            if select.select([self.fd], [], [], left)[0]:
                try:
                    self.shown += os.read(self.fd, 65536).decode()
                except OSError as error:
                    raise AssertionError(f"no '{pattern}' in "
                                         f"{self.shown!r}") from error

    def type(self, text):
        os.write(self.fd, text.encode())

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def wait(self):
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                while select.select([self.fd], [], [], 0)[0]:
                    self.shown += os.read(self.fd, 65536).decode()
            pid, state = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                self.pid = 0
                return state
            time.sleep(0.02)
        raise AssertionError("it does not end")

    def close(self):
        os.close(self.fd)  # hangs up
        if self.pid != 0:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


@contextlib.contextmanager
def terminal(scene, line):
    # The leak sanitizer stops the process as a debugger does. It waits for ever if a
    # SIGCONT comes in between, which the end of a terminal sends.
    options = scene.environment.get("ASAN_OPTIONS", "")
    scene.environment["ASAN_OPTIONS"] = options + ":detect_leaks=0"
    made = Terminal(scene, line)
    try:
        yield made
    finally:
        scene.write("end", "")
        made.close()


@contextlib.contextmanager
def shell(scene):
    """An interactive bash, with job control."""
    with terminal(scene, ["/bin/bash", "--norc", "--noprofile", "-i"]) as made:
        made.see("ready> ")
        made.type("stty -echo\n")
        made.see("ready> ")
        yield made


def quoted(scene, *command, **more):
    return shlex.join(scene.line_of(*command, **more))


def counter(scene):
    return quoted(scene, sys.executable, "-c", COUNTER, *WATCHED)


@test("Ctrl-C, Ctrl-\\ and a new size reach the command once")
def _(scene):
    with shell(scene) as bash:
        bash.type(counter(scene) + "; echo status $?\n")
        for _ in range(500):
            if os.path.exists(scene.path("ready")):
                break
            time.sleep(0.02)
        bash.type("\x03")
        time.sleep(0.3)
        bash.type("\x1c")
        time.sleep(0.3)
        bash.resize(33, 77)
        time.sleep(0.5)
        scene.write("end", "")
        bash.see(r"tkbundle: emitted [^\n]*\n[^\n]*status 0")
    equal(sorted(scene.read("log").split()), sorted(WATCHED))


@test("Ctrl-C ends the command, us, and the shell's list of commands")
def _(scene):
    with shell(scene) as bash:
        bash.type(quoted(scene, "sh", "-c", "echo has''begun; exec sleep 60") +
                  "; echo status $?\n")
        bash.see("hasbegun")
        time.sleep(0.2)
        bash.type("\x03")
        bash.see("tkbundle: emitted")
        bash.see("ready> ")
        bash.type("echo then $?\n")
        bash.see("then 130")


@test("Ctrl-Z stops the job, and fg and bg let it go on")
def _(scene):
    # Not a shell: dash makes its children by vfork(), and one that is stopped before it
    # is another program leaves dash waiting for that, not stopped.
    scene.write("tick.py", TICK)
    with shell(scene) as bash:
        bash.type(quoted(scene, sys.executable, "-S", "tick.py") + "\n")
        # Before the job runs, the shell itself has the terminal, and ignores it.
        wait_until(is_there(scene.path("ticks")), "a tick")
        bash.type("\x1a")
        bash.see("Stopped")
        bash.see("ready> ")
        time.sleep(0.2)
        before = scene.read("ticks")
        time.sleep(0.5)
        equal(scene.read("ticks"), before)
        bash.type("fg\n")
        bash.see("tkbundle")
        time.sleep(0.5)
        require(scene.read("ticks") != before, "it does not go on")
        bash.type("\x1a")
        bash.see("Stopped")
        bash.see("ready> ")
        before = scene.read("ticks")
        bash.type("bg\n")
        bash.see("ready> ")
        time.sleep(0.5)
        require(scene.read("ticks") != before, "it does not go on")
        bash.type("fg\n")
        time.sleep(0.3)
        scene.write("end", "")
        bash.see("over")
        bash.see("tkbundle: emitted")
        bash.type("echo status $?\n")
        bash.see("status 4")


@test("in the background its last line does not stop it")
def _(scene):
    with shell(scene) as bash:
        bash.type("stty tostop\n")
        bash.see("ready> ")
        bash.type(quoted(scene, "sleep", "0.3") + " & wait $!; "
                  "echo status $?\n")
        bash.see("tkbundle: emitted")
        bash.see("status 0")


@test("the command can read from the terminal, and so can a pager behind it")
def _(scene):
    with shell(scene) as bash:
        bash.type(quoted(scene, "sh", "-c", "read x; echo got $x") +
                  " 2>err | (cat; read y </dev/tty; echo pager $y)\n")
        time.sleep(0.7)
        bash.type("one\n")
        bash.see("got one")
        bash.type("two\n")
        bash.see("pager two")


@test("as the leader of a session it is ended by Ctrl-C, too")
def _(scene):
    line = scene.line_of("sh", "-c", "echo hasbegun; exec sleep 60")
    with terminal(scene, line) as alone:
        alone.see("hasbegun")
        time.sleep(0.2)
        alone.type("\x03")
        alone.see("tkbundle: emitted")
        state = alone.wait()
    require(os.WIFSIGNALED(state) and os.WTERMSIG(state) == signal.SIGINT,
            state)


@test("Ctrl-C while it waits ends it without the command")
def _(scene):

    with hanging() as remote, shell(scene) as bash:
        bash.type(quoted(scene, "touch", "on", remote=remote,
                         options=["--wait", "20s"]) + "\n")
        time.sleep(0.7)
        bash.type("\x03")
        bash.see("ready> ")
        bash.type("echo status $?\n")
        bash.see("status 130")
    require(not os.path.exists(scene.path("on")), "it was started")


@test("Ctrl-C does not end a pull or a push")
def _(scene):
    script = ("trap 'echo is''told' INT; echo is''deaf; "
              "until test -e end; do sleep 0.05; done")
    with hanging() as remote, shell(scene) as bash:
        bash.type(quoted(scene, "sh", "-c", script, remote=remote,
                         options=["--wait", "100ms"]) + "\n")
        # Our own line before the command has "on", in "not done".
        bash.see("isdeaf")
        # What was forked is a "run" until it executes the program.
        pulls = wait_until(lambda: [
            pid for pid, line in descendants(bash.pid).items()
            if line[1:2] == ["pull"]], "the pull")
        equal(len(pulls), 1)
        bash.type("\x03")
        bash.see("istold")
        scene.write("end", "")
        # And not "killed by signal 2".
        bash.see(r"tkbundle: emitted .*; pull: not done after")
