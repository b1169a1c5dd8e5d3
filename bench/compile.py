#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure compiling against the tools by themselves: xargs, llc, ptxas, nvcc.

As bench.py does: all in turns, the median of the ratios within a round.
README.md says what each row means.
"""

import argparse
import dataclasses
import glob
import json
import os
import shlex
import shutil
import statistics
import sys
import tarfile

import bench
from bench import OUT, Contestant, Failed, Place, Row, note, run

REPOSITORY = os.path.dirname(bench.HERE)
FIXTURES = ("triton-3.6.0-h100", "inductor-2.11-llama4-h100")
LLC_FLAGS = ("-mtriple=nvptx64-nvidia-cuda -O3 -mcpu=sm_90a -mattr=+ptx86 "
             "--nvptx-short-ptr --nvptx-mad-wide-opt -fp-contract=fast")
CUDA = """\
extern "C" __global__ void scale(float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= a;
}
"""

TRITON = """\
import triton
import triton.language as tl


@triton.jit
def shift(x, n, BY: tl.constexpr):
    at = tl.program_id(0) * 64 + tl.arange(0, 64)
    tl.store(x + at, tl.load(x + at, at < n) + BY, at < n)
"""
TRITON_KERNELS = 100
POOL_LIST = """
import json, sys, warmup_kernels as kernels
print(json.dumps([{"file": kernels.__file__, "kernel": name,
                   "signature": kernels.signatures(name)} for name in sys.argv[1:]]))
