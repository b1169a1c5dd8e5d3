#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure collect and emit of a whole folder of Inductor against tar.

As bench.py does: all in turns, the median of the ratios within a round.
README.md says what each row means.
"""

import argparse
import base64
import hashlib
import os
import random
import sys
import tarfile

import bench
import grow
from bench import OUT, Contestant, Failed, Place, note, run

FIXTURE = os.path.join(bench.HERE, "..", "fixtures", "vllm-0.24-small-h200.tar.gz")
PACKED = "/inductor_cache/"
GRAPHS = ("fxgraph", "aotautograd")
GPU = "TKBUNDLE_GPU=NVIDIA H200,580"  # tuned units are for one GPU, and are packed
FILES_OF_A_KERNEL = 8
# Files, and how many kernels have some of them. The first is the folder that a
# 4-layer Llama leaves behind with max-autotune; the second holds no kernel at all.
SHAPES = {"max-autotune, 2,307 files": (2307, 229),
          "10,000 files": (10000, 0)}


def name_of(digest, length):
    """As Inductor names files: base32 in small letters."""
    return base64.b32encode(digest).decode().lower()[:length]


class Tree:
    """Inductor's files in the fixture that belong to no kernel: variants may be made of
    each."""

    def __init__(self):
        self.files = []
        with tarfile.open(FIXTURE) as tar:
            for member in tar:
                _, is_in, path = member.name.partition(PACKED)
                if is_in and member.isfile() and not path.startswith("triton/"):
                    self.files.append((path, grow.Text(tar.extractfile(member).read())))

    def write(self, root, index):
        path, text = self.files[index % len(self.files)]
        digest = hashlib.sha256(f"tree {index}".encode()).digest()
        name, suffix = os.path.splitext(os.path.basename(path))
        kind = path.split("/", 1)[0]
        if kind in GRAPHS:
            key = "f" + name_of(digest, 51)
            above = [key[1:3], key] if kind == "fxgraph" else [key]
            where = [kind, *above, name_of(digest[::-1], 51)]
        else:
            new = digest.hex() if suffix == ".best_config" else "c" + name_of(digest, 51)
            where = [new[1:3], new[:len(name)] + suffix]
        out = os.path.join(root, *where)
        os.makedirs(os.path.dirname(out), exist_ok=True)
        grow.write_file(out, text.vary(random.Random(index)))


def grow_tree(root, files, kernels):
    if kernels:
        grow.grow(root, kernels, 1, 1)
    tree = Tree()
    for index in range(files - kernels * FILES_OF_A_KERNEL):
        tree.write(root, index)


def files_below(root):
    """The contents of each file in a folder, without the folder's own path."""
    found = {}
    for folder, folders, names in os.walk(root):
        if ".tkbundle" in folders:
            folders.remove(".tkbundle")
        for name in names:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, root)] = grow.read_file(path).replace(
                root.encode(), b"")
    return found


class TreeBench:
    def __init__(self, args, memory, disk):
        self.program = args.program
        self.rounds = args.rounds
        self.memory = memory
        self.disk = disk
        self.rows = []

    def add(self, row):
        self.rows.append(row)
        note(f"{row.what}: {row.ours}, {row.ratio:.2f}×")

    def ours(self, folder, *argv):
        """Kernels lie below Inductor's folder, as the profile of torch says."""
        return Contestant(["env", "-u", "TRITON_CACHE_DIR", GPU, "sh", "-c",
                           'TORCHINDUCTOR_CACHE_DIR="$1" && export TORCHINDUCTOR_CACHE_DIR'
                           ' && shift && exec "$@"', "sh", folder, self.program, *argv])

    def prepare(self, name, files, kernels):
        note(f"{name}: growing and packing")
        tree, bundle, tar = (self.memory.path(f"{kind}{files}")
                             for kind in ("tree", "bundle", "tar"))
        grow_tree(tree, files, kernels)
        run(self.ours(tree, "collect", "--engine", "torch", "-o", bundle).argv)
        run(["tar", "-I", "zstd -T2 -3", "-cf", tar, "-C", tree, "."])
        out = self.memory.path("check")
        run(self.ours(out, "emit", bundle, "--engine", "torch").argv)
        if files_below(out) != files_below(tree):
            raise Failed(f"{name}: what was emitted differs")
        bench.remove(out)
        for path in (tree, bundle, tar):
            run(["cp", "-r", path, self.disk.folder])
        os.sync()

    def measure(self, name, files, kernels):
        self.prepare(name, files, kernels)
        for place in (self.memory, self.disk):
            tree, bundle, tar = (place.path(f"{kind}{files}")
                                 for kind in ("tree", "bundle", "tar"))
            times = bench.in_turns(place, {
                "tkbundle": self.ours(tree, "collect", "--engine", "torch", "-o", OUT),
                "tar": Contestant(["tar", "-I", "zstd -T2 -3", "-cf", OUT, "-C", tree, "."]),
            }, self.rounds, makes_folder=False)
            self.add(bench.faster(f'collect, {name}, {place.name}: `tar -I "zstd -T2 -3"`',
                                  times, "tkbundle", "tar"))
            times = bench.in_turns(place, {
                "tkbundle": self.ours(OUT, "emit", bundle, "--engine", "torch"),
                "tar": Contestant(["tar", "--zstd", "-xf", tar, "-C", OUT]),
                "cp": Contestant(["cp", "-r", tree + "/.", OUT]),
            }, self.rounds, makes_folder=True)
            self.add(bench.faster(f"emit, {name}, {place.name}: `tar --zstd -x`", times,
                                  "tkbundle", "tar", 1.5 if place is self.memory else 1.2))
            self.add(bench.faster(f"emit, {name}, {place.name}: `cp -r`", times,
                                  "tkbundle", "cp"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--program", default=os.path.join(
        bench.HERE, "..", "build", "release", "tkbundle"),
        help="the tkbundle to measure (%(default)s)")
    parser.add_argument("--tmpfs", default="/dev/shm", help="a folder in memory (%(default)s)")
    parser.add_argument("--disk", default=os.environ.get("TMPDIR", "/var/tmp"),
                        help="a folder on a disk (%(default)s)")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    args.program = os.path.abspath(args.program)
    bench.ENVIRONMENT.update(TKBUNDLE_CONFIG="/dev/null")
    memory, disk = Place("tmpfs", args.tmpfs), Place("disk", args.disk)
    trees = TreeBench(args, memory, disk)
    try:
        for name, shape in SHAPES.items():
            trees.measure(name, *shape)
    except Failed as error:
        note(f"bench: {error}")
        return 1
    finally:
        memory.close()
        disk.close()
    print(bench.table(trees.rows))
    return 0


sys.exit(main())
