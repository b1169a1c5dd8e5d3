#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Binds sizes and weights of products on a GPU, and compares with the same unbound.

    bound.py PROGRAM_DIR

Products, convolutions and a norm: Triton's (bound/kernels.py), and as one writes
them first in C (bound/plain.cl). Each is compiled unbound, (C by LLVM's
O3), unbound with --finalize, and bound; all must leave the same bytes behind. The time is that of a
launch in a graph of 100, the median of 50 graphs, in turns; that of a kernel that
does nothing is told, too. Needs Triton, ptxas, and
no PyTorch. The last line is `N passed, N failed`.
"""
import ctypes
import json
import math
import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
LAUNCHES = 100
GRAPHS = 50

# What struct calls each, and its size.
TYPES = {"i8": ("b", 1), "i32": ("i", 4), "f16": ("e", 2), "f32": ("f", 4)}


class Array:
    """Memory behind an argument: so many numbers, read or written."""

    def __init__(self, kind, *shape, is_bound=False, is_out=False):
        self.kind = kind
        self.shape = shape
        self.is_bound = is_bound
        self.is_out = is_out
        self.size = math.prod(shape)

    def fill(self, seed):
        numbers = random.Random(seed)
        letter, width = TYPES[self.kind]
        if self.is_out:
            return bytes(self.size * width)
        if self.kind == "i8":
            return numbers.randbytes(self.size)
        return struct.pack(f"<{self.size}{letter}", *(
            numbers.uniform(-1, 1) for _ in range(self.size)))

    def numbers(self, data):
        return struct.unpack(f"<{self.size}{TYPES[self.kind][0]}", data)


def weights(kind, *shape):
    return Array(kind, *shape, is_bound=True)


def result(kind, *shape):
    return Array(kind, *shape, is_out=True)


# name, kernel, arguments, grid; of Triton its signature's constants and options, too
def products():
    rows, columns = 512, 1024
    for kind, total in (("f32", "f32"), ("f16", "f32")):
        yield (f"Triton GEMV {kind}", "gemv",
               [weights(kind, rows, columns), Array(kind, columns),
                result(total, rows), rows, columns],
               (rows // 4, 1, 1), "4, 128", [])
    yield ("Triton GEMV int8", "gemv_int8",
           [weights("i8", rows, columns), Array("i8", columns),
            result("i32", rows), rows, columns], (rows // 4, 1, 1), "4, 128", [])
    yield ("Triton GEMV int8, by columns", "gemv_columns",
           [weights("i8", columns, rows), Array("i8", columns),
            result("i32", rows), rows, columns], (rows // 32, 1, 1), "32, 16", [])
    yield ("Triton GEMV, int8 weights", "linear",
           [weights("i8", rows, columns), weights("f32", rows),
            Array("f32", columns), result("f32", rows), rows, columns],
           (rows // 4, 1, 1), "4, 128", [])
    for m, n, k in (64, 256, 512), (1024, 1024, 512), (1024, 256, 4096):
        size = "" if m == 64 else f", {m} x {n} x {k}"
        for kind, total in (("f16", "f32"), ("i8", "i32")):
            for stages in ("1", "3"):
                yield (f"Triton matmul {kind}, {stages} stages{size}", "matmul",
                       [Array(kind, m, k), weights(kind, k, n),
                        result(total, m, n), m, n, k, k, None, n, None, n, None],
                       (m // 32 * n // 32, 1, 1), "32, 32, 32, 8",
                       ["--num-stages", stages])
    for kind, total, kernel, rows in (("f16", "f32", "gemv", 1024),
                                      ("i8", "i32", "gemv_int8", 2048)):
        yield (f"Triton GEMV {kind}, {rows} x {columns}", kernel,
               [weights(kind, rows, columns), Array(kind, columns),
                result(total, rows), rows, columns], (rows // 4, 1, 1), "4, 128", [])
    yield ("Triton layer norm", "norm",
           [Array("f32", 64, 1024), weights("f32", 1024), weights("f32", 1024),
            result("f32", 64, 1024), 1024, 1e-5], (64, 1, 1), "256", [])


def plain():
    rows, columns = 256, 256
    for kind, total, name in (("i8", "i32", "int8"), ("f32", "f32", "float")):
        for by in ("", "_columns"):
            shape = (columns, rows) if by else (rows, columns)
            yield (f"C GEMV {name}{by.replace('_', ', by ')}",
                   f"gemv_{name}{by}",
                   [weights(kind, *shape), Array(kind, columns),
                    result(total, rows), rows, columns], (rows // 64, 1, 1))
        yield (f"C matmul {name}", f"matmul_{name}",
               [weights(kind, rows, columns), Array(kind, 64, columns),
                result(total, 64, rows), rows, columns], (rows // 64, 64, 1))
        for size in (1, 3):
            channels, outs, width, height = 64, 32, 64, 16
            yield (f"C convolution {name} {size}x{size}", f"convolution_{name}",
                   [weights(kind, outs, size, size, channels),
                    Array(kind, height + size - 1, width + size - 1, channels),
                    result(total, height, width, outs), size, channels, outs,
                    width], (width // 64, height, outs))
            yield (f"C convolution {name} {size}x{size}, by columns",
                   f"convolution_{name}_columns",
                   [weights(kind, size, size, channels, outs),
                    Array(kind, height + size - 1, width + size - 1, channels),
                    result(total, height, width, outs), size, channels, outs,
                    width], (width // 64, height, outs))
        channels, width, height, size = 128, 32, 32, 3
        yield (f"C depthwise convolution {name} 3x3", f"depthwise_{name}",
               [weights(kind, size, size, channels),
                Array(kind, height + size - 1, width + size - 1, channels),
                result(total, height, width, channels), size, channels, width],
               (channels // 64, height, width))


class Driver:
    """CUDA's driver: each function fails with its name."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.cuInit(0)
        self.cuDeviceGet(ctypes.byref(device), 0)
        name = ctypes.create_string_buffer(256)
        self.cuDeviceGetName(name, 256, device)
        self.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        self.cuCtxSetCurrent(context)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
        self.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
        self.target = f"cuda:{10 * major.value + minor.value}"
        self.name = name.value.decode()
        self.stream = ctypes.c_void_p()
        self.cuStreamCreate(ctypes.byref(self.stream), 1)
        self.begin, self.end = ctypes.c_void_p(), ctypes.c_void_p()
        self.cuEventCreate(ctypes.byref(self.begin), 0)
        self.cuEventCreate(ctypes.byref(self.end), 0)

    def __getattr__(self, name):
        function = getattr(self.library, name)

        def call(*args):
            rc = function(*args)
            if rc != 0:
                raise RuntimeError(f"{name}: CUDA error {rc}")
        return call

    def to_device(self, data):
        at = ctypes.c_uint64()
        self.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(len(data)))
        self.cuMemcpyHtoD_v2(at, data, ctypes.c_size_t(len(data)))
        return at

    def from_device(self, at, size):
        data = ctypes.create_string_buffer(size)
        self.cuMemcpyDtoH_v2(data, at, ctypes.c_size_t(size))
        return data.raw


