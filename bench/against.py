#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure one build of tkbundle against another, in turns and in one run.

    against.py BEFORE AFTER [ROUNDS [COUNT]]

BEFORE and AFTER are programs. Each row is done by both with the same files; what is
printed is the median of the ratios within a round, AFTER by BEFORE, so below 1 the
second is faster. The folders lie in $TMPDIR, best on tmpfs. The servers are those of
remote.py. Rows are left out if their server does not start, or if they compile and a
program has no tkbundle-compile beside it.
"""

import glob
import os
import shutil
import statistics
import sys
import tarfile
import tempfile

import bench
import compile as compile_bench
from remote_servers import S3_KEY, S3_SECRET, Servers


def median_ms(times):
    return statistics.median(times)


class Against:
    def __init__(self, programs, rounds, count):
        self.programs = dict(zip(("before", "after"), map(os.path.abspath, programs)))
        self.rounds = rounds
        self.places = 0  # in remotes, of pushes so far
        self.folder = tempfile.mkdtemp(prefix="tkbundle-against-")
        self.cache = self.path("cache")
        bench.run(bench.GROW + [self.cache, str(count), "--check"])
        # Each program uses files that it made itself, in case their versions differ.
        for name, program in self.programs.items():
            for profile in ("full", "lean"):
                bench.run([program, "collect", self.cache, "-o",
                           self.path(f"{name}.{profile}"), "--profile", profile])
            bench.run([program, "emit", self.path(f"{name}.full"), self.path(f"{name}.there")])
            bench.run([program, "push", "a/b", self.cache, "--remote",
                       self.path(f"{name}.remote")])

    def path(self, name):
        return os.path.join(self.folder, name)

    def row(self, what, arguments, short=False):
        """`arguments(name, out)` returns the arguments for build `name`."""
        times = {name: [] for name in self.programs}
        for number in range(-1, self.rounds * (10 if short else 1)):
            names = list(self.programs)
            for name in names if number % 2 else reversed(names):
                out = self.path("out")
                ms = bench.run([self.programs[name], *arguments(name, out)]).ms
                bench.remove(out)
                if number >= 0:
                    times[name].append(ms)
        ratio = statistics.median(a / b for a, b in zip(times["after"], times["before"]))
        print(f"{what:36} {median_ms(times['before']):9.2f} ms {median_ms(times['after']):9.2f} ms"
              f"   {ratio:.3f}", flush=True)

    def rows_of_remote(self, remote):
        """Each push goes to a place of its own."""
        def push(_name, _out):
            self.places += 1
            return ["push", "a/b", self.cache, "--remote", remote.url(f"new{self.places}")]

        for name, program in self.programs.items():
            bench.run([program, "push", "a/b", self.cache, "--remote", remote.url(name)])
        self.row(f"push, {remote.name}", push)
        self.row(f"pull, {remote.name}", lambda name, out: [
            "pull", "a/b", out, "--remote", remote.url(name)])
        self.row(f"pull of what is there, {remote.name}", lambda name, out: [
            "pull", "a/b", self.path(f"{name}.there"), "--remote", remote.url(name)])

    def rows_of_compile(self):
        inputs = []
        for fixture in compile_bench.FIXTURES:
            with tarfile.open(os.path.join(compile_bench.REPOSITORY, "fixtures",
                                           f"{fixture}.tar.gz")) as archive:
                archive.extractall(self.path(fixture), filter="data")
            inputs += sorted(glob.glob(self.path(f"{fixture}/**/*.llir"), recursive=True,
                                       include_hidden=True))
        ask = ["compile", *inputs, "--target", "cuda:90"]
        for program in self.programs.values():
            bench.run([program, *ask, "--cache", self.path("hits")])
        self.row("compile to cubins", lambda name, out: [*ask, "--cache", out])
        self.row("compile, all hits", lambda name, out: [*ask, "--cache", self.path("hits")])

    def close(self):
        shutil.rmtree(self.folder)


def start(servers):
    """Those of remote.py's servers that start."""
    found = []
    for begin in (servers.start_redis, servers.start_http, servers.start_s3):
        try:
            found += begin()
        except (bench.Failed, OSError) as error:
            print(f"against: {error}", file=sys.stderr)
    return found


def main():
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 15
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
    bench.ENVIRONMENT.update(
        TKBUNDLE_CONFIG="/dev/null", AWS_ACCESS_KEY_ID=S3_KEY,
        AWS_SECRET_ACCESS_KEY=S3_SECRET, AWS_REGION="us-east-1",
        CUDA_HOME=os.environ.get("CUDA_HOME", os.path.join(
            compile_bench.REPOSITORY, "build", "venv", "cuda")))
    against = Against(sys.argv[1:3], rounds, count)
    path, cache = against.path, against.cache
    print(f"{'':36} {'before':>12} {'after':>12}   ratio")
    try:
        against.row("--version", lambda name, out: ["--version"], short=True)
        against.row("ls", lambda name, out: ["ls", path(f"{name}.full")])
        against.row("collect", lambda name, out: ["collect", cache, "-o", out])
        against.row("collect, lean", lambda name, out: ["collect", cache, "-o", out,
                                                        "--profile", "lean"])
        against.row("emit", lambda name, out: ["emit", path(f"{name}.full"), out])
        against.row("emit, lean", lambda name, out: ["emit", path(f"{name}.lean"), out])
        against.row("emit of what is there",
                    lambda name, out: ["emit", path(f"{name}.full"), path(f"{name}.there")],
                    short=True)
        against.row("verify", lambda name, out: ["verify", path(f"{name}.full")])
        against.row("push to an empty folder",
                    lambda name, out: ["push", "a/b", cache, "--remote", out])
        against.row("push of what is there",
                    lambda name, out: ["push", "a/b", cache, "--remote", path(f"{name}.remote")])
        against.row("pull", lambda name, out: ["pull", "a/b", out, "--remote",
                                               path(f"{name}.remote")])
        against.row("pull of what is there",
                    lambda name, out: ["pull", "a/b", path(f"{name}.there"), "--remote",
                                       path(f"{name}.remote")])
        with Servers(path("servers")) as servers:
            for remote in start(servers):
                against.rows_of_remote(remote)
        if all(os.path.exists(os.path.join(os.path.dirname(program), "tkbundle-compile"))
               for program in against.programs.values()):
            against.rows_of_compile()
    finally:
        against.close()
    return 0


sys.exit(main())
