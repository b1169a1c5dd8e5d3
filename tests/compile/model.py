# SPDX-License-Identifier: Apache-2.0
# The kernels of the fixture triton-3.6.0-h100. Their text and their lines stand
# in its keys: but for configurations of autotune, not a byte of them may change.

import triton
import triton.language as tl

@triton.jit
def add_kernel(x_ptr, y_ptr, o_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    m = offs < n
    tl.store(o_ptr + offs, tl.load(x_ptr + offs, mask=m) + tl.load(y_ptr + offs, mask=m), mask=m)

@triton.jit
def softmax_kernel(o_ptr, x_ptr, s, n_cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r * s + c, mask=c < n_cols, other=-float('inf'))
    x = x - tl.max(x, axis=0)
    e = tl.exp(x)
    tl.store(o_ptr + r * s + c, e / tl.sum(e, axis=0), mask=c < n_cols)



@triton.autotune([triton.Config({"BM": m, "BN": n, "BK": k}, w, s) for m, n, k, w, s in [(64, 128, 64, 4, 4), (128, 128, 64, 8, 3), (128, 64, 32, 4, 3), (128, 256, 64, 8, 3), (128, 128, 32, 8, 3), (64, 64, 32, 4, 3)]], key=[])
@triton.jit
def matmul_kernel(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0); pn = tl.program_id(1)
    om = pm * BM + tl.arange(0, BM); on = pn * BN + tl.arange(0, BN); ok = tl.arange(0, BK)
    ap = a + om[:, None] * sam + ok[None, :] * sak
    bp = b + ok[:, None] * sbk + on[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        acc += tl.dot(tl.load(ap), tl.load(bp))
        ap += BK * sak; bp += BK * sbk
    tl.store(c + om[:, None] * scm + on[None, :] * scn, acc.to(tl.float16))