class Kernel:
    """A cubin with its arguments, ready to be launched."""

    def __init__(self, driver, cubin, name, grid, block, shared, arguments):
        self.driver, self.grid, self.block = driver, grid, block
        self.shared = shared
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.graph, self.ready = ctypes.c_void_p(), ctypes.c_void_p()
        driver.cuModuleLoadData(ctypes.byref(self.module), cubin)
        driver.cuModuleGetFunction(ctypes.byref(self.function), self.module,
                                   name.encode())
        # Triton's kernels have two more pointers, which these do not use.
        self.values = [*arguments, ctypes.c_uint64(), ctypes.c_uint64()]
        self.pointers = (ctypes.c_void_p * len(self.values))(
            *[ctypes.addressof(value) for value in self.values])

    def launch(self):
        self.driver.cuLaunchKernel(self.function, *self.grid, self.block, 1, 1,
                                   self.shared, self.driver.stream,
                                   self.pointers, None)

    def run(self):
        self.launch()
        self.driver.cuStreamSynchronize(self.driver.stream)

    def capture(self):
        self.driver.cuStreamBeginCapture_v2(self.driver.stream, 0)
        for _ in range(LAUNCHES):
            self.launch()
        self.driver.cuStreamEndCapture(self.driver.stream,
                                       ctypes.byref(self.graph))
        self.driver.cuGraphInstantiateWithFlags(ctypes.byref(self.ready),
                                                self.graph,
                                                ctypes.c_uint64(0))

    def time(self):
        """Microseconds of a launch."""
        driver, spent = self.driver, ctypes.c_float()
        driver.cuEventRecord(driver.begin, driver.stream)
        driver.cuGraphLaunch(self.ready, driver.stream)
        driver.cuEventRecord(driver.end, driver.stream)
        driver.cuEventSynchronize(driver.end)
        driver.cuEventElapsedTime(ctypes.byref(spent), driver.begin, driver.end)
        return spent.value * 1000 / LAUNCHES


