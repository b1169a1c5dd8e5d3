#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare our cubins of the fixtures' kernels with those that Triton made.

    bench/registers.py --program build/release/tkbundle

For each kernel three cubins are looked at: Triton's own, as it lies in the
fixture; Triton's PTX, assembled by our ptxas; and ours, of Triton's LLVM IR.
The second shows the effect of the assembler's version, the third that of the
compiler's. All figures are read from the files.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import glob
import json
import os
import re
import struct
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(HERE)
WHEEL = "build/venv/lib/python3*/site-packages/triton/backends/nvidia/bin"

# Not code: what debuggers, profilers and people read.
NOISE = re.compile(r"\s*(\.loc\b|\.file\b|\.version\b|\.target\b|"
                   r"\$L__(tmp|func)|$)")
REGISTER = re.compile(r"%(?:rd|rs|rq|r|fd|f|p|hh|h|b)\d+\b")
OPCODE = re.compile(r"(?:@!?%p\d+ )?([a-z][a-z0-9_.:]*)")
MACHINE_CODE = re.compile(
    r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9]*)([^;]*);")


@dataclasses.dataclass
class Cubin:
    registers: int = 0
    stack: int = 0
    shared: int = 0
    local: int = 0
    code_size: int = 0
    ptxas: str = ""
    code: tuple = ()  # its instructions, as nvdisasm writes them
    counts: collections.Counter = None  # of them, by mnemonic

    def spills(self):
        return self.counts["STL"] + self.counts["LDL"]


@dataclasses.dataclass
class Kernel:
    fixture: str
    name: str
    theirs: Cubin = None
    again: Cubin = None  # of their PTX
    ours: Cubin = None
    ptx: str = ""  # how the two texts compare
    ptx_change: collections.Counter = None  # ours less theirs
    failure: str = ""


def run(*command):
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip()
        raise RuntimeError(f"{os.path.basename(command[0])}: {words}")
    return done.stdout.decode(errors="replace")


def sections(elf):
    """The names and sizes of an ELF file's sections."""
    start, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    table = [struct.unpack_from("<IIQQQQ", elf, start + i * size)
             for i in range(count)]
    text = table[names][4]
    for name, _, _, _, _, length in table:
        end = elf.index(b"\0", text + name)
        yield elf[text + name:end].decode(), length


def read_cubin(path, tools):
    cubin = Cubin()
    usage = run(os.path.join(tools, "cuobjdump"), "-res-usage", path)
    for word, number in re.findall(r"\b([A-Z]+):(\d+)", usage):
        field = {"REG": "registers", "STACK": "stack", "SHARED": "shared",
                 "LOCAL": "local"}.get(word)
        if field:
            setattr(cubin, field, int(number))
    with open(path, "rb") as file:
        elf = file.read()
    cubin.code_size = sum(size for name, size in sections(elf)
                          if name.startswith(".text."))
    version = re.search(rb"release [\d.]+, V([\d.]+)", elf)
    cubin.ptxas = version.group(1).decode() if version else "not told"
    listing = run(os.path.join(tools, "nvdisasm"), "-c", path)
    found = MACHINE_CODE.findall(listing)
    # The last branch goes to itself; only padding follows.
    cubin.code = tuple(name + rest.rstrip() for name, rest in found)
    cubin.counts = collections.Counter(name for name, _ in found
                                       if name != "NOP")
    return cubin


def code_of(ptx):
    """The lines of a PTX text that are code."""
    is_debug = False
    for line in ptx.split("\n"):
        line = line.split("//")[0].rstrip()
        if re.match(r"\s*\.section\s+\.debug", line):
            is_debug = True
        if is_debug:
            is_debug = line.strip() != "}"
        elif not NOISE.match(line):
            yield re.sub(r"\s+", " ", line.strip())


def rename(lines):
    """With registers numbered in the order in which they are met."""
    names = {}
    for line in lines:
        if not line.startswith(".reg"):
            yield REGISTER.sub(
                lambda word: names.setdefault(word.group(), f"%{len(names)}"),
                line)


def opcodes(lines):
    return collections.Counter(
        match.group(1) for match in map(OPCODE.match, lines)
        if match and not match.group(1).endswith(":"))


