#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure what a policy adds to a pull of a ref whose records are signed.

As bench.py does: all in turns, the median of the ratios within a round.
README.md says what each row means.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys

import bench
import grow
from bench import OUT, Contestant, Failed, Place, Row, note, run

RECORDS = 32
EACH = 40  # kernels of a record, in a pull of many
KINDS = {"ed25519": "ed25519", "p256": "ecdsap256"}  # what OpenSSL calls them
MOST_MS = 0.2  # a signature
MOST_SHARE = 1.02  # of a pull


class TrustBench:
    def __init__(self, args, place):
        self.program, self.rounds, self.place = args.program, args.rounds, place
        grown = place.path("cache")
        grow.grow(grown, RECORDS * EACH, 1, 1)
        self.cache = os.path.join(grown, "triton", "0")
        self.keys = [name for name in sorted(os.listdir(self.cache))
                     if not name.startswith(".")]

    def prepare(self, kind, each):
        """A remote of its own, whose ref has signed records of so many kernels."""
        key, policy, remote = (self.place.path(f"{name}-{kind}-{each}")
                               for name in ("key", "policy", "remote"))
        run([self.program, "key", "new", key, "--kind", kind])
        with open(policy, "w", encoding="utf-8") as file:
            file.write(f"unsigned = refuse\nci.key = {key}.pub\nci.publish = *\n")
        for at in range(0, RECORDS * each, each):
            chosen = [word for name in self.keys[at:at + each] for word in ("--key", name)]
            run([self.program, "push", "bench/ref", self.cache, *chosen, "--remote", remote,
                 "--no-compaction", "--sign", key])
        plain = [self.program, "pull", "bench/ref", OUT, "--remote", remote]
        return plain, [*plain, "--trust", policy]

    def pulls(self, kind, each, plain, trusted):
        times = bench.in_turns(self.place, {
            "with": Contestant(trusted), "without": Contestant(plain),
        }, self.rounds, makes_folder=False)
        return bench.within(f"pull of {RECORDS} records of {each}, {kind}: without a policy",
                            times, "with", "without", MOST_SHARE)

    def rows(self, kind):
        note(f"{kind}: pushing {RECORDS} records")
        yield self.pulls(kind, EACH, *self.prepare(kind, EACH))
        commands = self.prepare(kind, 1)
        yield self.pulls(kind, 1, *commands)
        plain, trusted = ([self.place.path("there-" + kind) if word is OUT else word
                           for word in command] for command in commands)
        run(trusted)
        times = bench.in_turns(self.place, {
            "with": Contestant(trusted), "without": Contestant(plain),
        }, self.rounds, makes_folder=False)
        ms = statistics.median(one - other for one, other in
                               zip(times["with"], times["without"])) / RECORDS
        yield Row(f"a signature, {kind}", f"{ms:.3f} ms", budget=f"≤ {MOST_MS} ms",
                  met=ms <= MOST_MS)
        yield Row(f"a signature, {kind}: OpenSSL alone, on one core",
                  f"{openssl_ms(KINDS[kind]):.3f} ms")


def openssl_ms(name):
    """What `openssl speed` says that a verification takes."""
    told = subprocess.run(["openssl", "speed", "-seconds", "1", name], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return 1000 / float(re.search(r"([0-9.]+)\s*$", told).group(1))


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
