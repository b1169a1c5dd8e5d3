# SPDX-License-Identifier: Apache-2.0
"""The program under torture, the caches, and what the scenarios share.

The caches are the fixture's, in three versions: as it is (0), with other bytes
and sizes (1), and with other bytes of the same sizes (2, what the Triton of
these tests writes).
"""

import contextlib
import itertools
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import tempfile
import traceback

from cachelib import (
    Known, Torn, check_entry, check_settled, other_version, read_cache,
    unpack, write_entry, write_file)
from machine import Failure

HERE = os.path.dirname(os.path.abspath(__file__))
FIXTURE = os.path.join(HERE, "../../fixtures/triton-3.6.0-h100.tar.gz")

DONE, FAILED, PARTIAL, UNTRUSTED = 0, 1, 4, 5
TIMEOUT_S = 60
YOUNG_S, OLD_S = 9 * 60, 11 * 60  # on both sides of design.md's ten minutes


class Torture:
    """The program, the caches, and what the scenarios share."""

    def __init__(self, program, work, rounds, seed):
        self.program = os.path.abspath(program)
        self.work = work
        self.rounds = rounds
        self.random = random.Random(seed)
        self.notes = []
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("TKBUNDLE_", "TRITON_"))}
        self.environment["LC_ALL"] = "C"

    def prepare(self):
        """Make the versions and collect the bundles from them."""
        source = os.path.join(self.work, "source")
        self.source = unpack(FIXTURE, source)
        original = read_cache(self.source)
        changed = {key: other_version(entry, "B")
                   for key, entry in original.items()}
        triton = {key: other_version(entry, "T", same_size=True)
                  for key, entry in original.items()}
        self.versions = [original, changed, triton]
        self.known = Known(*self.versions)

        changed_root = os.path.join(self.work, "changed")
        for entry in changed.values():
            write_entry(changed_root, entry)

        by_size = sorted(original, key=lambda key: original[key].size)
        kernels = [key for key in by_size if original[key].group]
        self.small = kernels[:7] + [k for k in by_size
                                    if not original[k].group][:1]
        half, other_half = by_size[::2], by_size[1::2]
        self.full = self.collect("full", self.source)
        self.small_full = self.collect("small", self.source, self.small)
        self.bundles = [
            self.full,
            self.collect("lean", self.source, profile="lean"),
            self.collect("half", self.source, half),
            self.collect("other-half", self.source, other_half, "lean"),
            self.collect("changed", changed_root),
            self.collect("changed-lean", changed_root, profile="lean"),
            self.collect("changed-half", changed_root, half),
        ]

    def collect(self, name, root, keys=(), profile="full"):
        path = os.path.join(self.work, name + ".tkb")
        chosen = [word for key in keys for word in ("--key", key)]
        self.run("collect", root, "-o", path, "--profile", profile, *chosen)
        return path

    def run(self, *arguments, statuses=(DONE,), before=(), **options):
        """Run the program to its end; its status must be one of these."""
        options.setdefault("env", self.environment)
        # In a group of its own, so that with a strace dies what it traces.
        with subprocess.Popen(
                [*before, self.program, *arguments], start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, errors="replace",
                **options) as process:
            try:
                out, err = process.communicate(timeout=TIMEOUT_S)
            except BaseException as stopped:
                os.killpg(process.pid, signal.SIGKILL)
                if isinstance(stopped, subprocess.TimeoutExpired):
                    raise Failure(f"{' '.join(arguments)} hangs") from None
                raise
        ended = subprocess.CompletedProcess(arguments, process.returncode,
                                            out, err)
        if statuses is not None and ended.returncode not in statuses:
            raise Failure(explain(arguments, ended.returncode, ended.stderr,
                                  statuses))
        return ended

    def emit(self, root, bundle=None, *options, **how):
        return self.run("emit", bundle or self.full, root, *options, **how)

    def start(self, *arguments):
        return subprocess.Popen(
            [self.program, *arguments], env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="replace")

    @contextlib.contextmanager
    def folder(self):
        """A new empty folder, removed at the end."""
        path = tempfile.mkdtemp(dir=self.work)
        try:
            yield path
        finally:
            shutil.rmtree(path)

    def note(self, text):
        """Say something about what was tried."""
        self.notes.append(text)

    def settled(self, root, keys=None, **allowed):
        if keys is None:
            keys = self.known.entries
        return check_settled(root, self.known, keys, **allowed)

    def look_at_all(self, root):
        """What is visible now; Torn if any of it is torn."""
        return {key: check_entry(root, key, self.known)
                for key in self.known.entries}


