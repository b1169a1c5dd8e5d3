# SPDX-License-Identifier: Apache-2.0
"""Runs Triton kernels on the GPU and prints one line of JSON.

The cache is Triton's own: ~/.triton/cache. `compiled` and `loaded` are what
Triton itself says of each kernel. `sha256` depends on the results alone, not
on which configuration the autotuner likes best: the matrices hold small
integers, so that their product is exact whatever the tiling.
"""
import json
import sys

import torch
import triton
import triton.language as tl

import measure

EPSILON = 1e-5
SOFTMAX_COLUMNS = (100, 200, 500, 1000, 2000, 4000)
NORM_COLUMNS = (512, 1024, 4096)
SIZE = 512  # of the square matrices; a multiple of every tile


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    x = tl.load(x_ptr + at, mask=inside)
    y = tl.load(y_ptr + at, mask=inside)
    tl.store(out_ptr + at, x + y, mask=inside)


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    at = tl.program_id(0) * columns + column
    inside = column < columns
    x = tl.load(x_ptr + at, mask=inside, other=-float("inf"))
    numerator = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + at, numerator / tl.sum(numerator, axis=0), mask=inside)


@triton.jit
def norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, columns, epsilon,
                BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    at = tl.program_id(0) * columns + column
    inside = column < columns
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    weight = tl.load(weight_ptr + column, mask=inside)
    bias = tl.load(bias_ptr + column, mask=inside)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(inside, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns
    out = centred * tl.rsqrt(variance + epsilon) * weight + bias
    tl.store(out_ptr + at, out, mask=inside)


def tile(m, n, k, warps, stages):
    return triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k},
                         num_warps=warps, num_stages=stages)


def short_bench(call, quantiles):
    return triton.testing.do_bench(call, warmup=2, rep=10,
                                   quantiles=quantiles)


@triton.autotune(
    configs=[
        tile(32, 64, 32, 2, 4),
        tile(64, 32, 32, 2, 4),
        tile(64, 64, 32, 4, 3),
        tile(64, 128, 32, 4, 4),
        tile(128, 64, 32, 4, 4),
        tile(128, 128, 32, 4, 3),
        tile(128, 128, 64, 8, 3),
        tile(128, 256, 64, 8, 3),
    ],
    key=["size"],
    do_bench=short_bench,
)
@triton.jit
def matmul_kernel(a_ptr, b_ptr, out_ptr, size, BLOCK_M: tl.constexpr,
                  BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    column = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    a_at = a_ptr + row[:, None] * size + inner[None, :]
    b_at = b_ptr + inner[:, None] * size + column[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, size, BLOCK_K):
        total = tl.dot(tl.load(a_at), tl.load(b_at), total)
        a_at += BLOCK_K
        b_at += BLOCK_K * size
    tl.store(out_ptr + row[:, None] * size + column[None, :], total)


class Listener:
    """Counts what Triton compiles, and what it finds in its cache."""

    def __init__(self):
        self.compiled = 0
        self.loaded = 0

    def __call__(self, *, cache_hit, **_):
        if cache_hit:
            self.loaded += 1
        else:
            self.compiled += 1


def add(x, y):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(),
                                                BLOCK=1024)
    return out


def softmax(x):
    out = torch.empty_like(x)
    rows, columns = x.shape
    softmax_kernel[(rows,)](x, out, columns,
                            BLOCK=triton.next_power_of_2(columns))
    return out


def norm(x, weight, bias):
    out = torch.empty_like(x)
    rows, columns = x.shape
    norm_kernel[(rows,)](x, weight, bias, out, columns, EPSILON,
                         BLOCK=triton.next_power_of_2(columns))
    return out


def matmul(a, b):
    out = torch.empty((SIZE, SIZE), dtype=torch.float32, device=a.device)
    matmul_kernel[lambda meta: (SIZE // meta["BLOCK_M"],
                                SIZE // meta["BLOCK_N"])](a, b, out, SIZE)
    return out


def make_calls():
    """Triples: a function, the same by PyTorch in double, its inputs."""
    seeded = torch.Generator().manual_seed(2026)

    def numbers(*shape):
        return torch.randn(shape, generator=seeded)

    def integers(*shape):
        return torch.randint(-4, 5, shape, generator=seeded).half()

    calls = [(add, torch.add, (numbers(100_000), numbers(100_000))),
             (add, torch.add, (integers(65_536), integers(65_536))),
             (matmul, torch.mm, (integers(SIZE, SIZE), integers(SIZE, SIZE)))]
    for columns in SOFTMAX_COLUMNS:
        calls.append((softmax, lambda x: torch.softmax(x, dim=1),
                      (numbers(64, columns),)))
    for columns in NORM_COLUMNS:
        calls.append((norm,
                      lambda x, weight, bias: torch.nn.functional.layer_norm(
                          x, weight.shape, weight, bias, EPSILON),
                      (numbers(64, columns), numbers(columns),
                       numbers(columns))))
    return calls


def main():
    listener = Listener()
    triton.knobs.compilation.listener = listener

    calls = make_calls()
    results = [ours(*[x.cuda() for x in inputs]).cpu()
               for ours, _, inputs in calls]
    seconds = measure.seconds_since_start()

    expected = [theirs(*[x.double() for x in inputs])
                for _, theirs, inputs in calls]
    errors = [(result.double() - right).abs().max().item()
              for result, right in zip(results, expected)]
    print(json.dumps({
        "seconds": round(seconds, 3),
        "sha256": measure.digest(results),
        "kernels": listener.compiled + listener.loaded,
        "compiled": listener.compiled,
        "loaded": listener.loaded,
        "max_error": max(errors),
        "device": torch.cuda.get_device_name(),
        "versions": f"Triton {triton.__version__}, "
                    f"PyTorch {torch.__version__}",
    }))
    if all(error < 1e-4 for error in errors):  # false for a NaN, too
        return 0
    return "model.py: the results are wrong"


if __name__ == "__main__":
    sys.exit(main())