def compare_ptx(ours, theirs):
    """How they compare, and how often which instruction is more or less."""
    if ours == theirs:
        return "same bytes", collections.Counter()
    a, b = list(code_of(ours)), list(code_of(theirs))
    change = opcodes(a)
    change.subtract(opcodes(b))
    change = collections.Counter({k: v for k, v in change.items() if v})
    if a == b:
        return "same code", change
    if list(rename(a)) == list(rename(b)):
        return "same but for registers' names", change
    if not change:
        return "same instructions, another order or operands", change
    return "other instructions", change


def compare_code(ours, theirs):
    if ours.code == theirs.code:
        return "same code"
    if ours.counts == theirs.counts:
        return "same instructions, another order or registers"
    return "other instructions"


class Comparison:
    def __init__(self, args, folder):
        self.args = args
        self.folder = folder

    def compile(self, path, target, emit):
        out = os.path.join(self.folder, f"{abs(hash(path))}-ours.{emit}")
        run(self.args.program, "compile", path, "--target", target,
            "--ptxas", self.args.ptxas, "--emit", emit, "-o", out)
        return out

    def assemble(self, ptx, version, target):
        """Triton's PTX, with its version changed to `version`, which our ptxas
        accepts."""
        with open(ptx, encoding="utf-8") as file:
            text = re.sub(r"\.version \S+", version, file.read(), count=1)
        ptx = os.path.join(self.folder, f"{abs(hash(ptx))}.ptx")
        with open(ptx, "w", encoding="utf-8") as file:
            file.write(text)
        out = f"{ptx}.again"
        number = target.split(":")[1]
        suffix = "a" if int(number) >= 90 else ""
        run(self.args.ptxas, "-lineinfo", "-v",
            f"--gpu-name=sm_{number}{suffix}", ptx, "-o", out)
        return out

    def look(self, fixture, llir):
        stem = llir[:-len(".llir")]
        kernel = Kernel(fixture, os.path.basename(stem))
        with open(stem + ".json", encoding="utf-8") as file:
            target = json.load(file)["target"]
        if isinstance(target, list):
            target = {"backend": target[0], "arch": target[1]}
        target = f"{target['backend']}:{target['arch']}"
        try:
            with open(self.compile(llir, target, "ptx"),
                      encoding="utf-8") as file:
                ours = file.read()
            with open(stem + ".ptx", encoding="utf-8") as file:
                theirs = file.read()
            kernel.ptx, kernel.ptx_change = compare_ptx(ours, theirs)
            version = re.search(r"\.version \S+", ours).group()
            tools = self.args.tools
            kernel.ours = read_cubin(self.compile(llir, target, "cubin"),
                                     tools)
            kernel.theirs = read_cubin(stem + ".cubin", tools)
            kernel.again = read_cubin(self.assemble(
                stem + ".ptx", version, target), tools)
        except (RuntimeError, OSError) as error:
            kernel.failure = str(error).split("\n", maxsplit=1)[0]
        return kernel

    def all(self):
        found = []
        for archive in self.args.fixtures:
            name = os.path.basename(archive)[:-len(".tar.gz")]
            folder = os.path.join(self.folder, name)
            with tarfile.open(archive) as tar:
                tar.extractall(folder, filter="data")
            found += [(name, path) for path in sorted(glob.glob(
                f"{glob.escape(folder)}/**/*.llir", recursive=True,
                include_hidden=True))]
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            return list(pool.map(lambda pair: self.look(*pair), found))


def signed(change, limit):
    """The largest of them: "+3 mad.wide, -3 mul.wide"."""
    items = sorted(change.items(), key=lambda item: (-abs(item[1]), item[0]))
    text = ", ".join(f"{n:+d} {name}" for name, n in items[:limit] if n)
    return text + (", ..." if len(items) > limit else "")


def change_of(ours, theirs):
    change = collections.Counter(ours.counts)
    change.subtract(theirs.counts)
    return {name: n for name, n in change.items() if n}


def numbers(theirs, ours, field):
    a = theirs.spills() if field == "spills" else getattr(theirs, field)
    b = ours.spills() if field == "spills" else getattr(ours, field)
    return str(b) if a == b else f"{a} to {b}"


def print_kernels(kernels):
    print("| kernel | PTX | machine code | registers | spills | shared "
          "| code |")
    print("|---|---|---|---|---|---|---|")
    for one in kernels:
        row = [numbers(one.again, one.ours, field) for field in
               ("registers", "spills", "shared", "code_size")]
        print(f"| {one.fixture}: {one.name[:40]} | {one.ptx} | "
              f"{compare_code(one.ours, one.again)} | " + " | ".join(row) +
              " |")


