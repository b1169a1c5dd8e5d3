#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs what `tkbundle launcher` writes.

usage: c_launcher.py PROGRAM SOURCES

A launcher of every kernel of the fixtures is C99, C++11 and C++17 without a
warning, for each compiler at hand, and programs start them with a driver that
only writes down what it is told (fake_cuda/). $TKB_VENV has a Triton, which
makes kernels that the fixtures have none of, and gives names to compare ours
with; without it that is skipped. Prints TAP.
"""
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]
DIALECTS = [("gcc", "c", "c99"), ("gcc", "c", "c17"), ("clang", "c", "c99"),
            ("g++", "c++", "c++11"), ("g++", "c++", "c++17"),
            ("clang++", "c++", "c++11"), ("clang++", "c++", "c++17")]


class Failed(Exception):
    """A check that does not hold."""


def run(*words, **options):
    done = subprocess.run(words, text=True, check=False, **{
        "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} | options)
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)}: exit {done.returncode}\n"
                     f"{done.stdout}")
    return done.stdout


def signature_of(folder, name):
    """A signature of the kernel there, out of Triton's IR or the PTX."""
    path = os.path.join(folder, name + ".ttir")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    # A long name is cut short in the file's.
    start = re.search(rf"tt\.func public @{name}\w*\(", text).end()
    types = {"f32": "fp32", "f16": "fp16", "bf16": "bf16", "f64": "fp64"}
    items = []
    for argument in re.split(r", (?=%)", text[start:text.index(") attrib")]):
        kind = re.match(r"%\w+: (?:!tt\.ptr<(\w+)(?:, \d)?>|(\w+))", argument)
        base = kind[1] or kind[2]
        items.append(("*" if kind[1] else "") + types.get(base, base) +
                     (":16" if "tt.divisibility = 16" in argument else ""))
    return ", ".join(items + ["1024"])


