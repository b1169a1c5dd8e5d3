# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests that start tkbundle; see scenes.py.

A test is a function with a sentence that must hold; it is given a scene: an
empty folder of its own, which goes away with it, and tkbundle in it.
"""
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.realpath(__file__))
FIXTURES = os.path.join(HERE, "..", "..", "fixtures")
FIXTURE = os.path.join(FIXTURES, "triton-3.6.0-cpu.tar.gz")
ENTRIES = 5  # in the fixture: four kernels and an autotune file
KERNELS = 4
# How many times longer than on a machine of its own all takes here, as in QEMU.
PATIENCE = float(os.environ.get("TKB_TEST_PATIENCE", "1"))
TIMEOUT_S = 60 * PATIENCE
LATE_S = 20 * PATIENCE  # how much later than it should something may come here
WORKERS = 4  # most tests wait
LINE = re.compile(r"tkbundle: emitted (\w+), used (\w+), "
                  r"compiled anew (\w+), pushed (\w+)"
                  r"(?:, saved about (?:\d+) s of compiling)?(?:; (.*))?")

tests = []


class Skip(Exception):
    """It cannot be told here."""


def test(sentence, *givers):
    """Add a test, which gets its scene, and what each of `givers` makes of that."""
    def add(function):
        tests.append((sentence, lambda scene: function(
            scene, *(give(scene) for give in givers))))
        return function
    return add


def require(holds, *details):
    if not holds:
        raise AssertionError("; ".join(str(detail) for detail in details))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data, mode=None):
    """Write a file, and make its folder; returns its path."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    if mode is not None:
        os.chmod(path, mode)
    return path


def files_below(root):
    """Each file below `root`, but for tkbundle's own: its path there, and whole."""
    for folder, folders, names in os.walk(root):
        if ".tkbundle" in folders:
            folders.remove(".tkbundle")
        for name in names:
            path = os.path.join(folder, name)
            yield os.path.relpath(path, root), path


def equal(got, wanted, *details):
    require(got == wanted, f"got {got!r}, wanted {wanted!r}", *details)


def wait_until(question, what, seconds=LATE_S):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = question()
        if answer:
            return answer
        time.sleep(0.01)
    raise AssertionError(f"{what} does not come")


def is_there(path):
    return lambda: os.path.exists(path)


def need_root():
    if os.geteuid() != 0:
        raise Skip("it needs root")


# With --mount, what follows may mount.
UNSHARE = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]


@contextlib.contextmanager
def small_disk(path, size):
    """Meanwhile, the folder `path` is a file system of so many bytes."""
    need_root()
    os.makedirs(path, exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", path],
                      check=False, capture_output=True).returncode != 0:
        raise Skip("nothing can be mounted here")
    try:
        yield
    finally:
        # Lazily: a program that looks into all file systems must not fail the test.
        subprocess.run(["umount", "--lazy", path], check=True)


def need(program):
    if shutil.which(program) is None:
        raise Skip(f"there is no {program}")