"""
POOL_KERNELS = ("add", "softmax", "norm", "product")


def shell(script):
    """A contestant: $1 is what it makes."""
    return Contestant(["sh", "-euc", script, "sh", OUT])


class CompileBench:
    def __init__(self, args, memory):
        self.program = args.program
        self.rounds = args.rounds
        self.memory = self.disk = memory
        self.llc = args.llc
        self.cuda = args.cuda
        self.python = args.python
        self.pool_python = args.pool_python
        self.pool_triton, self.pool_packages = args.pool_triton, args.pool_packages
        self.ptxas = os.path.join(args.cuda, "bin", "ptxas")
        self.rows = []
        self.inputs = []

    def add(self, row):
        self.rows.append(row)
        note(f"{row.what}: {row.ours}")

    def unpack(self):
        """Triton's IR of all fixtures, each with its metadata beside it."""
        for name in FIXTURES:
            path = os.path.join(REPOSITORY, "fixtures", f"{name}.tar.gz")
            with tarfile.open(path) as archive:
                archive.extractall(self.memory.path(name), filter="data")
        self.inputs = sorted(glob.glob(
            self.memory.path("*/**/*.llir"), recursive=True,
            include_hidden=True))
        with open(self.memory.path("list"), "w", encoding="utf-8") as file:
            file.writelines(f"{path}\0" for path in self.inputs)
        with open(self.memory.path("scale.cu"), "w", encoding="utf-8") as file:
            file.write(CUDA)
        self.write_step("ptx", 'llc_and "$2" "$1"/$$.ptx')
        self.write_step("cubin", 'llc_and "$2" "$1"/$$.ptx; '
                        f'{shlex.quote(self.ptxas)} -lineinfo -arch=sm_90a '
                        '"$1"/$$.ptx -o "$1"/$$.cubin')

    def write_step(self, name, body):
        with open(self.memory.path(name), "w", encoding="utf-8") as file:
            file.write(f'set -eu\nllc_and() {{ {shlex.quote(self.llc)} '
                       f'{LLC_FLAGS} "$1" -o "$2"; }}\n{body}\n')

    def compile(self, *more):
        return [self.program, "compile", *self.inputs, "--target", "cuda:90",
                *more]

    def plain(self, step, workers):
        return shell(f'mkdir "$1"; xargs -0 -n 1 -P {workers} sh '
                     f'{shlex.quote(self.memory.path(step))} "$1" '
                     f'<{shlex.quote(self.memory.path("list"))}')

    def within(self, what, times):
        ratio = bench.ratio_of(times["tkbundle"], times["plain"])
        self.add(Row(what, bench.ms_text(times["tkbundle"]),
                     bench.ms_text(times["plain"]), ratio, samples=times))

    def measure_all(self, workers):
        count = len(self.inputs)
        cubin = bench.in_turns(self.memory, {
            "tkbundle": Contestant(self.compile(
                "--cache", OUT, "-j", str(workers))),
            "plain": self.plain("cubin", workers),
        }, self.rounds, makes_folder=False)
        self.within(f"{count} kernels to cubins, -j {workers}: "
                    f"`xargs -P {workers}`, llc, ptxas", cubin)
        ptx = bench.in_turns(self.memory, {
            "tkbundle": shell(
                f"exec {shlex.join(self.compile('--emit', 'ptx'))} "
                f'-j {workers} -o "$1/"'),
            "plain": self.plain("ptx", workers),
        }, self.rounds, makes_folder=False)
        self.within(f"{count} kernels to PTX, -j {workers}: "
                    f"`xargs -P {workers}`, llc", ptx)
        shares = [100 * a / b for a, b in zip(ptx["tkbundle"],
                                              cubin["tkbundle"])]
        self.add(Row(f"LLVM's share of the time, -j {workers}",
                     f"{statistics.median(shares):.0f} %"))

    def measure_hits(self):
        root = self.memory.fresh()
        argv = self.compile("--cache", root)
        first = run(argv).ms
        again = [run(argv).ms for _ in range(3 * self.rounds)]
        self.add(Row(f"{len(self.inputs)} kernels again, all hits: "
                     "the first time", bench.ms_text(again),
                     bench.ms_text([first])))
        self.memory.settle()

    def measure_triton_hits(self):
        """The second time notes what the first has written; the third starts no Python."""
        with open(self.memory.path("shift.py"), "w", encoding="utf-8") as file:
            file.write(TRITON)
        with open(self.memory.path("shift.json"), "w", encoding="utf-8") as file:
            json.dump([{"file": self.memory.path("shift.py"), "kernel": "shift", "signature": [
                f"*fp32:16, i32, {by}" for by in range(TRITON_KERNELS)]}], file)
        argv = [self.program, "compile", self.memory.path("shift.json"), "--target", "cuda:90",
                "--cache", self.memory.fresh(), "--python", self.python]
        first = run(argv).ms
        started = run(argv).ms
        again = [run(argv).ms for _ in range(bench.SHORT_RUNS)]
        self.add(bench.at_most(
            f"{TRITON_KERNELS} Triton kernels again, all hits: the first time",
            statistics.median(again), 20, "ms", bench.ms_text([first]),
            {"first": [first], "with Python": [started], "again": again}))
        self.memory.settle()

    def pool_contestants(self, kernels, workers):
        """Each by itself, into an empty cache; kernels that do not compile cost no round."""
        here = shlex.quote(bench.HERE)
        env = (f"export PYTHONPATH={shlex.quote(self.pool_triton)}:{here}:"
               f'{shlex.quote(self.pool_packages)} HOME="$1" ')
        listed = self.memory.path("-".join(kernels) + ".json")
        with open(listed, "w", encoding="utf-8") as file:
            file.write(run(["sh", "-euc", env + '; shift; exec "$@"', "sh", "/tmp",
                            self.pool_python, "-B", "-c", POOL_LIST, *kernels]).output)
        ours = (f'{env}; {shlex.quote(self.program)} compile {shlex.quote(listed)} --target '
                f'cuda:90 --python {shlex.quote(self.pool_python)} --keep-going -j {workers} '
                '--cache "$1/made" >/dev/null 2>&1 || [ $? -eq 4 ]')
        theirs = (f'{env} TRITON_CACHE_DIR="$1/made"; {shlex.quote(self.pool_python)} -B '
                  f'{here}/warmup_pool.py {workers} {",".join(kernels)} '
                  '>/dev/null 2>&1 || [ $? -eq 1 ]')
        return {"tkbundle": shell('mkdir "$1"; ' + ours), "pool": shell('mkdir "$1"; ' + theirs)}

    def made_by(self, contestant):
        """How many kernels are there then."""
        out = self.memory.path("made-by")
        bench.run_once(contestant, out)
        count = len(glob.glob(os.path.join(out, "made", "*", "*.cubin")))
        bench.remove(out)
        return count

    def measure_pool(self, workers):
        contestants = self.pool_contestants(POOL_KERNELS, workers)
        counts = {name: self.made_by(one) for name, one in contestants.items()}
        times = bench.in_turns(self.memory, contestants, self.rounds, makes_folder=False)
        self.add(bench.faster(
            f"{counts['tkbundle']} Triton kernels, -j {workers}: Triton 3.9's warm-up pool, "
            f"which makes {counts['pool']}", times, "tkbundle", "pool"))
        contestants = self.pool_contestants(("broken", *POOL_KERNELS), workers)
        counts = {name: self.made_by(one) for name, one in contestants.items()}
        self.add(Row("the same and one that ends its compiler, kernels made",
                     str(counts["tkbundle"]), str(counts["pool"])))

    def measure_start(self):
        """A program, a worker and one job that compiles nothing."""
        ptx = self.memory.path("one.ptx")
        run([self.program, "compile", self.inputs[0], "--target", "cuda:90",
             "--emit", "ptx", "-o", ptx])
        argv = [self.program, "compile", ptx, "--target", "cuda:90", "-j", "1",
                "--emit", "ptx", "-o", self.memory.path("two.ptx")]
        bare = [self.program, "--version"]
        pairs = [(run(argv).ms, run(bare).ms) for _ in range(bench.SHORT_RUNS)]
        self.add(Row("start of a worker: `tkbundle --version`",
                     bench.ms_text([pair[0] for pair in pairs]),
                     bench.ms_text([pair[1] for pair in pairs])))

    def measure_cuda(self):
        source = self.memory.path("scale.cu")
        nvcc = os.path.join(self.cuda, "bin", "nvcc")
        times = bench.in_turns(self.memory, {
            "tkbundle": Contestant([
                self.program, "compile", source, "--target", "cuda:90",
                "--emit", "ptx", "-o", OUT]),
            "plain": Contestant([nvcc, "-arch=sm_90a", "-ptx", source, "-o",
                                 OUT]),
        }, self.rounds, makes_folder=False)
        self.within("a CUDA kernel to PTX, by NVRTC: nvcc", times)


