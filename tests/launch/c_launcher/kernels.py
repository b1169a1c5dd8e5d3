#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compile, with the Triton at hand, kernels that the fixtures have none of.

usage: kernels.py CACHE_ROOT

For cuda:90, without a GPU. Prints a line for each: what it is for, its key, and
its signature as Triton's tools take it.
"""
import base64
import os
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scalars(out, a, b, c, d, e, f, g, h, i, j, k, BIAS: tl.constexpr, z):
    """Each type of number, and a constant between them."""
    tl.store(out + 0, a.to(tl.float32))
    tl.store(out + 1, b.to(tl.float32))
    tl.store(out + 2, c.to(tl.float32))
    tl.store(out + 3, d.to(tl.float32))
    tl.store(out + 4, e.to(tl.float32))
    tl.store(out + 5, f.to(tl.float32))
    tl.store(out + 6, g.to(tl.float32))
    tl.store(out + 7, h.to(tl.float32))
    tl.store(out + 8, i.to(tl.float32))
    tl.store(out + 9, j.to(tl.float32))
    tl.store(out + 10, k.to(tl.float32))
    tl.store(out + 11, z.to(tl.float32) + BIAS)


@triton.jit
def fill(int, n, stream, BLOCK: tl.constexpr):
    """Arguments whose names mean something in C; `n` may be 1."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(int + at * n, at + stream, at < 100)


@triton.jit
def nothing():
    """No argument at all."""
    tl.device_assert(tl.program_id(0) >= 0)


# What each is for; the kernel, its signature and its options.
KERNELS = [
    ("scalars", scalars,
     "*fp32, i1, i8, i16, i64, u8, u16, u32, u64, fp16, bf16, fp32, 7, fp64",
     {"num_warps": 1}),
    ("linked", fill, "*i32:16, i32, i32, 128", {}),
    ("linked", fill, "*i32:16, i32:16, i32, 128", {}),
    ("linked", fill, "*i32:16, i32:1, i32, 128", {}),
    ("linked", fill, "*i32:16, i32, i32, 256", {"num_warps": 8}),
    ("everything", fill, "*i32:16, i32, i32:16, 512",
     {"num_ctas": 2, "launch_pdl": True, "launch_cooperative_grid": True}),
    ("clustered", fill, "*i32:16, i32, i32, 512", {"num_ctas": 2}),
    ("programmatic", fill, "*i32:16, i32, i32, 1024", {"launch_pdl": True}),
    ("cooperative", fill, "*i32:16, i32, i32, 2048",
     {"launch_cooperative_grid": True}),
    ("nothing", nothing, "", {"num_warps": 2}),
]


def compiled(kernel, signature, options):
    """The key of the entry that this makes."""
    types, constants, hints = {}, {}, {}
    items = [item.strip() for item in signature.split(",")] if signature else []
    for index, (name, item) in enumerate(zip(kernel.arg_names, items)):
        kind, _, hint = item.partition(":")
        if item.isdigit() or hint == "1":
            types[name] = "constexpr"
            constants[name] = int(item) if item.isdigit() else 1
        else:
            types[name] = kind
        if hint == "16":
            hints[(index,)] = [["tt.divisibility", 16]]
    made = triton.compile(
        ASTSource(fn=kernel, signature=types, constexprs=constants,
                  attrs=hints),
        target=GPUTarget("cuda", 90, 32),
        options={"num_warps": 4, "num_stages": 3} | options)
    key = base64.b32encode(bytes.fromhex(made.hash)).decode()
    return key.rstrip("=")


def main():
    os.environ["TRITON_CACHE_DIR"] = sys.argv[1]
    for use, kernel, signature, options in KERNELS:
        print(use, compiled(kernel, signature, options), signature, sep="|")


main()
