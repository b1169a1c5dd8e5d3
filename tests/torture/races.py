# SPDX-License-Identifier: Apache-2.0
"""Many processes at once, killed at random."""

import itertools
import json
import os
import random
import statistics
import time
import traceback

from cachelib import (
    make_old, read_file, triton_leftover, triton_put, write_entry, write_file)
from harness import (
    DONE, OLD_S, PARTIAL, TIMEOUT_S, Helper, explain, read_on, require, stop,
    write_unfinished)
from machine import Failure

EMITTERS = 16


def sixteen_killed_emits_show_nothing_torn_and_never_disturb_triton(t):
    tally = {"runs": 0, "kills": 0, "looks": 0, "puts": 0}
    length = length_of_a_crowded_emit(t)

    for number in range(t.rounds):
        # Triton mixes the versions of an entry itself: only in the rounds
        # without it must all files of all entries be of one.
        triton_keys = [] if number % 2 else t.random.sample(
            sorted(t.known.entries), 6)
        with t.folder() as root:
            prepare_race(t, root)
            race(t, root, triton_keys, length, tally)
            finish_race(t, root, triton_keys)

    t.note(", ".join(f"{count} {name}" for name, count in tally.items()))
    require(tally["looks"] and tally["kills"] and tally["puts"]
            or t.rounds < 2, "nothing was tried")


def length_of_a_crowded_emit(t):
    """Seconds that an emit takes among fifteen others."""
    with t.folder() as folder:
        begin = time.monotonic()
        running = {t.start("emit", t.full, os.path.join(folder, str(n)))
                   for n in range(EMITTERS)}
        lengths = []
        try:
            while running:
                ended = {p for p in running if p.poll() is not None}
                lengths += [time.monotonic() - begin] * len(ended)
                for process in ended:
                    stop(process)
                running -= ended
                time.sleep(0.0005)
        finally:
            for process in running:
                stop(process)
    return statistics.median(lengths)


def prepare_race(t, root):
    """Leave what an emit meets: empty, unfinished, old and whole entries."""
    for key in t.known.entries:
        entry = t.random.choice(t.versions)[key]
        folder = os.path.join(root, key)
        found = t.random.randrange(10)
        if found < 2 or found == 2 and not entry.group:
            os.mkdir(folder)
        elif found == 2:
            write_unfinished(t, folder, entry)
        elif found == 3:
            triton_leftover(folder, OLD_S)
        elif found == 4:
            write_entry(root, entry)


def race(t, root, triton_keys, length, tally):
    """One round: emitters, a reader, and in some a Triton."""
    end = time.monotonic() + t.random.uniform(0.3, 0.7)
    reader = Helper(read_on, root, t.known, triton_keys)
    writer = triton_keys and Helper(
        write_on, root, [t.versions[2][key] for key in triton_keys],
        t.random.random())
    try:
        crowd(t, root, end, length, tally)
        # A Triton is killed sometimes, too.
        if writer and t.random.random() < 0.3:
            writer.kill()
            writer = None
        problems, puts = writer.stop() if writer else ([], 0)
        require(not problems, "Triton was disturbed:\n" + "\n".join(problems))
        problems, looks = reader.stop()
        require(not problems, "seen torn:\n" + "\n".join(problems))
    finally:
        for helper in filter(None, (reader, writer)):
            helper.kill()
    tally["looks"] += looks
    tally["puts"] += puts


def crowd(t, root, end, length, tally):
    """Keep 16 emits running until `end`, and kill most of them."""
    running = {}  # process -> when to kill it
    try:
        while running or time.monotonic() < end:
            now = time.monotonic()
            while len(running) < EMITTERS and now < end:
                lives = t.random.uniform(0, length) \
                    if t.random.random() < 0.8 else TIMEOUT_S
                process = t.start("emit", t.random.choice(t.bundles), root,
                                  "-j", str(t.random.choice((1, 2, 4))))
                running[process] = time.monotonic() + lives
                tally["runs"] += 1
            for process in list(running):
                if process.poll() is not None:
                    check_crowded(process)
                elif now >= end + TIMEOUT_S:
                    raise Failure("an emit hangs")
                elif now >= running[process]:
                    process.kill()
                    tally["kills"] += 1
                else:
                    continue
                del running[process]
                stop(process)
            time.sleep(0.0005)
    finally:
        for process in running:
            stop(process)