def measure(bench_):
    bench_.unpack()
    for workers in (1, 2):
        bench_.measure_all(workers)
    bench_.measure_hits()
    if bench_.python:
        bench_.measure_triton_hits()
    else:
        note("hits of Triton kernels: not measured, for there is no Python with Triton")
    if bench_.pool_python:
        bench_.measure_pool(os.cpu_count())
    else:
        note("Triton's own warm-up pool: not measured; it needs --pool-python")
    bench_.measure_start()
    if shutil.which("c++"):
        bench_.measure_cuda()
    else:
        note("nvcc: not measured, for it needs a C++ compiler")


def machine(bench_, args):
    facts = bench.machine(bench_, args)
    del facts["disk"]
    facts["tools"] = ", ".join(bench.text_of(["sh", "-c", script]) for script in (
        f"{shlex.quote(bench_.llc)} --version | grep -o 'LLVM version.*'",
        f"{shlex.quote(bench_.ptxas)} --version | grep -o 'V[0-9][0-9.]*' "
        "| sed 's/^/ptxas /'"))
    return facts


def parse_arguments():
    release = os.path.join(REPOSITORY, "build", "release")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--program", default=os.path.join(release, "tkbundle"),
                        help="the tkbundle to measure (%(default)s)")
    parser.add_argument("--cuda", help="a toolkit; $CUDA_HOME, PyPI's in "
                        "build/venv, or /usr/local/cuda")
    parser.add_argument("--llc", default="/usr/lib/llvm-22/bin/llc",
                        help="LLVM's compiler (%(default)s)")
    parser.add_argument("--python", help="a Python with Triton; build/venv's")
    parser.add_argument("--pool-python", help="a Python with PyTorch, for Triton's pool")
    parser.add_argument("--pool-triton", default=os.path.join(
        REPOSITORY, "build", "venv", "triton-3.9.0"), help="the folder of Triton 3.9")
    parser.add_argument("--pool-packages", default=os.path.join(REPOSITORY, "build", "warmup"),
                        help="the folder of cloudpickle and pytest (%(default)s)")
    parser.add_argument("--tmpfs", default="/dev/shm",
                        help="a folder in memory (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", metavar="FILE",
                        help="write every round's figures there")
    args = parser.parse_args()
    args.program = os.path.abspath(args.program)
    args.disk = args.tmpfs
    venv = os.path.join(REPOSITORY, "build", "venv", "bin", "python3")
    args.python = args.python or (venv if os.path.exists(venv) else None)
    places = (args.cuda, os.environ.get("CUDA_HOME"),
              os.path.join(REPOSITORY, "build", "venv", "cuda"),
              "/usr/local/cuda")
    args.cuda = next((os.path.abspath(place) for place in places if place and
                      os.path.exists(os.path.join(place, "bin", "ptxas"))),
                     None)
    if not args.cuda:
        parser.error("there is no toolkit with ptxas")
    for tool in (args.program, args.llc):
        if not os.access(tool, os.X_OK):
            parser.error(f"there is no program '{tool}'")
    return args


def main():
    args = parse_arguments()
    bench.ENVIRONMENT.update(CUDA_HOME=args.cuda, TKBUNDLE_CONFIG="/dev/null")
    memory = Place("tmpfs", args.tmpfs)
    try:
        bench_ = CompileBench(args, memory)
        facts = machine(bench_, args)
        measure(bench_)
    except Failed as error:
        note(f"bench: {error}")
        return 1
    finally:
        memory.close()
    print("; ".join(facts.values()) + "\n")
    print(bench.table(bench_.rows))
    if args.json:
        rows = [dataclasses.asdict(row) for row in bench_.rows]
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"machine": facts, "rows": rows}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
