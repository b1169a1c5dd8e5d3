#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure what a framework does in its own process with the kernels of one graph:
26 entries, 187 files, 6.3 MB.

PyTorch's TritonBundler (bundler.py), the package `tkbundle` and, where libraries
were built here, a program in C take turns; each has done all of it before.
README.md says what each row means.
"""

import argparse
import json
import os
import statistics
import sys
import tarfile
import time
import zipfile

import bench
import bundler
from bench import Failed, Place, Row, note, ratio_of, remove

REPOSITORY = os.path.dirname(bench.HERE)
FIXTURE = os.path.join(REPOSITORY, "fixtures", "inductor-2.11-llama4-h100.tar.gz")
KERNELS = ".cache/torchinductor/triton/"
ENTRIES, FILES = 26, 187
PUTS = 1000
MANY_CORES = 16


def timed(work, *arguments, **options):
    """The time in milliseconds, and the result, so that freeing it is not timed."""
    start = time.perf_counter()
    result = work(*arguments, **options)
    return (time.perf_counter() - start) * 1000, result


class Small:
    def __init__(self, place, args, package):
        self.place, self.package = place, package
        self.args = args
        self.cache = place.path("cache")
        self.kernels = os.path.join(self.cache, "triton", "0")
        self.bundle, self.packed = place.path("bundle"), b""
        self.lean = place.path("lean")
        self.times = {}
        self.program = (None if args.wheel else
                        build(args.build, place.path("small")))
        with tarfile.open(FIXTURE) as tar:
            for member in tar:
                _, is_in, name = member.name.partition(KERNELS)
                if is_in:
                    member.name = os.path.join("triton", name)
                    tar.extract(member, self.cache, filter="data")
        package.collect(self.cache, self.bundle)
        # The group files name the machine that made them.
        remove(self.cache)
        package.emit(self.bundle, self.cache, layout="inductor")
        remove(os.path.join(self.kernels, ".tkbundle"))
        self.keys = sorted(os.listdir(self.kernels))
        self.check(self.kernels)
        package.collect(self.cache, self.lean, profile="lean", level=args.level)

    def check(self, root):
        paths = [os.path.join(root, key, name) for key in self.keys
                 for name in os.listdir(os.path.join(root, key))]
        if (len(self.keys), len(paths)) != (ENTRIES, FILES):
            raise Failed(f"'{root}' holds {len(self.keys)} entries, {len(paths)} files")

    def note(self, name, *times):
        self.times.setdefault(name, []).append(times)

    def bundler(self):
        ms, self.packed = timed(bundler.pack, self.kernels, self.keys)
        self.note("collect, bundler", ms)
        out = self.place.fresh()
        os.mkdir(out)
        ms, _ = timed(bundler.unpack, self.packed, out)
        self.note("emit, bundler", ms)
        self.check(out)

    def library(self):
        with self.package.recording(self.cache) as recorder:
            for key in self.keys:
                recorder.put(key, 0)
            ms, _ = timed(recorder.collect, self.bundle,
                          level=self.args.level)
        self.note("collect, package", ms)
        with self.package.recording(self.cache) as recorder:
            for key in self.keys:
                recorder.put(key, 0)
            ms, later = timed(recorder.collect_later, self.bundle,
                              level=self.args.level)
        later.result()
        self.note("later, package", ms)
        out = self.place.fresh()
        ms, _ = timed(self.package.emit, self.bundle, out)
        self.note("emit, package", ms)
        self.check(os.path.join(out, "triton", "0"))
        ms, report = timed(self.package.emit, self.bundle, out)
        self.note("there, package", ms)
        if report.present != ENTRIES:
            raise Failed(f"{report.present} entries were there already")
        ms, report = timed(self.package.emit, self.lean, self.place.fresh())
        self.note("lean, package", ms)
        if report.emitted != ENTRIES:
            raise Failed(f"{report.emitted} lean entries were emitted")

    def in_c(self):
        path, out = self.place.path("c"), self.place.fresh()
        collected = bench.run([self.program, "collect", self.cache, path,
                               str(self.args.level)])
        self.note("collect, C", *map(float, collected.output.split()))
        os.mkdir(out)
        self.note("emit, C", float(bench.run([self.program, "emit", path, out]).output))
        self.check(os.path.join(out, "1", "triton", "0"))

    def puts(self):
        """Put keys that are new to the recorder, as a compile does."""
        keys = [f"{number:064x}" for number in range(PUTS)]

        def put_all(recorder):
            for key in keys:
                recorder.put(key, 0)

        with self.package.recording(self.cache) as recorder:
            ms, _ = timed(put_all, recorder)
        self.note("put, package", ms * 1000 / PUTS)

    def run(self):
        for number in range(-1, self.args.rounds):
            steps = [self.bundler, self.library, self.puts]
            if self.program:
                steps.append(self.in_c)
            for step in steps if number % 2 else reversed(steps):
                step()
            self.place.settle()
            if number < 0:
                self.times = {}

    def of(self, name, nth=0):
        return [times[nth] for times in self.times[name]]

    def rows(self):
        """Each with the median, and the least in brackets."""
        def text(times, unit="ms"):
            return f"{statistics.median(times):.2f} ({min(times):.2f}) {unit}"

        def against(what, name, other, least):
            ours, other = self.of(name), self.of(other)
            ratio = ratio_of(other, ours)
            met = None if least is None else ratio >= least
            return Row(f"{what}: TritonBundler", text(ours), text(other), ratio,
                       "–" if least is None else f"≥ {least}×", met)

        writers = ("package", "C") if self.program else ("package",)
        many = len(os.sched_getaffinity(0)) >= MANY_CORES
        for who in writers:
            yield against(f"collect, {who}", f"collect, {who}", "collect, bundler",
                          1 if many else None)
        yield against("collect later, package", "later, package", "collect, bundler", 1)
        for who in writers:
            yield against(f"emit, {who}", f"emit, {who}", "emit, bundler",
                          3 if many else 1.5)
        yield against("emit of what a launch needs, package", "lean, package",
                      "emit, bundler", None)
        yield Row("emit of what is there, package", text(self.of("there, package")))
        yield Row("a put, package", text(self.of("put, package"), "µs"))
        if self.program:
            yield Row("a put, C", text(self.of("collect, C", 1), "µs"))
        sizes = os.path.getsize(self.bundle), len(self.packed)
        yield Row("size: pickle", *(f"{size / 1e6:.2f} MB" for size in sizes),
                  sizes[0] / sizes[1])


def build(folder, program):
    bench.run([os.environ.get("CC", "cc"), "-std=c11", "-O2", "-o", program,
               os.path.join(bench.HERE, "small.c"),
               "-I", os.path.join(REPOSITORY, "include"), "-L", folder,
               "-ltkbundle", f"-Wl,-rpath,{folder}"])
    return program


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--program",
                        default=os.path.join(REPOSITORY, "build", "release", "tkbundle"),
                        help="the libraries are those beside it (%(default)s)")
    parser.add_argument("--wheel", metavar="FILE",
                        help="package and libraries of this wheel, no C compiler needed")
    parser.add_argument("--tmpfs", default="/dev/shm",
                        help="a folder in memory (%(default)s)")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--level", type=int, default=0,
                        help="of a collect, from -50 to 19 (0: the default's)")
    parser.add_argument("--json", metavar="FILE",
                        help="write every round's figures there")
    args = parser.parse_args()
    args.build = os.path.dirname(os.path.abspath(args.program))
    return args


def find_package(args, place):
    """Where Python finds `tkbundle`, which finds its libraries."""
    if args.wheel is None:
        os.environ["TKBUNDLE_LIBRARY"] = args.build
        return os.path.join(REPOSITORY, "python")
    os.environ.pop("TKBUNDLE_LIBRARY", None)
    folder = place.path("wheel")
    with zipfile.ZipFile(args.wheel) as wheel:
        wheel.extractall(folder)
    return folder


def measure(args, place):
    sys.path.insert(0, find_package(args, place))
    import tkbundle
    try:
        small = Small(place, args, tkbundle)
        small.run()
        rows = list(small.rows())
    except (Failed, tkbundle.Error) as error:
        note(f"bench: {error}")
        return 1
    print(f"{len(os.sched_getaffinity(0))} cores; load {os.getloadavg()[0]:.1f}; "
          f"{args.rounds} rounds\n")
    print(bench.table(rows))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(small.times, file, indent=1)
    return 0


def main():
    args = parse_arguments()
    place = Place("tmpfs", args.tmpfs)
    try:
        return measure(args, place)
    finally:
        place.close()


if __name__ == "__main__":
    sys.exit(main())