class Tests:
    def __init__(self, program, sources):
        self.program = os.path.realpath(program)
        self.sources = sources
        self.venv = os.environ.get("TKB_VENV", "")
        self.python = os.path.join(self.venv, "bin", "python3")
        self.has_triton = os.path.exists(self.python)
        self.count = self.failed = 0
        self.fakes = ["-I", os.path.join(HERE, "fake_cuda")]

    def report(self, is_good, sentence, why=""):
        self.count += 1
        self.failed += not is_good
        print(f"{'ok' if is_good else 'not ok'} {self.count} - {sentence}")
        for line in why.splitlines()[:60]:
            print(f"# {line}")

    def check(self, sentence, test):
        try:
            test()
        except (Failed, AssertionError) as fault:
            self.report(False, sentence, str(fault))
            return False
        self.report(True, sentence)
        return True

    def skip(self, sentence, why):
        self.report(True, f"{sentence} # SKIP {why}")

    def launcher(self, root, key, signature, output, *options):
        """Write a launcher; its function and its header."""
        said = run(self.program, "launcher", root, "--signature=" + signature,
                   "-o", output, *options, "--", key)
        header = re.fullmatch(r"wrote \S+ and (\S+)\n", said)[1]
        with open(header, encoding="utf-8") as file:
            function = re.search(r"^CUresult (\w+)\(CUstream", file.read(),
                                 re.M)[1]
        return function, header

    def link(self, output, *headers):
        run(self.program, "launcher", "--link", *headers, "-o", output)
        return output + ".h"

    def fixture(self, name):
        """The cache root of Triton's kernels in a fixture; None if it has none."""
        if not os.path.exists(name):
            path = os.path.join(self.sources, "fixtures", name + ".tar.gz")
            with tarfile.open(path) as archive:
                archive.extractall(name)
        roots = glob.glob(f"{name}/.triton/cache") + \
            glob.glob(f"{name}/.cache/torchinductor/triton/0")
        return roots[0] if roots else None

    def kernels(self, root):
        """Each kernel of a cache root: its key and name."""
        for path in sorted(glob.glob(f"{root}/*/*.cubin")):
            folder, name = os.path.split(path)
            yield os.path.basename(folder), name.removesuffix(".cubin")

    def write_all(self):
        """A launcher of each kernel of the fixtures."""
        os.mkdir("all")
        jobs = []
        for path in sorted(glob.glob(f"{self.sources}/fixtures/*.tar.gz")):
            name = os.path.basename(path).removesuffix(".tar.gz")
            root = self.fixture(name)
            for key, kernel in self.kernels(root) if root else ():
                signature = signature_of(f"{root}/{key}", kernel)
                jobs.append((root, key, signature, f"all/k{len(jobs)}"))
        assert len(jobs) > 60, len(jobs)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda job: self.launcher(*job), jobs))

    def compile_all(self, compiler, language, standard, *options):
        sources = sorted(glob.glob("all/*.c"))
        run(compiler, f"-std={standard}", *WARNINGS, *options,
            "-fsyntax-only", "-x", language, *sources)

    def dialects(self):
        for compiler, language, standard in DIALECTS:
            sentence = f"every launcher is strict {standard} for {compiler}"
            if shutil.which(compiler) is None:
                self.skip(sentence, "there is no such compiler")
                continue
            self.check(sentence, lambda: self.compile_all(
                compiler, language, standard, "-pedantic", *self.fakes))
        real = glob.glob(f"{self.venv}/lib/python3*/site-packages/triton/"
                         "backends/nvidia/include/cuda.h")
        sentence = "every launcher fits the cuda.h of CUDA"
        if not real:
            self.skip(sentence, "there is none")
            return
        self.check(sentence, lambda: self.compile_all(
            "gcc", "c", "c99", "-isystem", os.path.dirname(real[0])))

    def build(self, output, main, names, sources, *options):
        """A program of `main` and launchers; names are {macro: launcher}."""
        words = []
        for macro, (function, header) in names.items():
            if function:
                words.append(f"-D{macro}={function}")
            words.append(f'-D{macro}_HEADER="{header}"')
        fake = os.path.join(HERE, "fake_cuda", "fake.c")
        run("gcc", "-std=c11", "-D_GNU_SOURCE", "-g", "-O1", *WARNINGS,
            "-Wno-conversion", "-I.", *self.fakes,
            os.path.join(HERE, "c_launcher", main), fake,
            *(source[:-2] + ".c" for source in sources),
            "-o", output, *words, *options, "-pthread")

    def run_all(self, program, *arguments):
        """Report each test of a program, which tells them itself."""
        done = subprocess.run([f"./{program}", *arguments], text=True,
                              check=False, stdout=subprocess.PIPE)
        notes = []
        for line in done.stdout.splitlines():
            word, _, test = line.partition(" ")
            if line.startswith("not ok"):
                test = test.removeprefix("ok ")
            if line.startswith("#"):
                notes.append(line[2:])
                continue
            sentence = f"{program}: {test.replace('_', ' ')}"
            self.report(word == "ok", sentence, "\n".join(notes))
            notes = []
        if done.returncode not in (0, 1):
            self.report(False, f"{program} ends", f"by {done.returncode}")

    def forge(self, root, key, name, **members):
        """A cache with one entry, whose metadata says something else."""
        forged = tempfile.mkdtemp(dir=".")
        shutil.copytree(f"{root}/{key}", f"{forged}/{key}")
        path = f"{forged}/{key}/{name}.json"
        with open(path, encoding="utf-8") as file:
            metadata = json.load(file)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(metadata | members, file)
        return forged

    def key_of(self, root, start):
        return os.path.basename(glob.glob(f"{root}/{start}*")[0])

    def core(self, output="core", *options):
        root = self.fixture("triton-3.6.0-h100")
        add = self.key_of(root, "WEOK")
        matmul = self.key_of(root, "D3PP")
        add_type = "*fp32:16, *fp32:16, *fp32:16, i32, 256"
        matmul_type = ", ".join(["*fp16:16"] * 3 + ["i32:16"] * 6)
        matmul_type += ", 64, 128, 64"
        scratch = self.forge(root, add, "add_kernel", global_scratch_size=384,
                             global_scratch_align=128, profile_scratch_size=64)
        wide = self.forge(root, add, "add_kernel", num_ctas=16,
                          cluster_dims=[4, 2, 2])
        bound = self.forge(root, add, "add_kernel", num_ctas=4,
                           cluster_dims=[2, 2, 1],
                           tkbundle_bound={"nctaid.x": "0x10", "n": "7",
                                           "nctaid.y": "2"})
        names = {
            "ADD": self.launcher(root, add, add_type, "a",
                                 "--grid=(n + 255) / 256, 1, 1"),
            "ADD_FREE": self.launcher(root, add, add_type, "f",
                                      "--out-name=free_add"),
            "MATMUL": self.launcher(root, matmul, matmul_type, "m",
                                    "--grid", "M / 64, N/128, 1"),
            "SCRATCH": self.launcher(scratch, add, add_type, "s",
                                     "--out-name=scratch_add", "--grid",
                                     "(n+255)/256,1,1"),
            "DIVIDED": self.launcher(root, matmul, matmul_type, "d",
                                     "--out-name=divided", "--grid",
                                     "(M+N- 1)/N, M%K ,sam/scm"),
            "WIDE": self.launcher(wide, add, add_type, "w",
                                  "--out-name=wide"),
            "BOUND": self.launcher(bound, add, add_type, "b",
                                   "--out-name=bound"),
        }
        self.build(output, "core.c", names,
                   [header for _, header in names.values()], *options)
        self.cubin = f"{root}/{add}/add_kernel.cubin"

    def add_variants(self):
        root = self.fixture("triton-3.6.0-h100")
        pointers = "*fp32:16, *fp32:16, *fp32:16, "
        return [self.launcher(root, self.key_of(root, start), pointers + rest,
                              "v", "--grid", grid)[1]
                for start, rest, grid in [
                    ("WEOK", "i32, 256", "(n + 255) / 256, 1, 1"),
                    ("SF67", "i32:16, 1024", "(n + 1023) / 1024, 1, 1"),
                    ("KRJX", "i32:16, 256", "(n + 255) / 256, 1, 1")]]

    def linked(self):
        headers = self.add_variants()
        names = {"LINKED": (None, self.link("linked_add", *headers))}
        self.build("linked", "linked.c", names, [*headers, "linked_add.h"])

    def link_dialects(self):
        for compiler, language, standard in DIALECTS:
            if shutil.which(compiler) is not None:
                run(compiler, f"-std={standard}", *WARNINGS, "-pedantic",
                    *self.fakes, "-fsyntax-only", "-x", language,
                    "linked_add.c")

    def made(self):
        said = run(self.python, os.path.join(HERE, "c_launcher", "kernels.py"),
                   os.path.abspath("made_cache"), stderr=None)
        kernels = [line.split("|") for line in said.splitlines()]
        uses = {use: kernel for use, *kernel in kernels}
        fills = [self.launcher("made_cache", *kernel, "fill")
                 for use, *kernel in kernels
                 if use not in ("scalars", "nothing")]
        linked = [use for use, *_ in kernels].count("linked")
        names = {
            "SCALARS": self.launcher("made_cache", *uses["scalars"],
                                     "scalars"),
            "NOTHING": self.launcher("made_cache", uses["nothing"][0], "5",
                                     "nothing"),
            "CLUSTERED": fills[linked],
            "LINKED": (None, self.link("all_fill", *(header for _, header in
                                                     fills[:linked]))),
        }
        self.build("made", "made.c", names,
                   [names["SCALARS"][1], names["NOTHING"][1], "all_fill.h",
                    *(header for _, header in fills)])

    def made_dialects(self):
        sources = [path for path in glob.glob("*.c")
                   if path.startswith(("scalars", "nothing", "fill", "all"))]
        for compiler, language, standard in DIALECTS:
            if shutil.which(compiler) is not None:
                run(compiler, f"-std={standard}", *WARNINGS, "-pedantic",
                    *self.fakes, "-fsyntax-only", "-x", language, *sources)

    def packing(self):
        """Numbers of 16 bits, as Python and Triton pack them."""
        numbers = [0.0, -0.0, 1.0, -1.5, float("inf"), float("-inf"),
                   float("nan"), 65504.0, 65519.9, 65520.0, -65520.0, 2.0**-24,
                   2.0**-25, 1.0001 * 2.0**-25, 2.0**-26, 5e-324, 1e-310,
                   6.097e-05, 6.104e-05, 2.0**-14, 1023.5 * 2.0**-24,
                   1e300, -1e300, 2049.0, 2051.0, 2047.5]
        source = random.Random(5)
        numbers += [struct.unpack("<e", struct.pack("<H", bits))[0]
                    for bits in range(0, 65536, 37)]
        numbers += [source.uniform(-2, 2) * 2.0 ** source.randint(-30, 17)
                    for _ in range(4000)]
        # Exactly between two.
        numbers += [(2 * source.randint(0, 2047) + 1) *
                    2.0 ** source.randint(-25, 4) for _ in range(1000)]
        said = run("./made", "pack", input="".join(
            number.hex() + "\n" for number in numbers)).splitlines()
        assert len(said) == len(numbers)
        for number, line in zip(numbers, said):
            half, brain = line.split()
            try:
                wanted = struct.pack("<e", number)[::-1].hex()
            except OverflowError:
                wanted = "-"
            if number != number:
                wanted = "7e00"
            assert half == wanted, (number, half, wanted)
            if half == "-":
                continue
            wanted = struct.pack("<f", number)[:1:-1].hex()
            assert brain == wanted or number != number, (number, brain)

    def names(self):
        """The names and lines that Triton's own tools have."""
        script = os.path.join(HERE, "c_launcher", "names.py")
        headers = self.add_variants()
        run(self.python, script, *headers)

    def threads(self):
        self.core("core_threads", "-fsanitize=thread")
        said = run("./core_threads", self.cubin)
        assert "not ok" not in said, said

    def memory(self):
        self.core("core_memory", "-fsanitize=address,undefined",
                  "-fno-sanitize-recover=all")
        said = run("./core_memory", self.cubin)
        assert "not ok" not in said, said

    def all(self):
        self.check("every kernel of the fixtures has a launcher",
                   self.write_all)
        self.dialects()
        if self.check("launchers are built", self.core):
            self.run_all("core", self.cubin)
        self.check("launchers are clean under thread sanitizer", self.threads)
        self.check("launchers are clean under address sanitizer", self.memory)
        if self.check("launchers are linked", self.linked):
            self.run_all("linked")
        self.check("what is linked is strict C and C++", self.link_dialects)
        if not self.has_triton:
            self.skip("kernels of Triton's", "there is no Triton")
            return
        if not self.check("kernels of Triton's have launchers", self.made):
            return
        self.run_all("made")
        self.check("those are strict C and C++", self.made_dialects)
        self.check("numbers of 16 bits are packed as Triton packs them",
                   self.packing)
        self.check("names are those of Triton's own tools", self.names)


def main():
    tests = Tests(sys.argv[1], os.path.realpath(sys.argv[2]))
    with tempfile.TemporaryDirectory(prefix="tkbundle-launcher.") as folder:
        os.chdir(folder)
        tests.all()
        os.chdir("/")
    print(f"1..{tests.count}")
    sys.exit(tests.failed > 0)


main()
