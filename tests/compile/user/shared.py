# SPDX-License-Identifier: Apache-2.0
"""What the kernels of this package share."""
from typing import NamedTuple

import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)
EPSILON = tl.constexpr(1e-5)
HAS_BIAS = tl.constexpr(True)


class Operand(NamedTuple):
    """A matrix as an argument of a kernel."""

    data: object
    stride: object


@triton.jit
def relu(x):
    return tl.maximum(x, 0)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit(noinline=True)
def tile_of(tile, rows, columns, GROUP: tl.constexpr):
    """Row and column of a tile, in groups of rows."""
    width = GROUP * columns
    first = tile // width * GROUP
    size = min(rows - first, GROUP)
    return first + tile % width % size, tile % width // size


@triton.jit
def scaled_softmax(scores, scale, MASKED: tl.constexpr):
    if MASKED:
        at = tl.arange(0, scores.shape[0])
        scores = tl.where(at[:, None] >= tl.arange(0, scores.shape[1])[None, :],
                          scores, float("-inf"))
    scores = scores * (scale * LOG2E)
    exponents = tl.math.exp2(scores - tl.max(scores, 1)[:, None])
    return exponents / tl.sum(exponents, 1)[:, None]


@triton.jit
def unknown(x):
    return x + NOTHING