def check_crowded(process):
    # Beside a Triton at work, entries are skipped as busy.
    statuses = (DONE, PARTIAL)
    if process.returncode not in statuses:
        raise Failure(explain(process.args[1:], process.returncode,
                              process.stderr.read(), statuses))


def finish_race(t, root, triton_keys):
    """One more emit runs to its end: all is whole, nothing of ours is left."""
    for key in triton_keys:
        # What a killed Triton left would be busy for ten minutes.
        folder = os.path.join(root, key)
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if name.startswith("tmp.pid_"):
                make_old(os.path.join(folder, name), OLD_S)
    t.emit(root)
    t.settled(root, may_mix=triton_keys)


def write_on(goes_on, root, entries, seed):
    """Be Triton: write the same entries again and again."""
    dice = random.Random(seed)
    problems, puts = [], 0
    for entry in itertools.cycle(entries):
        if not goes_on():
            return problems[:5], puts
        try:
            triton_put(root, entry,
                       lambda: time.sleep(dice.choice((0, 0, 0.001))))
        except Exception:
            problems.append(traceback.format_exc())
        puts += 1


def a_killed_collect_shows_no_torn_bundle(t):
    whole = read_file(t.full)
    length = length_of_collect(t)

    for number in range(2 * t.rounds):
        with t.folder() as folder:
            out = os.path.join(folder, "out.tkb")
            old = b"an older file" if number % 4 < 2 else None
            if old:
                write_file(out, old)
            kill_collect(t, folder, length, is_aimed=number % 2)
            found = read_file(out) if os.path.exists(out) else None
            require(found in (old, whole),
                    f"killed, it left {len(found or '')} bytes")
            t.run("collect", t.source, "-o", out)
            require(read_file(out) == whole, "the next one differs")


def what_a_killed_collect_leaves_is_gone_after_the_next(t):
    length = length_of_collect(t)

    for number in range(2 * t.rounds):
        with t.folder() as folder:
            out = os.path.join(folder, "out.tkb")
            # A new file can appear by link(2); to replace one takes a name.
            if number % 4 < 2:
                write_file(out, b"an older file")
            kill_collect(t, folder, length, is_aimed=number % 2)
            t.run("collect", t.source, "-o", out)
            require(os.listdir(folder) == ["out.tkb"],
                    f"left behind: {sorted(os.listdir(folder))}")


def length_of_collect(t):
    """Seconds that a collect takes, the longest of three."""
    lengths = []
    for _ in range(3):
        with t.folder() as folder:
            begin = time.monotonic()
            t.run("collect", t.source, "-o", os.path.join(folder, "out"))
            lengths.append(time.monotonic() - begin)
    return max(lengths)


def kill_collect(t, folder, length, is_aimed):
    """Kill a collect at any moment or, aimed, while it writes its output."""
    out = os.path.join(folder, "out.tkb")
    before = describe(folder)
    process = t.start("collect", t.source, "-o", out)
    try:
        if is_aimed:
            while process.poll() is None and describe(folder) == before:
                pass
            time.sleep(t.random.choice((0, t.random.uniform(0, length / 20))))
        else:
            time.sleep(t.random.uniform(0, length))
    finally:
        stop(process)


def describe(folder):
    seen = set()
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                size = entry.stat().st_size
            except FileNotFoundError:
                size = None  # published or removed between the two looks
            seen.add((entry.name, entry.inode(), size))
    return seen


def what_is_collected_beside_a_writing_triton_verifies(t):
    keys = sorted(t.known.entries)[::2]
    collected = 0
    with t.folder() as folder:
        root, out = os.path.join(folder, "cache"), os.path.join(folder, "out")
        for entry in t.versions[0].values():
            write_entry(root, entry)
        writer = Helper(write_on, root, [t.versions[2][key] for key in keys],
                        t.random.random())
        try:
            for _ in range(t.rounds):
                ended = t.run("collect", root, "-o", out, "--json",
                              statuses=(DONE, PARTIAL))
                collected += json.loads(ended.stdout)["collected"]
                t.run("verify", out)
            problems, puts = writer.stop()
        finally:
            writer.kill()
    require(not problems, "Triton was disturbed:\n" + "\n".join(problems))
    t.note(f"{collected} entries collected, {puts} puts")
    require(collected and puts, "nothing was tried")
