# SPDX-License-Identifier: Apache-2.0
"""System calls that fail, and death at each of them."""

import os
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor

import machine
from cachelib import Torn, check_entry, read_file, write_entry
from harness import (
    DONE, FAILED, PARTIAL, UNTRUSTED, require, write_states)
from machine import Failure

# Not close(): an injected error leaves the file open, and its locks held.
FAILING_CALLS = (
    "openat", "read", "pread64", "write", "pwrite64", "mkdirat", "renameat",
    "renameat2", "fstat", "newfstatat", "statx", "flock", "unlinkat", "linkat",
    "utimensat", "fsync", "syncfs", "fallocate", "ftruncate", "getdents64",
    "mkdir", "rename", "unlink", "rmdir")
ERRORS = ("ENOSPC", "EIO", "EACCES", "EDQUOT", "EMFILE")
LOADER_CALLS = ("openat", "read", "pread64", "fstat", "newfstatat")
FAULTS_PER_ROUND = 8


def whatever_system_call_fails_emit_leaves_nothing_torn(t):
    try_faults(t, prepare_emit, ERRORS, check_failed_emit)


def killed_at_any_system_call_emit_leaves_nothing_torn(t):
    try_faults(t, prepare_emit, ("SIGKILL",), check_failed_emit)


def whatever_system_call_fails_collect_leaves_no_torn_bundle(t):
    try_faults(t, prepare_collect, ERRORS, check_failed_collect)


def killed_at_any_system_call_collect_leaves_no_torn_bundle(t):
    try_faults(t, prepare_replacing_collect, ("SIGKILL",),
               check_failed_collect)


def prepare_emit(t, folder):
    """One small entry in each state, and a module that is absent."""
    root = os.path.join(folder, "cache")
    write_states(t, root, t.small, root)
    return ["emit", t.small_full, root]


def prepare_collect(t, folder):
    root = os.path.join(folder, "cache")
    for key in t.small:
        write_entry(root, t.versions[0][key])
    return ["collect", root, "-o", os.path.join(folder, "out.tkb")]


def prepare_replacing_collect(t, folder):
    """A new file can appear by link(2); to replace one takes a name."""
    shutil.copyfile(t.full, os.path.join(folder, "out.tkb"))
    return prepare_collect(t, folder)


def try_faults(t, prepare, errors, check, calls=FAILING_CALLS,
               per_round=FAULTS_PER_ROUND):
    """Run a command once for each fault, or for a sample of them."""
    machine.need_strace(t.work)
    faults = list_faults(t, prepare, errors, calls)
    count = min(len(faults), per_round * t.rounds)
    chosen = t.random.sample(faults, count)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(try_fault, t, prepare, fault, check)
                for fault in chosen]
        try:
            for job in jobs:
                job.result()
        finally:
            for job in jobs:
                job.cancel()
    t.note(f"{count} of {len(faults)} faults tried")


def list_faults(t, prepare, errors, calls):
    """Each call of an undisturbed run, with each error: (jobs, call, n, e).

    What the program does before it begins, as `--version` shows, is the
    loader's: its calls are left alone.
    """
    faults = []
    for jobs in ("1", "2"):
        with t.folder() as folder:
            before = count_calls(t, folder, ["--version"], calls)
            counts = count_calls(t, folder, prepare(t, folder) + ["-j", jobs],
                                 calls)
        require(counts, "strace saw no call")
        faults += [
            (jobs, call, number, error) for call, count in counts.items()
            for number in range(
                1 + (before[call] if call in LOADER_CALLS else 0), count + 1)
            for error in errors]
    return faults


def count_calls(t, folder, command, calls):
    log = os.path.join(folder, "strace")
    names = ",".join("?" + call for call in calls)
    t.run(*command, env=machine.strace_environment(t.environment),
          before=machine.strace_command(log, "trace=" + names, "signal=none"))
    return machine.count_syscalls(log)


def try_fault(t, prepare, fault, check):
    jobs, call, number, error = fault
    kind = "signal" if error.startswith("SIG") else "error"
    inject = f"inject={call}:{kind}={error}:when={number}"
    with t.folder() as folder:
        command = prepare(t, folder)
        try:
            ended = t.run(
                *command, "-j", jobs, statuses=None,
                env=machine.strace_environment(t.environment),
                before=machine.strace_command(
                    "/dev/null", f"trace={call}", "signal=none", inject))
        except Failure as hang:
            raise Failure(f"{inject} with -j {jobs}: {hang}") from None
        try:
            if not is_of_loader(ended):
                check(t, folder, ended, error)
        except (Torn, Failure) as problem:
            raise Failure(
                f"{inject} with -j {jobs}, then status {ended.returncode}: "
                f"{problem}\n{ended.stderr[-1000:]}") from None


def is_of_loader(ended):
    return ended.returncode == 127 \
        and "error while loading shared libraries" in ended.stderr


def check_failed_emit(t, folder, ended, error):
    root = os.path.join(folder, "cache")
    allowed = (-signal.SIGKILL,) if error == "SIGKILL" else ()
    require(ended.returncode in (DONE, FAILED, PARTIAL, UNTRUSTED, *allowed),
            "that status is none of emit's")
    looks = {key: look_past_seeds(t, root, key) for key in t.small}
    if ended.returncode == DONE:
        missing = [key for key, look in looks.items() if look != "whole"]
        require(not missing, f"it said all was done, but not {missing}")

    t.emit(root, t.small_full)
    t.settled(root, t.small)


def look_past_seeds(t, root, key):
    """Look at an entry; "seeded" if it is torn as it was before the emit.

    The bytes of version 1 were there before the emit, which never writes
    them: a torn entry is ours only if its group file lists files at their
    place and any of them is of version 0.
    """
    try:
        return check_entry(root, key, t.known).state
    except Torn:
        folder = os.path.join(root, key)
        entry = t.versions[1][key]
        cubin = next(n for n in entry.files if n.endswith(".cubin"))
        seeds = [entry.files[cubin], entry.files[cubin][:1000]]
        for name, data in entry.files.items():
            path = os.path.join(folder, name)
            found = read_file(path) if os.path.exists(path) else None
            if found != data and not (
                    name == cubin and found in (None, *seeds)):
                raise
        return "seeded"


def check_failed_collect(t, folder, ended, error):
    allowed = (-signal.SIGKILL,) if error == "SIGKILL" else ()
    require(ended.returncode in (DONE, FAILED, PARTIAL, *allowed),
            "that status is none of collect's")
    out = os.path.join(folder, "out.tkb")
    if os.path.exists(out):
        t.run("verify", out)
    require(ended.returncode not in (DONE, PARTIAL) or os.path.exists(out),
            "it wrote nothing")
    if ended.returncode == DONE:
        require(read_file(out) == read_file(t.small_full),
                "it said all was done, but packed something else")
    t.run("collect", os.path.join(folder, "cache"), "-o", out)
    require(read_file(out) == read_file(t.small_full), "the next one differs")
    require(sorted(os.listdir(folder)) == ["cache", "out.tkb"],
            f"left behind: {sorted(os.listdir(folder))}")
