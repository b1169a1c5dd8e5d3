# SPDX-License-Identifier: Apache-2.0
"""Kernels of a package, with relative imports."""
import itertools

import triton
import triton.language as tl

from . import shared
from .shared import EPSILON, HAS_BIAS, relu, scaled_softmax, tile_of


def bench(call, quantiles):
    """Stands for the measurement of a launch: it compiles."""
    call()
    return [1.0 for _ in quantiles]


def large_enough(configs, named_args, **_kwargs):
    return [config for config in configs
            if config.kwargs["BLOCK_M"] <= named_args["length"]]


@triton.autotune([triton.Config({"BLOCK_M": m, "BLOCK_N": n}, num_warps=w, num_stages=s)
                  for m, n, w, s in ((32, 32, 4, 2), (64, 32, 4, 3), (128, 64, 8, 3))],
                 key=["length", "WIDTH"], do_bench=bench,
                 prune_configs_by={"early_config_prune": large_enough})
@triton.heuristics({"EVEN": lambda args: args["length"] % args["BLOCK_N"] == 0,
                    "IS_SMALL": lambda args: args["q"].element_size() < 4})
@triton.jit
def attention(q, k, v, out, scale, length, stride, WIDTH: tl.constexpr, CAUSAL: tl.constexpr,
              BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, EVEN: tl.constexpr,
              IS_SMALL: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    at, width = tl.arange(0, BLOCK_N), tl.arange(0, WIDTH)
    query = tl.load(q + rows[:, None] * stride + width[None, :])
    total = tl.zeros((BLOCK_M, WIDTH), tl.float32)
    for start in range(0, length, BLOCK_N):
        inside = (start + at < length)[:, None]
        if EVEN:
            key = tl.load(k + (start + at)[:, None] * stride + width[None, :])
        else:
            key = tl.load(k + (start + at)[:, None] * stride + width[None, :], inside, 0)
        value = tl.load(v + (start + at)[:, None] * stride + width[None, :], inside, 0)
        weights = scaled_softmax(tl.dot(query, tl.trans(key)), scale, CAUSAL)
        total += tl.dot(weights.to(value.dtype), value)
    if IS_SMALL:
        total = total * 1.0
    tl.store(out + rows[:, None] * stride + width[None, :], total.to(query.dtype))


def shape_blocks(args):
    args["a"].block_shape = [args["BLOCK_M"], args["BLOCK_K"]]
    args["b"].block_shape = [args["BLOCK_N"], args["BLOCK_K"]]
    args["c"].block_shape = [args["BLOCK_M"], args["BLOCK_N"]]


def launched(grid, kernel, args):
    return {"name": f"{kernel.name} [{args['M']}]"}


@triton.autotune([triton.Config({"BLOCK_M": m, "BLOCK_N": 64, "BLOCK_K": 32}, num_warps=4,
                                num_stages=3, pre_hook=shape_blocks) for m in (64, 128)],
                 key=["M", "N", "K"], do_bench=bench)
@triton.jit(launch_metadata=launched)
def persistent(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
               BLOCK_K: tl.constexpr, FLATTEN: tl.constexpr, NUM_SMS: tl.constexpr):
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), rows * columns, NUM_SMS, flatten=FLATTEN):
        row, column = tile_of(tile, rows, columns, 8)
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for at in range(0, K, BLOCK_K):
            left = a.load([row * BLOCK_M, at])
            right = b.load([column * BLOCK_N, at])
            total = tl.dot(left, right.T, total)
        c.store([row * BLOCK_M, column * BLOCK_N], total.to(tl.float16))


@triton.jit
def described(x, out, M, N, stride: tl.int64, BLOCK: tl.constexpr, ACTIVATION: tl.constexpr):
    """Descriptors that the kernel makes itself."""
    source = tl.make_tensor_descriptor(x, [M, N], [stride, 1], [BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(out, [M, N], [stride, 1], [BLOCK, BLOCK])
    at = tl.program_id(0) * BLOCK
    value = source.load([at, 0])
    target.store([at, 0], ACTIVATION(value) if ACTIVATION is not None else value)


@triton.jit
def grouped(left, right, out, sizes, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    """Products of matrices of two operands each; sizes and the first are tuples."""
    at = tl.arange(0, BLOCK)
    for group in tl.static_range(GROUPS):
        if tl.program_id(0) < sizes[group]:
            a = tl.load(left[group].data + at[:, None] * left[group].stride + at[None, :])
            b = tl.load(right.data + at[:, None] * right.stride + at[None, :])
            tl.store(out + (group * BLOCK + at)[:, None] * BLOCK + at[None, :],
                     relu(tl.dot(a, b)).to(tl.float16))


@triton.jit(repr=lambda told: f"norm_{told.constants['WIDTH']}")
def norm(x, weight, bias, out, mean: tl.const, stride, columns, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, WIDTH)
    value = tl.load(x + row * stride + at, at < columns, 0).to(tl.float32)
    centre = value - tl.sum(value, 0) / columns + tl.load(mean + row)
    scale = 1 / tl.sqrt(tl.sum(centre * centre, 0) / columns + EPSILON)
    result = centre * scale * tl.load(weight + at, at < columns)
    if HAS_BIAS:
        result += tl.load(bias + at, at < columns)
    tl.store(out + row * stride + at, result, at < columns)


@triton.jit(do_not_specialize=["step", 4], do_not_specialize_on_alignment=["x"])
def adam(x, gradient, out, step, rate, epsilon, is_first, SIZE: tl.constexpr = 128):
    at = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    value = tl.load(x + at) - rate * tl.load(gradient + at) / (step + epsilon)
    if is_first:
        value = value * 2
    tl.store(out + at, value)


@triton.autotune([triton.Config({"SIZE": size, "REPEAT": repeat}, num_warps=warps)
                  for size, repeat, warps in itertools.product(
                      (32, 64, 128), (1, 2), (1, 4))],
                 key=["n"], do_bench=bench)
@triton.jit
def many(out, n, SIZE: tl.constexpr, REPEAT: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, at * REPEAT, at < n)


@triton.heuristics({"SIZE": lambda args: triton.next_power_of_2(args["n"])})
@triton.autotune([triton.Config({"TWICE": twice}) for twice in (True, False)], key=["n"],
                 do_bench=bench, restore_value=["x"])
@triton.heuristics({"num_warps": lambda args: 4 if args["TWICE"] else 2})
@triton.jit
def twice(x, n, SIZE: tl.constexpr, TWICE: tl.constexpr):
    at = tl.arange(0, SIZE)
    value = tl.load(x + at, at < n)
    tl.store(x + at, value * 2 if TWICE else shared.leaky_relu(value), at < n)


@triton.jit
def nameless(out):
    tl.store(out, shared.unknown(1))


if __name__ == "__main__":
    @triton.jit
    def hidden(x):
        tl.store(x, 1)
