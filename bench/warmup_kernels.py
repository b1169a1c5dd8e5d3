# SPDX-License-Identifier: Apache-2.0
"""The kernels of the comparison with Triton's own warm-up pool (compile.py)."""
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, SIZE: tl.constexpr):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask) + tl.load(y + at, mask), mask)


@triton.jit
def softmax(x, out, n, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    row = tl.load(x + tl.program_id(0) * n + at, at < n, -float("inf"))
    power = tl.exp(row - tl.max(row, 0))
    tl.store(out + tl.program_id(0) * n + at, power / tl.sum(power, 0), at < n)


@triton.jit
def norm(x, w, b, out, n, SIZE: tl.constexpr):
    mean = 0.0
    square = 0.0
    for start in range(0, n, SIZE):
        at = start + tl.arange(0, SIZE)
        part = tl.load(x + tl.program_id(0) * n + at, at < n, 0.0)
        mean += tl.sum(part, 0)
        square += tl.sum(part * part, 0)
    mean /= n
    scale = 1 / tl.sqrt(square / n - mean * mean + 1e-5)
    for start in range(0, n, SIZE):
        at = start + tl.arange(0, SIZE)
        part = tl.load(x + tl.program_id(0) * n + at, at < n, 0.0)
        part = (part - mean) * scale * tl.load(w + at, at < n) + tl.load(b + at, at < n)
        tl.store(out + tl.program_id(0) * n + at, part, at < n)


@triton.jit
def product(a, b, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    steps = tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        left = tl.load(a + rows[:, None] * k + start + steps[None, :])
        right = tl.load(b + (start + steps)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(out + rows[:, None] * n + columns[None, :], total)


@triton.constexpr_function
def abort():
    __import__("os").abort()


@triton.jit
def broken(x, out, n, SIZE: tl.constexpr):
    """It ends the process that compiles it, as LLVM does where it cannot go on."""
    abort()
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, at < n), at < n)


# The kernel, how many pointers it has, then numbers, then constants: a compile of each.
LAUNCHES = {
    "broken": (broken, 2, (1000,), [(64,)]),
    "add": (add, 3, (1000,), [(size,) for size in (64, 256, 1024)]),
    "softmax": (softmax, 2, (1000,), [(size,) for size in (64, 256, 1024)]),
    "norm": (norm, 4, (1000,), [(size,) for size in (64, 256, 1024)]),
    "product": (product, 3, (1024, 1024, 1024),
                [(m, n, 32) for m in (32, 64) for n in (32, 64, 128)]),
}


def signatures(name):
    """The same, as `tkbundle compile` has them."""
    _kernel, pointers, numbers, sizes = LAUNCHES[name]
    items = ["*fp32:16"] * pointers + ["i32:16" if number % 16 == 0 else "i32"
                                       for number in numbers]
    return [", ".join(items + list(map(str, size))) for size in sizes]
