#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Grow a large Triton cache from the fixtures.

A cache of plain copies compresses to almost nothing and makes every figure a
lie.  So each copy of a real kernel differs from the others as variants of one
kernel do: 4 % of the numbers in its texts and 4 % of the bytes of its machine
code are changed, each to another of the same length.  It gets a key of its
own, and stays a whole entry: the metadata's hash encodes the key, the group
file names the files where they are, and the cubin is a valid one.

The same arguments give the same bytes.
"""

import argparse
import array
import base64
import hashlib
import json
import os
import random
import re
import struct
import sys
import tarfile

FIXTURES = ("triton-3.6.0-h100.tar.gz", "inductor-2.11-llama4-h100.tar.gz")
TEXTS = (".source", ".ttir", ".ttgir", ".llir", ".ptx")
CHANGED = 0.04

# Numbers in names are changed, too: registers and labels differ between variants.
# With them 1,000 entries compress to 5.8 % (tar | zstd -3 --long=27), without
# them to 3.8 %; a real cache of 271 kernels, to 7.0 %.
NUMBER = re.compile(rb"[0-9]+")

EM_CUDA = 190
SHT_SYMTAB = 2
SHT_NOBITS = 8
STT_FUNC = 2


def key_of(digest):
    """The name of an entry's folder, as Triton 3.3 and later write it."""
    return base64.b32encode(digest).decode().rstrip("=")


class Cubin:
    """The sections of an ELF64 file for CUDA; ValueError if it is not whole."""

    def __init__(self, data):
        self.data = data
        if len(data) < 64 or data[:5] != b"\x7fELF\x02":
            raise ValueError("not ELF64")
        self.abi = data[8]
        (machine,) = struct.unpack_from("<H", data, 18)
        if machine != EM_CUDA:
            raise ValueError(f"machine {machine} instead of {EM_CUDA}")
        (self.flags,) = struct.unpack_from("<I", data, 48)
        (table,) = struct.unpack_from("<Q", data, 40)
        size, count, names = struct.unpack_from("<HHH", data, 58)
        if size != 64 or table + size * count > len(data):
            raise ValueError("the section table is cut short")
        (segments,) = struct.unpack_from("<Q", data, 32)
        each, many = struct.unpack_from("<HH", data, 54)
        if segments + each * many > len(data):
            raise ValueError("the segment table is cut short")
        self.sections = [
            struct.unpack_from("<IIQQQQIIQQ", data, table + size * i)
            for i in range(count)
        ]
        for section in self.sections:
            if section[1] == SHT_NOBITS:
                continue
            if section[4] + section[5] > len(data):
                raise ValueError("a section ends after the file")
        self.names = self.sections[names][4]

    def string(self, at):
        return self.data[at:self.data.index(0, at)].decode()

    def code(self):
        """Where the machine code lies: (offset, size) of each section."""
        return [
            (s[4], s[5])
            for s in self.sections
            if self.string(self.names + s[0]).startswith(".text.")
        ]

    def functions(self):
        found = set()
        for s in self.sections:
            if s[1] != SHT_SYMTAB:
                continue
            strings = self.sections[s[6]][4]
            for at in range(s[4], s[4] + s[5], 24):
                name, info = struct.unpack_from("<IB", self.data, at)
                if info & 15 == STT_FUNC:
                    found.add(self.string(strings + name))
        return found

    def architecture(self):
        return self.flags >> 8 & 255 if self.abi >= 8 else self.flags & 255


class Text:
    """A text file and where its numbers are."""

    def __init__(self, data):
        self.data = data
        self.starts = array.array("I")
        self.sizes = array.array("I")
        for match in NUMBER.finditer(data):
            self.starts.append(match.start())
            self.sizes.append(match.end() - match.start())

    def vary(self, rng):
        data = bytearray(self.data)
        total = len(self.starts)
        for i in rng.sample(range(total), round(total * CHANGED)):
            start, size = self.starts[i], self.sizes[i]
            least = 10 ** (size - 1) if size > 1 else 0
            span = 10 ** size - least
            old = int(data[start:start + size])
            new = least + (old - least + rng.randrange(1, span)) % span
            data[start:start + size] = b"%d" % new
        return data


class Code:
    """A cubin and where its machine code is."""

    def __init__(self, data):
        self.data = data
        self.places = [
            range(offset, offset + size) for offset, size in Cubin(data).code()
        ]

    def vary(self, rng):
        data = bytearray(self.data)
        for places in self.places:
            for at in rng.sample(places, round(len(places) * CHANGED)):
                data[at] ^= rng.randrange(1, 256)
        return data


