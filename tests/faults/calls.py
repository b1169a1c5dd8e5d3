#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Let each call to the C library fail once, and look at what tkbundle leaves.

The shim (shim.c) is preloaded and does it. Each scenario is a sentence that
must hold; the output is TAP.
"""

import argparse
import errno
import glob
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "torture"))

import scenes  # noqa: E402
from cachelib import Torn, stages  # noqa: E402
from harness import Torture, require  # noqa: E402
from machine import Failure, Skip  # noqa: E402

# What is tried of each call. 0 is no failure, but one byte at a time.
ERRORS = {
    "close": ("EIO", "ENOSPC"),
    "faccessat": ("EIO",),
    "fdopendir": ("ENOMEM",),
    "flock": ("ENOLCK", "EINTR", "EIO"),
    "fstat": ("EIO",),
    "fstatat": ("EIO", "EACCES"),
    "fstatvfs": ("EIO",),
    "futimens": ("EPERM",),
    "getcwd": ("ENOENT",),
    "getrandom": ("EINTR", "ENOSYS"),
    "linkat": ("EPERM", "EMLINK", "ENOSPC"),
    "madvise": ("EINVAL",),
    "mkdir": ("EACCES", "ENOSPC"),
    "mkdirat": ("EACCES", "ENOSPC", "EIO"),
    "mkostemp": ("ENOSPC",),
    "mmap": ("ENOMEM",),
    "open": ("EMFILE", "EACCES"),
    "openat": ("EMFILE", "EACCES", "ENOSPC", "EIO", "EINTR"),
    "opendir": ("EMFILE", "EACCES"),
    "pread": ("EIO", "EINTR", 0),
    "pthread_create": ("EAGAIN",),
    "read": ("EIO", "EINTR", 0),
    "readdir": ("EIO",),
    "rename": ("EACCES", "EIO", "ENOSPC"),
    "renameat": ("EACCES", "EIO", "ENOSPC"),
    "renameat2": ("ENOSYS", "EINVAL", "EIO", "ENOSPC", "EACCES"),
    "sched_getaffinity": ("EINVAL",),
    "stat": ("EIO", "EACCES"),
    "syncfs": ("EIO",),
    "unlink": ("EACCES",),
    "unlinkat": ("EACCES", "EIO"),
    "utimensat": ("EPERM",),
    "write": ("ENOSPC", "EIO", "EINTR", 0),
}
# After these nothing may be missing.
HARMLESS = {(call, error) for call in ("openat", "read", "pread", "write",
                                       "getrandom")
            for error in ("EINTR", 0)}
HIT, MISSED = "hit", "missed"
SANITIZERS = ("Sanitizer", "runtime error:")
# What these would have told, another call does, or does without.
ASIDE = {"stat", "pthread_create"}
# Without these a stage cannot be removed; the next emit does it.
REMOVING = {"fdopendir", "openat", "readdir", "unlinkat"}
# There is no lock for us, or there are none at all.
LOCKLESS = {("flock", "ENOLCK"), ("openat", "EACCES")}
PER_SCENE = 120  # of the faults, where not all are wanted


def run_scene(t, scene, shim, wants_all):
    faults = list_faults(t, scene, shim)
    chosen = faults if wants_all else sample_of(t, faults)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(try_fault, t, scene, shim, fault)
                for fault in chosen]
        outcomes = [job.result() for job in jobs]
    problems = [outcome for outcome in outcomes
                if outcome not in (HIT, MISSED)]
    # Random names and threads: the last calls are not made in every run.
    missed = outcomes.count(MISSED)
    if missed > len(chosen) / 20:
        problems.append(f"{missed} of the calls were not made")
    return problems, f"{len(chosen)} of {len(faults)} faults tried"


def sample_of(t, faults):
    """Some: of each call each error, then each call there is with any."""
    shuffled = t.random.sample(faults, len(faults))
    kinds = {(call, error): (call, nth, error)
             for call, nth, error in shuffled}
    calls = {(call, nth): (call, nth, error) for call, nth, error in shuffled}
    return list(dict.fromkeys([*kinds.values(), *calls.values()]))[:PER_SCENE]


def list_faults(t, scene, shim):
    """Each call of an undisturbed run, with each error."""
    with t.folder() as folder:
        log = os.path.join(folder, "log")
        command = scene.prepare(t, folder)
        t.run(*command, statuses=scene.statuses, env={
            **t.environment, "LD_PRELOAD": shim, "FAULT_LOG": log,
            **scene.environment})
        require(os.path.exists(log), "the shim was not loaded")
        with open(log, encoding="ascii") as lines:
            counts = [line.split() for line in lines if line.count(" ") == 1]
    return [(call, nth, error) for call, count in counts
            for nth in range(1, int(count) + 1) for error in ERRORS[call]]


def try_fault(t, scene, shim, fault):
    """HIT, MISSED, or what is wrong."""
    call, nth, error = fault
    what = f"{call} {nth} fails with {error or 'one byte'}"
    with t.folder() as folder:
        command = scene.prepare(t, folder)
        try:
            ended, marks = run_with(t, scene, shim, fault, command, folder)
        except Failure as hang:
            return f"{what}: {hang}"
        try:
            judge(scene, fault, ended, marks)
            require(call in REMOVING or not stages_in(folder),
                    "a stage is left")
            scene.check(t, folder, ended)
        except (Torn, Failure) as problem:
            return (f"{what}, status {ended.returncode}: {problem}\n"
                    + ended.stderr[-1000:]).rstrip()
    return HIT if "hit" in marks else MISSED


def run_with(t, scene, shim, fault, command, folder):
    call, nth, error = fault
    log = os.path.join(folder, "log")
    ended = t.run(*command, statuses=None, env={
        **t.environment, **scene.environment, "LD_PRELOAD": shim,
        "FAULT_LOG": log, "FAULT_CALL": call, "FAULT_N": str(nth),
        "FAULT_ERRNO": str(number_of(error))})
    if not os.path.exists(log):
        raise Failure(f"it died with {ended.returncode}\n{ended.stderr}")
    with open(log, encoding="ascii") as lines:
        marks = {line.strip() for line in lines}
    os.unlink(log)
    return ended, marks


def stages_in(folder):
    roots = [os.path.join(folder, "cache"),
             *glob.glob(os.path.join(folder, "cache", "triton", "*"))]
    return [stage for root in roots for stage in stages(root)]


def number_of(error):
    return getattr(errno, error) if error else 0


def judge(scene, fault, ended, marks):
    """What holds whatever is done."""
    call, _, error = fault
    is_as_ever = ended.returncode in scene.statuses
    require("unlocked" not in marks or (call, error) in LOCKLESS,
            "it went on without a lock")
    require(not any(word in ended.stderr for word in SANITIZERS),
            "a sanitizer has found something")
    require(is_as_ever or ended.returncode in scene.allowed,
            "that status is not for this")
    require(is_as_ever or (call, error) not in HARMLESS,
            "it is not made up for")
    require(is_as_ever or call in ASIDE
            or os.strerror(number_of(error)) in ended.stderr,
            "it does not say what failed")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the tkbundle to try")
    parser.add_argument("shim", help="the shared object made of shim.c")
    parser.add_argument("--all", action="store_true",
                        default=os.environ.get("TKB_FAULTS") == "all",
                        help="try every fault, not a sample of them")
    parser.add_argument("--seed", type=int, default=1,
                        help="of the sample")
    parser.add_argument("--only", default="", metavar="WORDS",
                        help="only scenarios with these words")
    return parser.parse_args()


def main():
    options = parse_arguments()
    shim = os.path.abspath(options.shim)
    chosen = [scene for scene in scenes.SCENES
              if options.only in scene.sentence]
    failed = 0
    os.umask(0o022)
    with tempfile.TemporaryDirectory(prefix="tkb-faults-") as work:
        t = Torture(options.program, work, 1, options.seed)
        t.prepare()
        scenes.few_of(t)
        for number, scene in enumerate(chosen, 1):
            try:
                problems, note = run_scene(t, scene, shim, options.all)
            except Skip as skip:
                print(f"ok {number} - {scene.sentence} # SKIP {skip}")
                continue
            failed += bool(problems)
            print(f"{'not ok' if problems else 'ok'} {number} - "
                  f"{scene.sentence}")
            for line in [note] + "\n".join(problems[:20]).splitlines():
                print(f"# {line}")
            sys.stdout.flush()
    print(f"1..{len(chosen)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