class Proof:
    def __init__(self, program, driver, folder):
        self.program, self.driver, self.folder = program, driver, folder
        self.passed = self.failed = 0
        self.rows = []

    def check(self, what, is_right):
        self.passed += bool(is_right)
        self.failed += not is_right
        print(f"{'ok' if is_right else 'FAILED'}: {what}", flush=True)
        return is_right

    def compile(self, *args):
        done = subprocess.run([self.program, "compile", *args, "--target",
                               self.driver.target], capture_output=True,
                              text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or done.stdout.strip())

    def cubin(self, ir, *args):
        out = self.folder / "out.cubin"
        self.compile(str(ir), *args, "--emit", "cubin", "-o", str(out))
        return out.read_bytes()

    def triton(self, kernel, arguments, constants, options):
        """Triton's own entry: its IR, cubin and metadata."""
        words = []
        for value in arguments:
            if isinstance(value, Array):
                words.append(f"*{value.kind.replace('f', 'fp')}:16")
            else:
                words.append({None: "i32=1"}.get(
                    value, "fp32" if isinstance(value, float) else "i32:16"))
        root = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        self.compile(f"{HERE}/bound/kernels.py:{kernel}", "--python",
                     sys.executable, "--cache", str(root), "--signature",
                     ", ".join(words) + ", " + constants, *options)
        [metadata] = [path for path in root.glob(f"*/{kernel}.json")]
        said = json.loads(metadata.read_text())
        return (metadata.with_suffix(".llir"),
                metadata.with_suffix(".cubin").read_bytes(),
                32 * said["num_warps"], said["shared"])

    def bindings(self, arguments, arrays, grid):
        """Options for what is bound: weights, numbers and the grid."""
        out = []
        for name, blocks in zip("xyz", grid):
            out += ["--bind", f"nctaid.{name}={blocks}"]
        for at, (value, data) in enumerate(zip(arguments, arrays)):
            if isinstance(value, Array) and value.is_bound:
                path = self.folder / f"bound.{at}"
                path.write_bytes(data)
                shape = ",".join(map(str, value.shape))
                out += ["--bind", f"{at}=@{path}:{value.kind}[{shape}]"]
            elif not isinstance(value, Array):
                out += ["--bind", f"{at}={value}"]
        return out

    def measure(self, name, kernel, arguments, grid, constants=None, options=()):
        # Triton's IR lacks the arguments that are constants.
        is_triton = constants is not None
        block, shared, keep = 64, 0, ["--keep", kernel,
                                                "--name", kernel]
        ir = HERE / "bound/plain.ll"
        if is_triton:
            ir, unbound, block, shared = self.triton(kernel, arguments,
                                                     constants, options)
            keep = []
        arguments = [value for value in arguments if value is not None]
        arrays = [value.fill(at) if isinstance(value, Array) else None
                  for at, value in enumerate(arguments)]
        if not is_triton:
            unbound = self.cubin(ir, "--name", kernel, "--optimize")
        cubins = [("unbound", unbound),
                  ("finalized", self.cubin(ir, "--finalize", *keep)),
                  ("bound", self.cubin(ir, "--finalize", *keep,
                                       *self.bindings(arguments, arrays, grid)))]
        places = [self.driver.to_device(data) if data is not None else
                  ctypes.c_float(value) if isinstance(value, float) else
                  ctypes.c_int32(value)
                  for value, data in zip(arguments, arrays)]
        [out] = [at for at, value in enumerate(arguments)
                 if isinstance(value, Array) and value.is_out]
        kernels, results = [], []
        for what, cubin in cubins:
            left = [place for value, place in zip(arguments, places)
                    if what != "bound" or
                    (isinstance(value, Array) and not value.is_bound)]
            kernels.append(Kernel(self.driver, cubin, kernel, grid, block,
                                  shared, left))
            self.driver.cuMemsetD8_v2(places[out], 0x5A,
                                      ctypes.c_size_t(len(arrays[out])))
            kernels[-1].run()
            results.append(self.driver.from_device(
                places[out], len(arrays[out])))
        self.check(f"{name}: bound, it leaves the same bytes behind",
                   len(set(results)) == 1)
        self.check_right(name, kernel, arguments, arrays, results[0])
        times = [[] for _ in kernels]
        for one in kernels:
            one.capture()
            one.time()
        for _ in range(GRAPHS):
            for one, spent in zip(kernels, times):
                spent.append(one.time())
        medians = [statistics.median(spent) for spent in times]
        ratio = min(medians[:2]) / medians[2]
        self.rows.append((name, *[f"{median:.2f}" for median in medians],
                          f"{ratio:.2f}"))
        print(self.rows[-1], flush=True)

    def floor(self):
        """Microseconds of a launch of a kernel that does nothing."""
        source = self.folder / "nothing.ptx"
        source.write_text(f""".version 8.0
.target sm_{self.driver.target.removeprefix("cuda:")}
.address_size 64
.visible .entry nothing() {{ ret; }}
""")
        nothing = Kernel(self.driver, self.cubin(source), "nothing",
                         (64, 1, 1), 128, 0, [])
        nothing.capture()
        return statistics.median(nothing.time() for _ in range(GRAPHS))

    def check_right(self, name, kernel, arguments, arrays, got):
        """A product of a matrix and a vector is computed here, too."""
        if not kernel.startswith("gemv"):
            return
        w, x, y = (value.numbers(data) for value, data in
                   zip(arguments[:3], [*arrays[:2], got]))
        rows, columns = arguments[3:]
        step, first = (rows, 1) if "columns" in kernel else (1, columns)
        limit = 0 if isinstance(y[0], int) else 1e-3 * columns
        wrong = sum(abs(y[row] - sum(
            w[row * first + k * step] * x[k] for k in range(columns))) > limit
                    for row in range(rows))
        self.check(f"{name}: it is right", wrong == 0)


def main():
    if len(sys.argv) != 2:
        print(__doc__.split("\n\n")[1].strip(), file=sys.stderr)
        return 2
    program = pathlib.Path(sys.argv[1]).resolve()
    subprocess.run([HERE / "unpack.sh", program], check=True,
                   env={**os.environ, "PYTHON": sys.executable})
    driver = Driver()
    print(driver.name)
    with tempfile.TemporaryDirectory() as folder:
        proof = Proof(program / "tkbundle", driver, pathlib.Path(folder))
        for case in [*products(), *plain()]:
            try:
                proof.measure(*case)
            except RuntimeError as error:
                proof.check(f"{case[0]}: {error}", False)
        print(f"\na kernel that does nothing: {proof.floor():.2f} µs")
    print("\n| | unbound, µs | finalized | bound | times faster than the faster one |")
    print("|---|---|---|---|---|")
    for row in proof.rows:
        print("| " + " | ".join(row) + " |")
    print(f"{proof.passed} passed, {proof.failed} failed")
    return proof.failed != 0


if __name__ == "__main__":
    sys.exit(main())