def process(pid):
    """Name, state, parent and command line of a process, or None."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            name, _, rest = file.read().rpartition(")")
        with open(f"/proc/{pid}/cmdline", encoding="latin-1") as file:
            line = file.read().split("\0")[:-1]
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent = rest.split()[:2]
    return name.partition("(")[2], state, int(parent), line


def processes():
    """All that there are: the facts, by pid."""
    found = {int(name): process(name) for name in os.listdir("/proc") if name.isdigit()}
    return {pid: facts for pid, facts in found.items() if facts is not None}


def children(pid):
    return {child: line for child, (_, state, parent, line) in processes().items()
            if parent == pid and state != "Z"}


def descendants(pid):
    found = children(pid)
    for child in list(found):
        found.update(descendants(child))
    return found


def kill_all(started):
    """It, and all that it has started."""
    for pid in [started.pid, *descendants(started.pid)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    started.wait()


class Ended:
    """How a run ended."""

    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err = status, out, err
        self.seconds = seconds

    def line(self):
        """The counts of the last line, and the reason."""
        found = LINE.fullmatch(self.err.rstrip("\n").rpartition("\n")[2])
        require(found, f"no last line in {self.err!r}")
        return found.groups()

    def counts(self):
        return self.line()[:4]

    def reason(self):
        return self.line()[4] or ""


class Scene:
    """A folder, and the program in it."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("TKBUNDLE_", "TRITON_", "TORCHINDUCTOR_",
                                    "XDG_"))}
        self.environment.update(HOME=folder, LC_ALL="C", TMPDIR=folder,
                                TKBUNDLE_CONFIG="/dev/null",
                                TKBUNDLE_GPU="NVIDIA H200,580")
        self.remote = "file://" + self.path("remote")
        self.root = self.path(".triton", "cache")
        self.started = []

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, data, mode=None):
        return write(self.path(name), data, mode)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def fixture(self, folder="source", file=FIXTURE):
        """Unpack a real cache; returns its root."""
        os.makedirs(self.path(folder))
        subprocess.run(["tar", "-xzf", file, "-C", self.path(folder)],
                       check=True)
        return self.path(folder, ".triton", "cache")

    def fill(self, **options):
        """Push the fixture to the ref."""
        self.tkbundle("push", "a/b", self.fixture("filling"), "--remote",
                      self.remote, **options)

    def line_of(self, *command, options=(), remote=None):
        # Machines that run tests are busy.
        wait = () if "--wait" in options else ("--wait", "30s")
        return [self.program, "run", "--ref", "a/b", "--remote",
                remote or self.remote, *wait, *options, "--", *command]

    def tkbundle(self, *words, status=0, **more):
        return self.go([self.program, *words], status=status, **more)

    def run(self, *command, options=(), remote=None, before=(), **more):
        return self.go([*before, *self.line_of(*command, options=options,
                                               remote=remote)], **more)

    def shell(self, script, **more):
        return self.run("sh", "-c", script, **more)

    def go(self, line, env=None, stdin=subprocess.DEVNULL, data=None,
           status=None, **more):
        """Run a command to its end; it must exit with `status`, if that is not None."""
        begin = time.monotonic()
        ended = subprocess.run(
            line, env={**self.environment, **(env or {})}, cwd=self.folder,
            timeout=TIMEOUT_S, check=False, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, input=data,
            **({} if data is not None else {"stdin": stdin}), **more)
        told = Ended(ended.returncode, ended.stdout.decode(),
                     ended.stderr.decode(), time.monotonic() - begin)
        if status is not None:
            equal(told.status, status, line, told.err, told.out)
        return told

    def strace(self, options, *words, env=None, status=0):
        """Run the program under strace; returns what that has written."""
        need("strace")
        # LeakSanitizer ends a program that is traced already.
        self.go(["strace", "-f", "-o", self.path("trace"), *options, self.program, *words],
                env={**(env or {}), "ASAN_OPTIONS": "detect_leaks=0"}, status=status)
        return self.read("trace")

    def leftovers(self):
        """What is left of the folders that archives are unpacked into."""
        return [name for name in os.listdir(self.folder)
                if name.startswith(".tkbundle-archive")]

    def able(self, before, why="nothing can be mounted here"):
        """These words, behind which a command runs; where none does, a Skip."""
        if self.go([*before, "true"]).status != 0:
            raise Skip(why)
        return before

    def start(self, *command, options=(), remote=None, env=None, before=(),
              **more):
        """Start a run; finish() waits for it."""
        for stream in ("stdout", "stderr"):
            more.setdefault(stream, subprocess.PIPE)
        started = subprocess.Popen(
            [*before, *self.line_of(*command, options=options, remote=remote)],
            env={**self.environment, **(env or {})}, cwd=self.folder,
            stdin=subprocess.DEVNULL, **more)
        started.begin = time.monotonic()
        self.started.append(started)
        return started

    @staticmethod
    def finish(started):
        out, err = started.communicate(timeout=TIMEOUT_S)
        return Ended(started.returncode, (out or b"").decode(),
                     (err or b"").decode(), time.monotonic() - started.begin)

    def child(self, started, verb):
        """The pid of the child that pulls or pushes, once there is one."""
        def find():
            return [pid for pid, line in children(started.pid).items()
                    if line[1:2] == [verb]]
        return wait_until(find, f"a {verb}")[0]

    def close(self):
        for started in self.started:
            if started.poll() is None:
                kill_all(started)
            for stream in (started.stdout, started.stderr):
                if stream is not None:
                    stream.close()


@contextlib.contextmanager
def silent_server():
    """A port that accepts connections and never answers."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(64)
        yield server.getsockname()[1]


@contextlib.contextmanager
def hanging():
    """A remote that hangs for longer than any time limit."""
    with silent_server() as port:
        yield (f"redis://:secretword@127.0.0.1:{port}/"
               "?timeout=60s&stall-timeout=60s&connect-timeout=60s")


def attempt(program, sentence, function):
    """What is wrong, or None, or a Skip."""
    folder = tempfile.mkdtemp(prefix="tkbundle-run.")
    scene = Scene(program, folder)
    try:
        function(scene)
        return None
    except Skip as reason:
        return reason
    except Exception:  # pylint: disable=broad-except
        return traceback.format_exc()
    finally:
        scene.close()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    """Run the tests of the program whose sentences hold some words, if these are given."""
    program, pattern = os.path.realpath(sys.argv[1]), "".join(sys.argv[2:3])
    # A shell ignores INT for what it starts in the background, nohup HUP.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    chosen = [each for each in tests if pattern in each[0]]
    failed = 0
    with ThreadPoolExecutor(WORKERS) as pool:
        jobs = [pool.submit(attempt, program, *each) for each in chosen]
        for number, ((sentence, _), job) in enumerate(zip(chosen, jobs), 1):
            problem = job.result()
            if isinstance(problem, Skip):
                print(f"ok {number} - {sentence} # SKIP {problem}")
            elif problem is None:
                print(f"ok {number} - {sentence}")
            else:
                failed += 1
                print(f"not ok {number} - {sentence}")
                for line in problem.splitlines():
                    print(f"# {line}")
            sys.stdout.flush()
    print(f"1..{len(chosen)}")
    return 1 if failed or not chosen else 0