def explain(arguments, status, stderr, statuses):
    wanted = " or ".join(str(status) for status in statuses)
    return (f"'{' '.join(arguments)}' ended with {status}, not {wanted}\n"
            + stderr[-2000:])


def stop(process):
    """Kill a process if it is still there, and forget it."""
    if process.poll() is None:
        process.kill()
    process.wait()
    if process.stderr:
        process.stderr.close()


def require(holds, reason):
    if not holds:
        raise Failure(reason)


def write_unfinished(t, folder, entry):
    """Some files of an entry, the last one cut, and no group file."""
    os.mkdir(folder)
    names = list(entry.files)[:t.random.randint(1, len(entry.files))]
    for name in names:
        data = entry.files[name]
        write_file(os.path.join(folder, name),
                   data if name != names[-1] else data[:len(data) // 2])


def write_states(t, root, keys, place):
    """Write entries in every state; return {key: state}.

    `place` is what emit will be given, where the whole ones say they are.
    """
    kinds = ("whole", "moved", "torn", "cut", "empty", "unfinished", "absent")
    os.makedirs(root)
    states = {}
    kernels = [key for key in keys if t.known.entries[key].group]
    for key, kind in zip(kernels, itertools.cycle(kinds)):
        states[key] = kind
        entry = t.versions[1][key]
        folder = os.path.join(root, key)
        cubin = next(name for name in entry.files if name.endswith("cubin"))
        if kind in ("whole", "torn", "cut"):
            write_entry(root, entry, elsewhere=place)
        elif kind == "moved":
            write_entry(root, entry, elsewhere="/home/serve/.triton/cache")
        elif kind == "empty":
            os.mkdir(folder)
        elif kind == "unfinished":
            write_unfinished(t, folder, entry)
        if kind == "torn":
            os.unlink(os.path.join(folder, cubin))
        elif kind == "cut":
            os.truncate(os.path.join(folder, cubin), 1000)
    return states


class Helper:
    """A process beside a race that counts what it does, and its problems."""

    def __init__(self, function, *arguments):
        context = multiprocessing.get_context("fork")
        self.here, there = context.Pipe()
        self.process = context.Process(
            target=serve, args=(there, function, arguments), daemon=True)
        self.process.start()
        there.close()

    def stop(self):
        """Let it finish; return its problems and its count."""
        try:
            self.here.send("stop")
            answer = self.here.recv() if self.here.poll(TIMEOUT_S) else None
        except (EOFError, BrokenPipeError):
            answer = None
        self.kill()
        return answer or (["the helper died"], 0)

    def kill(self):
        self.process.kill()
        self.process.join()
        self.here.close()


def serve(pipe, function, arguments):
    # The handlers are the parent's, who alone cleans up.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        answer = function(lambda: not pipe.poll(), *arguments)
    except BaseException:
        answer = [traceback.format_exc()], 0
    pipe.recv()
    pipe.send(answer)


def read_on(goes_on, root, known, triton_keys):
    """Look at each entry again and again."""
    problems, looks = [], 0
    while goes_on():
        for key in known.entries:
            try:
                look = check_entry(root, key, known, key in triton_keys)
            except Torn as torn:
                problems.append(str(torn))
            else:
                looks += look.state == "whole"
    return problems[:5], looks
