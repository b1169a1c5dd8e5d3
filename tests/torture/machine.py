# SPDX-License-Identifier: Apache-2.0
"""What the torture tests ask of the system: namespaces, mounts, strace."""

import collections
import ctypes
import os
import pickle
import re
import shutil
import signal
import subprocess
import traceback

from cachelib import Torn

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
MS_REMOUNT = 0x20
MS_REC_PRIVATE = 0x4000 | 0x40000

libc = ctypes.CDLL(None, use_errno=True)


class Skip(Exception):
    """This machine cannot try it."""


class Failure(Exception):
    """What was tried does not hold."""


def in_namespace(function, *arguments):
    """Call `function` in a child that may mount; its mounts die with it.

    Its Failure, Skip or result comes back to here.
    """
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        with open(write_end, "wb") as out:
            pickle.dump(outcome_of(function, arguments), out)
        os._exit(0)

    os.close(write_end)
    try:
        with open(read_end, "rb") as answer:
            data = answer.read()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if not data:
        raise Failure("the child in the namespace died")
    kind, value = pickle.loads(data)
    if kind == "done":
        return value
    raise {"skip": Skip, "failure": Failure}[kind](value)


def outcome_of(function, arguments):
    try:
        enter_namespace()
        return "done", function(*arguments)
    except Skip as skip:
        return "skip", str(skip)
    except (Failure, Torn) as failure:
        return "failure", str(failure)
    except BaseException:
        return "failure", traceback.format_exc()


def enter_namespace():
    uid, gid = os.geteuid(), os.getegid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
        raise Skip(f"no namespaces: {os.strerror(ctypes.get_errno())}")
    try:
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"),
                           ("gid_map", f"0 {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    except OSError as error:
        raise Skip(f"no namespaces: {error.strerror}") from None
    mount("none", "/", None, None, MS_REC_PRIVATE)


def mount(source, target, kind, options, flags=0):
    def text(value):
        return value.encode() if value else None

    if libc.mount(text(source), text(target), text(kind),
                  ctypes.c_ulong(flags), text(options)) != 0:
        raise Skip(f"cannot mount {kind or 'anything'}: "
                   + os.strerror(ctypes.get_errno()))


def mount_tmpfs(target, options):
    os.makedirs(target, exist_ok=True)
    mount("tmpfs", target, "tmpfs", options)


def remount_tmpfs(target, options):
    mount("tmpfs", target, "tmpfs", options, MS_REMOUNT)


def mount_overlay(target, lower, upper, work):
    layers = f"lowerdir={lower},upperdir={upper},workdir={work}"
    try:
        # Before Linux 6.6 a tmpfs knows no user xattrs, and the other form
        # works there, with a warning in the kernel's log.
        mount("overlay", target, "overlay", layers + ",userxattr")
    except Skip:
        mount("overlay", target, "overlay", layers)


# strace

def need_strace(folder):
    if not shutil.which("strace"):
        raise Skip("strace is not installed")
    probe = subprocess.run(
        strace_command(os.path.join(folder, "probe"), "trace=none")
        + ["true"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if probe.returncode != 0:
        raise Skip("strace cannot trace here: " + probe.stderr.strip())


def strace_command(log, *expressions):
    command = ["strace", "-f", "-qq", "-o", log]
    for expression in expressions:
        command += ["-e", expression]
    return command


def strace_environment(environment):
    # The leak checker needs ptrace for itself.
    options = environment.get("ASAN_OPTIONS", "")
    return {**environment, "ASAN_OPTIONS": options + ":detect_leaks=0"}


def count_syscalls(log):
    """{name: calls of the thread that made most}: strace counts by thread."""
    counts = collections.Counter()
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            call = re.match(r"(\d+) +([a-z_0-9]+)\(", line)
            if call:
                counts[call.groups()] += 1
    most = collections.Counter()
    for (_, name), count in counts.items():
        most[name] = max(most[name], count)
    return most
