# SPDX-License-Identifier: Apache-2.0
"""Signals, and what others leave: stages, Triton's folders, lost bytes."""

import fcntl
import itertools
import os
import shutil
import signal
import subprocess
import tempfile

from cachelib import (
    make_old, stages, triton_leftover, write_entry, write_file)
from harness import (
    DONE, FAILED, OLD_S, PARTIAL, TIMEOUT_S, YOUNG_S, explain, require, stop)
from machine import Failure, Skip


def a_signal_ends_emit_and_leaves_no_stage(t):
    for number in (signal.SIGTERM, signal.SIGINT):
        deaths = 0
        for _ in range(200):
            deaths += die_of(t, number)
            if deaths == 5:
                break
        require(deaths > 0, f"no emit was alive long enough for {number!r}")


def die_of(t, number):
    """Send a signal to an emit at work; was it in time?"""
    with t.folder() as root:
        process = t.start("emit", t.full, root)
        try:
            if wait_for_stage(process, root) is None:
                return False
            process.send_signal(number)
            process.wait(TIMEOUT_S)
            require(process.returncode in (-number, DONE),
                    explain(process.args[1:], process.returncode,
                            process.stderr.read(), (-number,)))
        finally:
            stop(process)
        require(not stages(root), f"left behind: {stages(root)}")
        t.look_at_all(root)
        return process.returncode == -number


def wait_for_stage(process, root):
    """The stage folder of an emit that works, or None if it has ended."""
    while process.poll() is None:
        found = stages(root)
        if found:
            return found[0]
    return None


def the_stage_of_a_dead_emit_is_removed_and_that_of_a_live_one_kept(t):
    with t.folder() as root:
        dead = leave_stage(t, root)
        live = dead + "0"
        shutil.copytree(dead, live)
        with open(os.path.join(live, "lock"), "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            t.emit(root)
            require(stages(root) == [live],
                    f"with the lock of one held: {stages(root)}")
        t.emit(root)
        t.settled(root)


def leave_stage(t, root):
    """Kill an emit that has a stage with something in it."""
    for _ in range(200):
        process = t.start("emit", t.full, root)
        try:
            wait_for_stage(process, root)
        finally:
            stop(process)
        if stages(root):
            return stages(root)[0]
        shutil.rmtree(root)
        os.mkdir(root)
    raise Failure("no emit was killed before it had removed its stage")


def a_young_temporary_folder_of_triton_makes_its_entry_busy(t):
    key = next(key for key in t.small if t.known.entries[key].group)
    torn = t.versions[1][key]
    for prepare in (lambda root: os.mkdir(os.path.join(root, key)),
                    lambda root: write_torn(root, torn)):
        with t.folder() as root:
            prepare(root)
            temp = triton_leftover(os.path.join(root, key), YOUNG_S)
            before = sorted(os.listdir(os.path.join(root, key)))
            t.emit(root, statuses=(PARTIAL,))
            after = sorted(os.listdir(os.path.join(root, key)))
            require(before == after, f"it was touched: {after}")
            t.settled(root, set(t.known.entries) - {key})

            make_old(temp, OLD_S - YOUNG_S)
            t.emit(root)
            require(t.settled(root)[key].version == 0, "it was not repaired")


def write_torn(root, entry):
    """An entry whose first file is missing."""
    write_entry(root, entry)
    os.unlink(os.path.join(root, entry.key, next(iter(entry.files))))


def a_cache_root_that_cannot_be_written_is_named_in_one_sentence(t):
    # Another user must come as far as the cache root, not past `work`.
    with tempfile.TemporaryDirectory(
            prefix="tkb-root-", dir=os.path.dirname(t.work)) as folder:
        os.chmod(folder, 0o755)
        root = os.path.join(folder, "cache")
        bundle = shutil.copy(t.full, os.path.join(folder, "bundle.tkb"))
        os.chmod(bundle, 0o644)
        user = ordinary_user(t)
        os.mkdir(root)
        os.chmod(root, 0o555)
        for place in (root, os.path.join(root, "below")):
            ended = t.emit(place, bundle, statuses=(FAILED,), **user)
            lines = ended.stderr.strip().splitlines()
            require(len(lines) == 1 and root in lines[0],
                    f"it said: {ended.stderr!r}")


def ordinary_user(t):
    """How subprocess starts a program that may not write everywhere."""
    if os.geteuid() != 0:
        return {}
    nobody = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/"}
    try:
        t.run("--version", **nobody)
    except (OSError, Failure, subprocess.SubprocessError):
        raise Skip("the program is out of reach for another user") from None
    return nobody


def after_a_power_failure_emit_hashes_and_repairs_what_is_there(t):
    key = next(key for key in t.small if t.known.entries[key].group)
    entry = t.versions[0][key]
    damages = (lambda path: os.truncate(path, 0),
               lambda path: os.truncate(path, os.path.getsize(path) // 2),
               lambda path: write_file(path, bytes(os.path.getsize(path))))
    with t.folder() as root:
        t.emit(root)
        marker = only_marker(root)
        for name, damage in itertools.product(entry.names, damages):
            damage(os.path.join(root, key, name))
            forget_boot(marker)
            t.emit(root)
            looks = t.settled(root)
            require(looks[key].version == 0,
                    f"'{name}' is of version {looks[key].version}")
            require(os.path.exists(marker), "the marker is not written again")


def only_marker(root):
    folder = os.path.join(root, ".tkbundle")
    names = [n for n in os.listdir(folder) if n.startswith("trusted-")]
    require(len(names) == 1, f"markers after an emit: {names}")
    return os.path.join(folder, names[0])


def forget_boot(marker):
    """Make the marker one of another boot, as a new boot does."""
    other = "trusted-01234567-89ab-4cde-8f01-23456789abcd"
    os.rename(marker, os.path.join(os.path.dirname(marker), other))
