# SPDX-License-Identifier: Apache-2.0
"""Disks that are full, and file systems of other kinds."""

import os
from concurrent.futures import ThreadPoolExecutor

import machine
from cachelib import Torn, leftovers
from harness import (
    FAILED, PARTIAL, Helper, read_on, require, write_states)
from machine import Failure, Skip


def on_a_full_disk_emit_publishes_what_fits(t):
    total = sum(entry.size for entry in t.known.entries.values())
    part = max(total // max(t.rounds, 5), 32 * 1024)
    limits = [f"size={size}" for size in range(part, total, part)]
    limits += [f"size=64m,nr_inodes={count}" for count in (12, 40, 100)]
    with t.folder() as folder:
        machine.in_namespace(fill_disk, t, folder, limits)


def fill_disk(t, folder, limits):
    for number, limit in enumerate(limits):
        root = os.path.join(folder, str(number))
        machine.mount_tmpfs(root, limit)
        try:
            fill_once(t, root)
        except (Torn, Failure) as problem:
            raise Failure(f"{limit}: {problem}") from None


def fill_once(t, root):
    t.emit(root, statuses=(PARTIAL,))
    fitted = {key for key, look in t.look_at_all(root).items()
              if look.state == "whole"}
    # There may be no room now for a stage.
    t.emit(root, statuses=(PARTIAL, FAILED))
    strays = leftovers(root, t.known)
    require(not strays, f"left behind: {strays}")
    t.settled(root, fitted)

    machine.remount_tmpfs(root, "size=64m,nr_inodes=10000")
    t.emit(root)
    t.settled(root)


def on_a_full_disk_collect_fails_and_leaves_no_file(t):
    with t.folder() as folder:
        machine.in_namespace(collect_to_full_disk, t, folder)


def collect_to_full_disk(t, folder):
    size = os.path.getsize(t.full)
    for limit in (4096, size // 2, size - 4096):
        disk = os.path.join(folder, str(limit))
        machine.mount_tmpfs(disk, f"size={limit}")
        out = os.path.join(disk, "out.tkb")
        t.run("collect", t.source, "-o", out, statuses=(FAILED,))
        require(os.listdir(disk) == [], f"left {os.listdir(disk)}")


def on_overlayfs_emit_repairs_what_lies_in_a_lower_layer(t):
    with t.folder() as folder:
        machine.in_namespace(repair_overlay, t, folder)


def repair_overlay(t, folder):
    layers = {name: os.path.join(folder, "disk", name)
              for name in ("lower", "upper", "work", "merged")}
    machine.mount_tmpfs(os.path.join(folder, "disk"), "size=64m")
    for layer in layers.values():
        os.mkdir(layer)
    root = os.path.join(layers["merged"], "cache")
    states = write_states(t, os.path.join(layers["lower"], "cache"),
                          sorted(t.known.entries), root)
    machine.mount_overlay(layers["merged"], layers["lower"], layers["upper"],
                          layers["work"])

    t.emit(root)

    looks = t.settled(root)
    check_repairs(looks, states)


def check_repairs(looks, states):
    for key, state in states.items():
        # What is whole may keep its bytes, also where it only was moved.
        allowed = (0, 1) if state in ("whole", "moved") else (0,)
        require(looks[key].version in allowed,
                f"{key}, {state} before, is of version {looks[key].version}")


def without_flags_of_renameat2_entries_are_emitted_whole(t):
    if os.uname().machine != "x86_64":
        raise Skip("every rename is a renameat2 on this machine")
    machine.need_strace(t.work)
    for error in ("EINVAL", "ENOSYS", "EOPNOTSUPP"):
        inject = machine.strace_command(
            "/dev/null", f"inject=renameat2:error={error}", "signal=none")
        with t.folder() as root:
            t.emit(root, before=inject)
            looks = t.settled(root)
            require(all(look.version == 0 for look in looks.values()), error)
        for _ in range(max(1, t.rounds // 10)):
            with t.folder() as root:
                emit_at_once_without_flags(t, root, inject)


def emit_at_once_without_flags(t, root, inject):
    """Nothing but the lock keeps two versions of an entry apart here.

    Each rename is slowed down, so that without the lock they would meet.
    """
    slow = ["-e", "inject=rename,renameat:delay_enter=500"]
    reader = Helper(read_on, root, t.known, [])
    try:
        with ThreadPoolExecutor(len(t.bundles)) as pool:
            for job in [pool.submit(t.emit, root, bundle, before=inject + slow)
                        for bundle in t.bundles]:
                job.result()
        problems, _ = reader.stop()
    finally:
        reader.kill()
    require(not problems, "seen torn:\n" + "\n".join(problems))
    t.settled(root)
