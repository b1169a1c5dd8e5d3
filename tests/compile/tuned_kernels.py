# SPDX-License-Identifier: Apache-2.0
# Kernels whose decorators choose constants and options: data of triton_tuned.py.

import triton
import triton.language as tl

SHIFT = tl.constexpr(3)


def bench(call, quantiles):
    """Stands for the measurement of a launch: it compiles."""
    call()
    return [1.0 for _ in quantiles]


def configs(*sizes):
    return [triton.Config({"SIZE": size}, num_warps=warps, num_stages=stages)
            for size, warps, stages in sizes]


THREE = configs((32, 1, 2), (64, 4, 3), (128, 8, 4))


@triton.autotune(THREE, key=["n"], do_bench=bench)
@triton.jit
def plain(x, out, n, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, at < n) + SHIFT, at < n)


@triton.autotune([triton.Config({"SIZE": 128}, num_warps=4, maxnreg=64),
                  triton.Config({"SIZE": 128}, num_warps=8, num_ctas=2)], key=[],
                 reset_to_zero=["out"], do_bench=bench)
@triton.jit
def registers(x, out, n, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, at < n), at < n)


@triton.autotune([triton.Config({"TWICE": 2}, num_warps=2), triton.Config({"TWICE": 4})],
                 key=[], do_bench=bench)
@triton.autotune(THREE[:2], key=[], do_bench=bench)
@triton.jit
def nested(x, out, n, SIZE: tl.constexpr, TWICE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, at < n) * TWICE, at < n)


nested.configs[0].num_warps = nested.configs[0].num_stages = nested.configs[0].num_ctas = None
nested.configs[1].num_warps = nested.configs[1].num_stages = nested.configs[1].num_ctas = None


@triton.autotune(THREE, key=["n"], do_bench=bench)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["SIZE"] == 0,
                    "HALF": lambda args: args["x"].dtype.itemsize == 2})
@triton.jit
def inner(x, out, n, SIZE: tl.constexpr, EVEN: tl.constexpr, HALF: tl.constexpr):
    at = tl.arange(0, SIZE)
    value = tl.load(x + at) if EVEN else tl.load(x + at, at < n)
    tl.store(out + at, value * 2 if HALF else value, at < n)


@triton.heuristics({"SIZE": lambda args: triton.next_power_of_2(args["n"]),
                    "num_warps": lambda args: 8 if args["SIZE"] > 64 else 2})
@triton.jit
def heuristic(x, out, n, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, at < n), at < n)


def fitting(configs, named_args, **kwargs):
    return [config for config in configs
            if config.kwargs["SIZE"] <= named_args["n"] // kwargs["PARTS"]]


@triton.autotune(THREE, key=["n"], do_bench=bench,
                 prune_configs_by={"early_config_prune": fitting})
@triton.jit
def pruned(x, out, n, PARTS: tl.constexpr, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, at < n) + PARTS, at < n)


@triton.autotune(THREE, key=["n"], do_bench=bench,
                 prune_configs_by={"perf_model": lambda n, SIZE, **_: abs(n - SIZE),
                                   "top_k": 2})
@triton.jit
def modelled(x, out, n, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, at < n), at < n)


@triton.jit
def named(x, out, num_warps: tl.constexpr, num_stages: tl.constexpr):
    """Its parameters have the names of options, and are none."""
    at = tl.arange(0, 32 * num_warps)
    tl.store(out + at, tl.load(x + at) + num_stages)


@triton.jit(do_not_specialize=["n"])
def unspecialized(x, out, n, SIZE: tl.constexpr = 64):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, at < n), at < n)


@triton.autotune(configs((64, 4, 3), (1000, 4, 3), (128, 4, 3)), key=[], do_bench=bench)
@triton.jit
def broken(out, SIZE: tl.constexpr):
    tl.store(out + tl.arange(0, SIZE), 1)


@triton.autotune(THREE, key=[], do_bench=bench)
@triton.jit
def paired(pair, out, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(pair[0] + at, at < pair[1]))


def shape_blocks(args):
    args["tile"].block_shape = [args["ROWS"], args["COLUMNS"]]


@triton.autotune([triton.Config({"ROWS": rows, "COLUMNS": 64}, pre_hook=shape_blocks)
                  for rows in (32, 64)], key=[], do_bench=bench)
@triton.jit
def described(tile, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    value = tile.load([0, 0])
    row = tl.arange(0, ROWS)
    tl.store(out + row, tl.sum(value.to(tl.float32), axis=1))


try:
    from triton.experimental import gluon
    from triton.experimental.gluon import language as gl
except ImportError:  # an older Triton
    gluon = None

if gluon is not None:
    @triton.autotune(THREE, key=[], do_bench=bench)
    @gluon.jit
    def layered(x, out, SIZE: gl.constexpr):
        layout: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
        at = gl.arange(0, SIZE, layout=layout)
        gl.store(out + at, gl.load(x + at))
