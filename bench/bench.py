#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure tkbundle against what it replaces, side by side in one run.

Every contestant is warmed up once, then all run in turns; what is compared is
the median of the ratios within a round, so that a machine that slows down
slows all of them.  README.md says what each row means.
"""

import argparse
import dataclasses
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
GROW = [sys.executable, os.path.join(HERE, "grow.py")]
BUNDLER = [sys.executable, os.path.join(HERE, "bundler.py")]
TOUCHED = 1536 << 20
SHORT_RUNS = 50
MEMORY_BUDGET_MIB = 128

# Drop variables that change what a program does: TKBUNDLE_DISABLE, TAR_OPTIONS, GZIP,
# ZSTD_NBTHREADS.
ENVIRONMENT = {
    name: os.environ[name]
    for name in ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")
    if name in os.environ
} | {"LC_ALL": "C"}


class Failed(Exception):
    """A program did not do what it was asked."""


@dataclasses.dataclass
class Run:
    ms: float
    peak_mib: float
    output: str


@dataclasses.dataclass
class Row:
    what: str
    ours: str
    other: str = "–"
    ratio: float | None = None
    budget: str = "–"
    met: bool | None = None
    samples: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Contestant:
    """A command; OUT in it is replaced by a new path for its result each time."""

    argv: list
    prints_time: bool = False  # what it prints is its time in ms
    entries: int = 0  # it makes a cache of as many whole entries


OUT = object()


class Place:
    """A folder to measure in, on one kind of file system."""

    def __init__(self, name, parent):
        self.name = name
        self.folder = tempfile.mkdtemp(prefix="tkbundle-bench-", dir=parent)
        kind = ["df", "--output=fstype", self.folder]
        self.kind = text_of(kind).split()[-1]
        self.count = 0
        self.made = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def fresh(self):
        """A path that was never used: ext4 is slow where much was deleted."""
        self.count += 1
        self.made.append(self.path(f"out{self.count}"))
        return self.made[-1]

    def settle(self):
        """After a round: give tmpfs its memory back; let a disk catch up."""
        if self.kind == "tmpfs":
            for path in self.made:
                remove(path)
            self.made.clear()
        else:
            os.sync()

    def close(self):
        remove(self.folder)


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.unlink(path)


def text_of(argv):
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def run(argv):
    """Run a program to its end. Its memory is the child's peak by the kernel. This is
    at least the memory of this process (about 16 MiB), since a child begins as a copy
    of it.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        actions = [
            (os.POSIX_SPAWN_DUP2, out.fileno(), 1),
            (os.POSIX_SPAWN_DUP2, err.fileno(), 2),
        ]
        start = time.monotonic()
        pid = os.posix_spawnp(argv[0], argv, ENVIRONMENT, file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
        ms = (time.monotonic() - start) * 1000
        if status != 0:
            err.seek(0)
            message = err.read().decode(errors="replace").strip()
            code = os.waitstatus_to_exitcode(status)
            raise Failed(f"{' '.join(argv)}: status {code}: {message}")
        out.seek(0)
        return Run(ms, usage.ru_maxrss / 1024, out.read().decode())


def run_shell(script, *args):
    return run(["sh", "-euc", script, "sh", *args])


def touch_memory():
    """Touch memory once, so that the host gives it to us: the first touch is slow. In a
    child, since our own peak would count for all later children.
    """
    run([sys.executable, "-c", f"b'x' * {TOUCHED}"])


def note(text):
    print(text, file=sys.stderr, flush=True)


def run_once(contestant, out):
    done = run([out if part is OUT else part for part in contestant.argv])
    return float(done.output) if contestant.prints_time else done.ms


def check(cache, count):
    """Check that an emit left nothing out."""
    found = run(GROW + [cache, "--check"]).output.strip()
    if found != f"{count} entries, 0 bad":
        raise Failed(f"'{cache}' holds {found}, not {count} whole ones")


def in_turns(place, contestants, rounds, makes_folder):
    """{name: milliseconds in each round}, after one round to warm up."""
    times = {name: [] for name in contestants}
    for number in range(-1, rounds):
        touch_memory()
        # Rotate the order, so that none always runs after the slowest.
        names = list(contestants)
        shift = number % len(names)
        for name in names[shift:] + names[:shift]:
            out = place.fresh()
            if makes_folder:
                os.mkdir(out)
            ms = run_once(contestants[name], out)
            if number >= 0:
                times[name].append(ms)
            elif contestants[name].entries:
                check(out, contestants[name].entries)
        place.settle()
    return times


def ratio_of(above, below):
    return statistics.median(a / b for a, b in zip(above, below))


def ms_text(times):
    ms = statistics.median(times)
    return f"{ms:.0f} ms" if ms >= 100 else f"{ms:.1f} ms"


def faster(what, times, ours, other, least=None):
    """A row that says how many times as fast as `other` ours is."""
    ratio = ratio_of(times[other], times[ours])
    return Row(
        what,
        ms_text(times[ours]),
        ms_text(times[other]),
        ratio,
        f"≥ {least}×" if least else "–",
        ratio >= least if least else None,
        {ours: times[ours], other: times[other]},
    )


def within(what, times, ours, other, most):
    """A row that says how many times as long as `other` ours takes."""
    ratio = ratio_of(times[ours], times[other])
    samples = {ours: times[ours], other: times[other]}
    return Row(what, ms_text(times[ours]), ms_text(times[other]), ratio,
               f"≤ {most}×", ratio <= most, samples)


def at_most(what, value, most, unit, other="–", samples=None):
    return Row(what, f"{value:.1f} {unit}", other, None, f"≤ {most} {unit}",
               value <= most, samples or {})


class Bench:
    def __init__(self, args, memory, disk):
        self.program = args.program
        self.rounds = args.rounds
        self.memory = memory
        self.disk = disk
        self.rows = []
        self.floor, self.no_floor = build_floor(args.build)

    def add(self, row):
        self.rows.append(row)
        ratio = f", {row.ratio:.2f}×" if row.ratio is not None else ""
        note(f"  {row.what}: {row.ours}{ratio}")

    def prepare(self, count):
        """Grow a cache, and pack it with everything that will unpack it."""
        note(f"{count} entries: growing and packing")
        place = self.memory
        cache = place.path(f"cache{count}")
        run(GROW + [cache, str(count), "--check"])
        self.collect(cache, place.path(f"full{count}"))
        self.collect(cache, place.path(f"lean{count}"), "--profile", "lean")
        run(["tar", "-I", "zstd -T2 -3", "-cf", place.path(f"tar{count}"),
             "-C", cache, "."])
        run(BUNDLER + ["collect", cache, place.path(f"pickle{count}")])
        for name in ("cache", "full", "tar", "pickle"):
            run(["cp", "-r", place.path(f"{name}{count}"), self.disk.folder])
        os.sync()

    def collect(self, cache, bundle, *options):
        return run([self.program, "collect", cache, "-o", bundle, *options])

    def measure_collect(self, count, place):
        cache = place.path(f"cache{count}")
        times = in_turns(place, {
            "tkbundle": Contestant(
                [self.program, "collect", cache, "-o", OUT]),
            "tar": Contestant(
                ["tar", "-I", "zstd -T2 -3", "-cf", OUT, "-C", cache, "."]),
        }, self.rounds, makes_folder=False)
        self.add(faster(
            f'collect, {count}, {place.name}: `tar -I "zstd -T2 -3"`',
            times, "tkbundle", "tar", 1.5 if count >= 1000 else 1.3))

    def emitters(self, count, place):
        full = place.path(f"full{count}")
        cache = place.path(f"cache{count}")
        found = {
            "tkbundle": Contestant(
                [self.program, "emit", full, OUT], entries=count),
            "tar": Contestant(
                ["tar", "--zstd", "-xf", place.path(f"tar{count}"), "-C", OUT]),
            "bundler": Contestant(
                BUNDLER + ["emit", place.path(f"pickle{count}"), OUT],
                prints_time=True, entries=count),
            "cp": Contestant(["cp", "-r", cache + "/.", OUT]),
            "link": Contestant(["cp", "-rl", cache + "/.", OUT]),
        }
        if place is self.memory:
            lean = place.path(f"lean{count}")
            found["lean"] = Contestant(
                [self.program, "emit", lean, OUT], entries=count)
            if self.floor:
                found["floor"] = Contestant(
                    [self.floor, full, OUT], entries=count)
        return found

    def measure_emit(self, count, place):
        in_memory = place is self.memory
        times = in_turns(place, self.emitters(count, place), self.rounds,
                         makes_folder=True)
        what = f"emit, {count}, {place.name}"
        tar_budget = None
        if count >= 1000:
            tar_budget = 1.5 if in_memory else 1.2
        self.add(faster(f"{what}: `tar --zstd -x`", times, "tkbundle", "tar",
                        tar_budget))
        self.add(faster(f"{what}: Inductor's bundler", times, "tkbundle",
                        "bundler", 2.5 if in_memory else 2))
        self.add(faster(f"{what}: `cp -r`", times, "tkbundle", "cp"))
        self.add(faster(f"{what}: `cp -rl`", times, "tkbundle", "link"))
        if "floor" in times:
            self.add(within(f"{what}: the same frames, no digests", times,
                            "tkbundle", "floor", 1.2))
        elif in_memory:
            self.add(Row(f"{what}: the same frames, no digests",
                         f"not measured: {self.no_floor}"))
        if "lean" in times:
            self.add(faster(f"emit of lean, {count}, {place.name}: of full",
                            times, "lean", "tkbundle", 3))

    def measure_present(self, count):
        """Emit what is already there, and a single entry: what a start costs."""
        full = self.memory.path(f"full{count}")
        root = self.memory.path(f"present{count}")
        again = [self.program, "emit", full, root]
        single = self.emitted_single(count)
        run(again)
        all_ms, one_ms = [], []
        for number in range(-1, 3 * self.rounds):
            pair = run(again).ms, run(single).ms
            if number >= 0:
                all_ms.append(pair[0])
                one_ms.append(pair[1])
        each = statistics.median(
            (a - b) * 1000 / (count - 1) for a, b in zip(all_ms, one_ms))
        total = statistics.median(all_ms) * 1000 / count
        what = f"what is already there, {count}, tmpfs"
        samples = {"all": all_ms, "one": one_ms}
        self.add(at_most(f"{what}: each entry", each, 10, "µs",
                         samples=samples))
        self.add(Row(f"{what}: the whole run by its entries", f"{total:.1f} µs",
                     samples=samples))

    def emitted_single(self, count):
        """The command that emits one entry of a cache where it is already."""
        cache = self.memory.path(f"cache{count}")
        bundle = self.memory.path("single")
        key = min(os.listdir(cache))
        self.collect(cache, bundle, "--key", key)
        command = [self.program, "emit", bundle, self.memory.path("one")]
        run(command)
        return command

    def measure_start(self, count):
        nothing = [run(["true"]).ms for _ in range(SHORT_RUNS)]
        for what, argv in (
            ("start: `tkbundle --version` (other: `true`)",
             [self.program, "--version"]),
            ("start: emit of one entry that is there (other: `true`)",
             self.emitted_single(count)),
        ):
            times = [run(argv).ms for _ in range(SHORT_RUNS)]
            self.add(at_most(what, statistics.median(times), 2.5, "ms",
                             ms_text(nothing), {"tkbundle": times}))

    def measure_size(self, count):
        place = self.memory
        tar = place.path("long")
        run_shell('tar -cf - -C "$1" . | zstd -q -3 --long=27 -c >"$2"',
                  place.path(f"cache{count}"), tar)
        self.add_size(f"size, {count}: `tar | zstd -3 --long=27`",
                      place.path(f"full{count}"), tar, most=1)

    def measure_devices(self, count):
        place = self.memory
        cache = place.path("devices")
        bundle, tar = place.path("devices.tkb"), place.path("devices.tar.gz")
        note(f"{count} entries on each of 8 devices")
        run(GROW + [cache, str(count), "--devices", "8", "--check"])
        self.collect(cache, bundle)
        run(["tar", "-czf", tar, "-C", cache, "."])
        remove(cache)
        self.add_size(f"size, {count} on 8 devices: `tar -cz`", bundle, tar,
                      least=10)

    def add_size(self, what, ours, other, most=None, least=None):
        """`most` is of ours by the other's, `least` the other way round."""
        sizes = {"tkbundle": os.path.getsize(ours),
                 "other": os.path.getsize(other)}
        ratio = sizes["tkbundle"] / sizes["other"]
        if least:
            ratio = 1 / ratio
        self.add(Row(
            what, *(f"{size / 1e6:.2f} MB" for size in sizes.values()), ratio,
            f"≥ {least}×" if least else f"≤ {most}×",
            ratio >= least if least else ratio <= most, sizes))

    def measure_memory(self, count, place):
        cache = place.path(f"cache{count}")
        bundle, root = place.fresh(), place.fresh()
        collect = self.collect(cache, bundle)
        emit = run([self.program, "emit", bundle, root])
        check(root, count)
        place.settle()
        self.add(at_most(f"peak memory of collect, {count}", collect.peak_mib,
                         MEMORY_BUDGET_MIB, "MiB"))
        self.add(at_most(f"peak memory of emit, {count}", emit.peak_mib,
                         MEMORY_BUDGET_MIB, "MiB"))


def build_floor(folder):
    """Compile floor.c: its path and None, or None and why there is none."""
    program = os.path.join(folder, "bench-floor")
    compiler = os.environ.get("CC", "cc")
    try:
        os.makedirs(folder, exist_ok=True)
        run([compiler, "-std=c11", "-O2", "-o", program,
             os.path.join(HERE, "floor.c"), "-lzstd", "-larchive",
             "-lpthread"])
    except (Failed, OSError) as error:
        note(f"bench: {error}")
        return None, "floor.c did not compile"
    return program, None


def machine(bench, args):
    """What a reader has to know beside the figures."""
    model = text_of(["sed", "-n", "s/^model name.*: //p;T;q", "/proc/cpuinfo"])
    return {
        "program": text_of([bench.program, "--version"]).partition("\n")[0],
        "cpu": f"{os.cpu_count()} × {model or platform.machine()}",
        "memory": f"{bench.memory.kind} on {args.tmpfs}",
        "disk": f"{bench.disk.kind} on {args.disk}",
        "kernel": f"Linux {platform.release()}",
        "tools": ", ".join((
            text_of(["tar", "--version"]).partition("\n")[0],
            text_of(["zstd", "-V"]).strip("* "),
            f"Python {platform.python_version()}")),
        "load": f"load {os.getloadavg()[0]:.1f} at the start",
        "rounds": f"{bench.rounds} rounds",
    }


def table(rows):
    lines = [
        "| what: against | tkbundle | other | ratio | budget | met |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        ratio = "–" if row.ratio is None else f"{row.ratio:.2f}×"
        met = {None: "–", True: "yes", False: "**no**"}[row.met]
        what = row.what.replace("|", "\\|")
        cells = (what, row.ours, row.other, ratio, row.budget, met)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def measure(bench, args):
    counts = [250] if args.quick else [250, 1000]
    for count in counts:
        bench.prepare(count)
        if count == counts[0]:
            bench.measure_start(count)
        for place in (bench.memory, bench.disk):
            bench.measure_collect(count, place)
        for place in (bench.memory, bench.disk):
            bench.measure_emit(count, place)
        bench.measure_present(count)
        bench.measure_size(count)
    bench.measure_memory(counts[-1], bench.memory)
    bench.measure_devices(50 if args.quick else 250)
    if args.big:
        note("10000 entries: growing")
        run(GROW + [bench.disk.path("cache10000"), "10000"])
        bench.measure_memory(10000, bench.disk)


def parse_arguments():
    repository = os.path.dirname(HERE)
    release = os.path.join(repository, "build", "release")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--program", default=os.path.join(release, "tkbundle"),
                        help="the tkbundle to measure (%(default)s)")
    parser.add_argument("--build", default=release,
                        help="where to compile floor.c to (%(default)s)")
    parser.add_argument("--tmpfs", default="/dev/shm",
                        help="a folder in memory (%(default)s)")
    parser.add_argument("--disk", default=os.environ.get("TMPDIR", "/var/tmp"),
                        help="a folder on disk (%(default)s)")
    parser.add_argument("--rounds", type=int, help="7, or 3 with --quick")
    parser.add_argument("--quick", action="store_true",
                        help="250 entries only")
    parser.add_argument("--big", action="store_true",
                        help="peak memory with 10,000 entries, too")
    parser.add_argument("--json", metavar="FILE",
                        help="write every round's figures there")
    args = parser.parse_args()
    args.rounds = args.rounds or (3 if args.quick else 7)
    args.program = os.path.abspath(args.program)
    if not os.access(args.program, os.X_OK):
        parser.error(f"there is no program '{args.program}'")
    return args


def main():
    args = parse_arguments()
    memory = Place("tmpfs", args.tmpfs)
    disk = Place("disk", args.disk)
    try:
        bench = Bench(args, memory, disk)
        facts = machine(bench, args)
        measure(bench, args)
    except Failed as error:
        note(f"bench: {error}")
        return 1
    finally:
        memory.close()
        disk.close()
    print("; ".join(facts.values()) + "\n")
    print(table(bench.rows))
    if args.json:
        rows = [dataclasses.asdict(row) for row in bench.rows]
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"machine": facts, "rows": rows}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
