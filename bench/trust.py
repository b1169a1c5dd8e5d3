#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure what a policy adds to a pull of a ref whose records are signed.

As bench.py does: all in turns, the median of the ratios within a round.
README.md says what each row means.
"""

import argparse
import os
import statistics
import sys

import bench
import grow
from bench import OUT, Contestant, Failed, Place, Row, note, run

RECORDS = 32
KINDS = ("ed25519", "p256")
MOST_MS = 0.2  # a signature
MOST_SHARE = 1.02  # of a pull


class TrustBench:
    def __init__(self, args, place):
        self.program, self.rounds, self.place = args.program, args.rounds, place
        grown = place.path("cache")
        grow.grow(grown, RECORDS, 1, 1)
        self.cache = os.path.join(grown, "triton", "0")
        self.keys = [name for name in sorted(os.listdir(self.cache))
                     if not name.startswith(".")]

    def prepare(self, kind):
        """A remote of its own, whose ref has a signed record of each kernel."""
        key, policy, remote = (self.place.path(f"{name}-{kind}")
                               for name in ("key", "policy", "remote"))
        run([self.program, "key", "new", key, "--kind", kind])
        with open(policy, "w", encoding="utf-8") as file:
            file.write(f"unsigned = refuse\nci.key = {key}.pub\nci.publish = *\n")
        for name in self.keys:
            run([self.program, "push", "bench/ref", self.cache, "--key", name, "--remote",
                 remote, "--no-compaction", "--sign", key])
        return remote, policy

    def rows(self, kind):
        note(f"{kind}: pushing {RECORDS} records")
        remote, policy = self.prepare(kind)
        there = self.place.path("there-" + kind)
        plain = [self.program, "pull", "bench/ref", OUT, "--remote", remote]
        trusted = [*plain, "--trust", policy]
        run([there if word is OUT else word for word in trusted])
        times = bench.in_turns(self.place, {
            "with": Contestant(trusted), "without": Contestant(plain),
        }, self.rounds, makes_folder=False)
        yield bench.within(f"pull, {kind}: without a policy", times, "with", "without",
                           MOST_SHARE)
        times = bench.in_turns(self.place, {
            "with": Contestant([there if word is OUT else word for word in trusted]),
            "without": Contestant([there if word is OUT else word for word in plain]),
        }, self.rounds, makes_folder=False)
        ms = statistics.median(one - other for one, other in
                               zip(times["with"], times["without"])) / RECORDS
        yield Row(f"a signature, {kind}", f"{ms:.3f} ms", budget=f"≤ {MOST_MS} ms",
                  met=ms <= MOST_MS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--program", default=os.path.join(
        bench.HERE, "..", "build", "release", "tkbundle"),
        help="the tkbundle to measure (%(default)s)")
    parser.add_argument("--tmpfs", default="/dev/shm", help="a folder in memory (%(default)s)")
    parser.add_argument("--rounds", type=int, default=31)
    args = parser.parse_args()
    args.program = os.path.abspath(args.program)
    place = Place("tmpfs", args.tmpfs)
    bench.ENVIRONMENT.update(TKBUNDLE_CONFIG="/dev/null", XDG_STATE_HOME=place.path("state"))
    try:
        trust = TrustBench(args, place)
        rows = [row for kind in KINDS for row in trust.rows(kind)]
    except Failed as error:
        note(f"bench: {error}")
        return 1
    finally:
        place.close()
    print(bench.table(rows))
    return 0


sys.exit(main())
