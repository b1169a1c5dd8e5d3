#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure push and pull against plain clients that move the same bytes.

As bench.py does: all in turns, the median of the ratios within a round.
README.md says what each row means.
"""

import argparse
import dataclasses
import json
import os
import shlex
import signal
import sys

import bench
from bench import OUT, Contestant, Failed, Place, Row, note, run
from remote_servers import S3_KEY, S3_SECRET, Servers

PULLERS = 16
PULLERS_COUNT = 250  # entries; all of them are there 48 times at once
BUDGET = 1.5

# Wait for each by its pid, so that no failure is missed.
HERD = """\
mkdir -p "$1"
pids=
for i in $(seq %d); do
	mkdir "$1/$i"
	{ %s; } >/dev/null &
	pids="$pids $!"
done
for pid in $pids; do wait "$pid"; done
"""


def shell(script, **options):
    """A contestant: $1 is what it makes."""
    return Contestant(["sh", "-euc", script, "sh", OUT], **options)


class RemoteBench(bench.Bench):
    # pylint: disable-next=super-init-not-called  # there is nothing to build
    def __init__(self, args, memory, servers):
        self.program = args.program
        self.rounds = args.rounds
        self.memory = self.disk = memory
        self.servers = servers
        self.word = shlex.quote(args.program)
        self.rows = []

    def prepare(self, count):
        note(f"{count} entries: growing and packing")
        cache = self.memory.path(f"cache{count}")
        run(bench.GROW + [cache, str(count), "--check"])
        self.collect(cache, self.memory.path(f"full{count}"))

    def push(self, remote, where, count):
        """Measure a push of all entries to a new ref."""
        return [self.program, "push", "bench",
                self.memory.path(f"cache{count}"),
                "--remote", remote.url(where)]

    def pull(self, remote, where, root):
        return [self.program, "pull", "bench", root,
                "--remote", remote.url(where)]

    def measure_push(self, remote, count):
        cache = shlex.quote(self.memory.path(f"cache{count}"))
        # A new place in the remote each time, named after what is made here.
        where = "${1##*/}"
        times = bench.in_turns(self.memory, {
            "tkbundle": shell(f"exec {self.word} push bench {cache} "
                              f'--remote "{remote.url(where)}"'),
            "plain": shell(f'{self.word} collect {cache} -o "$1"; '
                           + remote.put('"$1"', where)),
        }, self.rounds, makes_folder=False)
        self.add(self.within(
            f"push, {count}, {remote.name}: collect + {remote.client}",
            times, None))

    def measure_pull(self, remote, count):
        where = f"pull{count}"
        bundle = shlex.quote(self.memory.path(f"full{count}"))
        run(self.push(remote, where, count))
        bench.run_shell(remote.put('"$1"', where), bundle)
        times = bench.in_turns(self.memory, {
            "tkbundle": shell(
                f'exec {self.word} pull bench "$1" '
                f'--remote "{remote.url(where)}"', entries=count),
            "plain": shell(
                remote.get('"$1/.fetched"', where)
                + f'; exec {self.word} emit "$1/.fetched" "$1"',
                entries=count),
        }, self.rounds, makes_folder=True)
        self.add(self.within(
            f"pull, {count}, {remote.name}: {remote.client} + emit",
            times, BUDGET if remote.has_budget else None))

    def measure_nothing(self, remote, count):
        """Measure a pull of what is there, against an emit of it from a file."""
        root = self.memory.fresh()
        again = self.pull(remote, f"pull{count}", root)
        run(again)
        file = [self.program, "emit", self.memory.path(f"full{count}"), root]
        ours, other = [], []
        for number in range(-1, 3 * self.rounds):
            pair = run(again).ms, run(file).ms
            if number >= 0:
                ours.append(pair[0])
                other.append(pair[1])
        self.memory.settle()
        self.add(self.within(
            f"pull of nothing, {count}, {remote.name}: emit from a file",
            {"tkbundle": ours, "plain": other}, None))

    def herd(self, remote, count, has_tier):
        tier = "file://$1/tier," if has_tier else ""
        return HERD % (PULLERS, f'exec {self.word} pull bench "$1/$i" '
                       f'--remote "{tier}{remote.url(f"pull{count}")}"')

    def measure_pullers(self, remote, count):
        plain = (remote.get('"$1/$i/.fetched"', f"pull{count}")
                 + f'; exec {self.word} emit "$1/$i/.fetched" "$1/$i"')
        scripts = {
            "tier": self.herd(remote, count, True),
            "tkbundle": self.herd(remote, count, False),
            "plain": HERD % (PULLERS, plain),
        }
        for script in scripts.values():
            out = self.memory.fresh()
            bench.run_shell(script, out)
            for i in range(PULLERS):
                bench.check(os.path.join(out, str(i + 1)), count)
            self.memory.settle()
        times = bench.in_turns(
            self.memory,
            {name: shell(script) for name, script in scripts.items()},
            self.rounds, makes_folder=False)
        what = f"{PULLERS} pulls at once, {count}, {remote.name}"
        self.add(self.within(f"{what}: as many {remote.client} + emit",
                             times, None))
        self.add(bench.within(f"{what}: the same through a file tier",
                              times, "tkbundle", "tier", BUDGET))
        self.rows[-1] = self.without_budget(self.rows[-1])

    def measure_sent(self, remote, count):
        """How often the blob leaves the server for one node."""
        sent = []
        for has_tier in (True, False):
            before = self.servers.sent_by_redis()
            bench.run_shell(self.herd(remote, count, has_tier),
                            self.memory.fresh())
            self.memory.settle()
            sent.append(self.servers.sent_by_redis() - before)
        self.add(Row(
            f"{PULLERS} pulls at once, {count}, {remote.name}, bytes sent, "
            "file tier: without it",
            *(f"{size / 1e6:.1f} MB" for size in sent), sent[0] / sent[1],
            samples={"bytes": sent}))

    def measure_memory(self, remotes, count):
        for verb in ("push", "pull"):
            peaks = {}
            for remote in remotes:
                if verb == "push":
                    argv = self.push(remote, "memory", count)
                else:
                    argv = self.pull(remote, "memory", self.memory.fresh())
                peaks[remote.name] = run(argv).peak_mib
                self.memory.settle()
            most = max(peaks, key=peaks.get)
            self.add(bench.at_most(
                f"peak memory of {verb}, {count}, the most: {most}",
                peaks[most], bench.MEMORY_BUDGET_MIB, "MiB", samples=peaks))

    def within(self, what, times, most):
        row = bench.within(what, times, "tkbundle", "plain", most or 0)
        return row if most else self.without_budget(row)

    @staticmethod
    def without_budget(row):
        return dataclasses.replace(row, budget="–", met=None)


def start(servers, bench_, args):
    """The remotes that were asked for and can be started."""
    starters = {
        "file": servers.start_file,
        "redis": servers.start_redis,
        "http": servers.start_http,
        "s3": servers.start_s3,
    }
    found = []
    for kind in args.remotes:
        try:
            found += starters[kind]()
        except (Failed, OSError) as error:
            note(f"bench: {kind}: {error}")
            bench_.add(Row(kind, f"not measured: {error}"))
    return found


def measure(bench_, remotes, args):
    counts = [250] if args.quick else [250, 1000]
    for count in counts:
        bench_.prepare(count)
        for remote in remotes:
            bench_.measure_push(remote, count)
        for remote in remotes:
            bench_.measure_pull(remote, count)
        for remote in remotes:
            bench_.measure_nothing(remote, count)
    bench_.measure_memory(remotes, counts[-1])
    for remote in remotes:
        if remote.name in ("Redis", "HTTP"):
            bench_.measure_pullers(remote, PULLERS_COUNT)
        if remote.name == "Redis":
            bench_.measure_sent(remote, PULLERS_COUNT)


def machine(bench_, args):
    """What a reader has to know beside the figures."""
    facts = bench.machine(bench_, args)
    del facts["disk"]
    facts["tools"] = ", ".join(
        bench.text_of(["sh", "-c", script]) for script in (
            "redis-server --version | cut -d ' ' -f 1-3",
            "PATH=$PATH:/usr/sbin nginx -v 2>&1 | sed 's/.*: //'",
            "curl --version | head -n 1 | cut -d ' ' -f 1-2"))
    return facts


def parse_arguments():
    release = os.path.join(os.path.dirname(bench.HERE), "build", "release")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--program", default=os.path.join(release, "tkbundle"),
                        help="the tkbundle to measure (%(default)s)")
    parser.add_argument("--tmpfs", default="/dev/shm",
                        help="a folder in memory (%(default)s)")
    parser.add_argument("--rounds", type=int, help="7, or 3 with --quick")
    parser.add_argument("--quick", action="store_true",
                        help="250 entries only")
    parser.add_argument("--remotes", default="file,redis,http,s3",
                        type=lambda text: text.split(","),
                        help="only these (%(default)s)")
    parser.add_argument("--json", metavar="FILE",
                        help="write every round's figures there")
    args = parser.parse_args()
    args.rounds = args.rounds or (3 if args.quick else 7)
    args.program = os.path.abspath(args.program)
    args.disk = args.tmpfs
    if not os.access(args.program, os.X_OK):
        parser.error(f"there is no program '{args.program}'")
    if not {*args.remotes} <= {"file", "redis", "http", "s3"}:
        parser.error("--remotes: file, redis, http and s3, with commas")
    return args


def report(bench_, facts, args):
    print("; ".join(facts.values()) + "\n")
    print(bench.table(bench_.rows))
    if args.json:
        rows = [dataclasses.asdict(row) for row in bench_.rows]
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"machine": facts, "rows": rows}, file, indent=1)


def main():
    args = parse_arguments()
    # Stop the servers even after an exception.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    bench.ENVIRONMENT.update(
        TKBUNDLE_CONFIG="/dev/null", AWS_ACCESS_KEY_ID=S3_KEY,
        AWS_SECRET_ACCESS_KEY=S3_SECRET, AWS_REGION="us-east-1")
    memory = Place("tmpfs", args.tmpfs)
    try:
        with Servers(memory.path("servers")) as servers:
            bench_ = RemoteBench(args, memory, servers)
            facts = machine(bench_, args)
            remotes = start(servers, bench_, args)
            measure(bench_, remotes, args)
    except Failed as error:
        note(f"bench: {error}")
        return 1
    finally:
        memory.close()
    report(bench_, facts, args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