class Kernel:
    """One kernel entry of a fixture."""

    def __init__(self, group, files):
        self.group = group
        self.children = list(json.loads(files[group])["child_paths"])
        self.varied = {}
        for name in self.children:
            if name.endswith(TEXTS):
                self.varied[name] = Text(files[name])
            elif name.endswith(".cubin"):
                self.varied[name] = Code(files[name])
            elif name.endswith(".json"):
                self.metadata = name
                self.text = files[name]
                self.hash = json.loads(self.text)["hash"].encode()
            else:
                raise ValueError(f"'{name}' is no file of a CUDA kernel")

    def write(self, roots, seed, index):
        rng = random.Random(f"{seed} {index}")
        digest = hashlib.sha256(f"{seed} {index}".encode()).digest()
        new_hash = digest.hex().encode()
        files = {name: file.vary(rng) for name, file in self.varied.items()}
        files[self.metadata] = self.text.replace(self.hash, new_hash)
        for root in roots:
            folder = os.path.join(root, key_of(digest))
            paths = {name: os.path.join(folder, name) for name in self.children}
            os.mkdir(folder)
            # In the order of a compile: the group file publishes the entry.
            for name, path in paths.items():
                write_file(path, files[name])
            group = json.dumps({"child_paths": paths}).encode()
            write_file(os.path.join(folder, self.group), group)


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def write_file(path, data):
    with open(path, "wb") as file:
        file.write(data)


def kernels_of(archive):
    """The kernel entries in a fixture; modules and other files are left."""
    folders = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile():
                folder, name = os.path.split(member.name)
                data = tar.extractfile(member).read()
                folders.setdefault(folder, {})[name] = data
    for folder, files in sorted(folders.items()):
        for name in files:
            if name.startswith("__grp__"):
                yield Kernel(name, files)


def grow(out, count, seed, devices):
    fixtures = os.path.join(os.path.dirname(__file__), "..", "fixtures")
    kernels = []
    for name in FIXTURES:
        kernels += kernels_of(os.path.join(fixtures, name))
    roots = [out]
    if devices:
        roots = [os.path.join(out, "triton", str(i)) for i in range(devices)]
    for root in roots:
        os.makedirs(root)
    # In turn, so that variants of one kernel are no neighbours on disk: a
    # real cache does not hold them side by side either.
    for i in range(count):
        kernels[i % len(kernels)].write(roots, seed, i)


def check_entry(folder):
    """Raise ValueError unless tkbundle would take this kernel entry."""
    names = os.listdir(folder)
    groups = [name for name in names if name.startswith("__grp__")]
    if len(groups) != 1:
        raise ValueError(f"{len(groups)} group files")
    text = read_file(os.path.join(folder, groups[0]))
    children = json.loads(text)["child_paths"]
    expected = {name: os.path.join(folder, name) for name in children}
    if text != json.dumps({"child_paths": expected}).encode():
        raise ValueError("the group file names another place")
    if {*children, groups[0]} != {*names}:
        raise ValueError("the group file does not list what is there")

    stem = groups[0].removeprefix("__grp__").removesuffix(".json")
    metadata = json.loads(read_file(expected[stem + ".json"]))
    if key_of(bytes.fromhex(metadata["hash"])) != os.path.basename(folder):
        raise ValueError("the metadata's hash does not encode the key")
    cubin = Cubin(read_file(expected[stem + ".cubin"]))
    if cubin.architecture() != metadata["target"]["arch"]:
        raise ValueError(f"a cubin for sm_{cubin.architecture()}")
    if metadata["name"] not in cubin.functions():
        raise ValueError(f"the cubin has no function '{metadata['name']}'")


def check(out):
    """Check every entry; return how many there are and how many are bad."""
    roots = [out]
    layout = os.path.join(out, "triton")
    if os.path.isdir(layout):
        roots = [os.path.join(layout, name) for name in os.listdir(layout)]
    count = bad = 0
    for root in roots:
        for key in os.listdir(root):
            # Folders that begin with a dot are tools' own, not keys.
            if key.startswith("."):
                continue
            count += 1
            try:
                check_entry(os.path.join(root, key))
            except (OSError, KeyError, ValueError, struct.error) as error:
                bad += 1
                print(f"{root}/{key}: {error}", file=sys.stderr)
    return count, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", help="the cache root to make")
    parser.add_argument("count", nargs="?", type=int, help="kernel entries")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--devices",
        type=int,
        help="make Inductor's layout, with as many devices",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="check that every entry is whole; alone, of a cache that is there",
    )
    args = parser.parse_args()
    if args.count is None and not args.check:
        parser.error("say how many entries, or --check")
    out = os.path.abspath(args.out)
    if args.count is not None:
        grow(out, args.count, args.seed, args.devices)
    if args.check:
        count, bad = check(out)
        print(f"{count} entries, {bad} bad")
        return 1 if bad or not count else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