def print_differences(kernels):
    groups = collections.defaultdict(list)
    for one in kernels:
        if compare_code(one.ours, one.again) != "same code":
            groups[one.fixture, one.ptx].append(one)
    for (fixture, ptx), members in sorted(groups.items()):
        print(f"\n{fixture}, PTX: {ptx}: {len(members)} kernels")
        for one in members:
            machine = change_of(one.ours, one.again)
            print(f"  {one.name[:40]}")
            if one.ptx_change:
                print(f"    PTX  {signed(one.ptx_change, 8)}")
            print(f"    code {signed(machine, 8) or 'another order'}")


def ratio(kernels, field):
    theirs = sum(getattr(one.again, field) for one in kernels)
    ours = sum(getattr(one.ours, field) for one in kernels)
    return f"{ours / theirs:.3f}" if theirs else "-"


def print_summary(kernels):
    print("\n| fixture | kernels | ptxas of it | same PTX code | same machine "
          "code | fewer, as many, more registers | spills | registers | "
          "code |")
    print("|---|---|---|---|---|---|---|---|---|")
    fixtures = collections.defaultdict(list)
    for one in kernels:
        fixtures[one.fixture].append(one)
    for name, members in sorted(fixtures.items()):
        count = collections.Counter(
            (one.ours.registers > one.again.registers) -
            (one.ours.registers < one.again.registers) for one in members)
        same_ptx = sum(one.ptx in ("same bytes", "same code")
                       for one in members)
        same_code = sum(compare_code(one.ours, one.again) == "same code"
                        for one in members)
        spills = sum(one.ours.spills() - one.again.spills()
                     for one in members)
        print(f"| {name} | {len(members)} | "
              f"{', '.join(sorted({one.theirs.ptxas for one in members}))} | "
              f"{same_ptx} | {same_code} | "
              f"{count[-1]}, {count[0]}, {count[1]} | {spills:+d} | "
              f"{ratio(members, 'registers')} | "
              f"{ratio(members, 'code_size')} |")


def print_assembler(kernels):
    """What is not ours: the assembler's version, of the same PTX."""
    count = collections.Counter()
    for one in kernels:
        same = compare_code(one.again, one.theirs)
        count[one.theirs.ptxas, one.again.ptxas, same] += 1
    print("\nTriton's PTX assembled again:")
    for (theirs, ours, same), number in sorted(count.items()):
        print(f"  ptxas {theirs}, now {ours}: {number} {same}")


def as_json(one):
    def cubin(it):
        return {"registers": it.registers, "stack": it.stack,
                "shared": it.shared, "local": it.local,
                "spills": it.spills(), "code_size": it.code_size,
                "ptxas": it.ptxas, "instructions": dict(it.counts)}

    return {"fixture": one.fixture, "kernel": one.name, "ptx": one.ptx,
            "ptx_change": dict(one.ptx_change),
            "code": compare_code(one.ours, one.again),
            "triton": cubin(one.theirs), "triton_again": cubin(one.again),
            "ours": cubin(one.ours)}


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n",
                                                               maxsplit=1)[0])
    parser.add_argument("--program", default=os.path.join(
        REPOSITORY, "build/release/tkbundle"))
    wheel = glob.glob(os.path.join(REPOSITORY, WHEEL)) or [""]
    parser.add_argument("--ptxas", default=os.path.join(wheel[0], "ptxas"))
    parser.add_argument("--tools", default=wheel[0], help="the folder of "
                        "nvdisasm and cuobjdump; default: that of Triton")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--all", action="store_true",
                        help="a row for each kernel")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("fixtures", nargs="*", metavar="ARCHIVE")
    args = parser.parse_args()
    args.fixtures = args.fixtures or sorted(glob.glob(os.path.join(
        REPOSITORY, "fixtures", "*.tar.gz")))
    return args


def main():
    args = parse()
    with tempfile.TemporaryDirectory() as folder:
        kernels = Comparison(args, folder).all()
    failed = [one for one in kernels if one.failure]
    kernels = [one for one in kernels if not one.failure]
    if args.all:
        print_kernels(kernels)
    print_summary(kernels)
    print_assembler(kernels)
    print_differences(kernels)
    for one in failed:
        print(f"{one.fixture}: {one.name}: {one.failure}", file=sys.stderr)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump([as_json(one) for one in kernels], file, indent=1)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
