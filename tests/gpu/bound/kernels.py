import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)


@triton.jit
def norm(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    """A layer norm of a row, in steps of BLOCK columns, as in the tutorial."""
    row = tl.program_id(0) * columns
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + row + at, at < columns, 0.0)
    mean = tl.sum(total, axis=0) / columns
    square = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        value = tl.load(x + row + at, at < columns, 0.0)
        value = tl.where(at < columns, value - mean, 0.0)
        square += value * value
    scale = tl.rsqrt(tl.sum(square, axis=0) / columns + epsilon)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < columns
        w = tl.load(weight + at, inside)
        b = tl.load(bias + at, inside)
        value = tl.load(x + row + at, inside, 0.0)
        tl.store(out + row + at, (value - mean) * scale * w + b, inside)


@triton.jit
def matmul(a, b, c, m, n, k, stride_am, stride_ak, stride_bk, stride_bn,
           stride_cm, stride_cn, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr, GROUP: tl.constexpr):
    """The tutorial's."""
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(m, BM)
    num_pid_n = tl.cdiv(n, BN)
    num_pid_in_group = GROUP * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP
    group_size_m = min(num_pid_m - first_pid_m, GROUP)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    am = (pid_m * BM + tl.arange(0, BM)) % m
    bn = (pid_n * BN + tl.arange(0, BN)) % n
    kk = tl.arange(0, BK)
    a_at = a + (am[:, None] * stride_am + kk[None, :] * stride_ak)
    b_at = b + (kk[:, None] * stride_bk + bn[None, :] * stride_bn)
    total = tl.zeros((BM, BN), dtype=tl.int32 if a.dtype.element_ty == tl.int8 else tl.float32)
    for step in range(0, tl.cdiv(k, BK)):
        x = tl.load(a_at, mask=kk[None, :] < k - step * BK, other=0)
        y = tl.load(b_at, mask=kk[:, None] < k - step * BK, other=0)
        total = tl.dot(x, y, total, out_dtype=total.dtype)
        a_at += BK * stride_ak
        b_at += BK * stride_bk
    cm = pid_m * BM + tl.arange(0, BM)
    cn = pid_n * BN + tl.arange(0, BN)
    c_at = c + stride_cm * cm[:, None] + stride_cn * cn[None, :]
    tl.store(c_at, total.to(c.dtype.element_ty), mask=(cm[:, None] < m) & (cn[None, :] < n))


@triton.jit
def gemv(w, x, y, rows, columns, BR: tl.constexpr, BK: tl.constexpr):
    """y = w x, w by rows, float sums."""
    row = tl.program_id(0) * BR + tl.arange(0, BR)
    k = tl.arange(0, BK)
    total = tl.zeros((BR, BK), dtype=tl.float32)
    for start in range(0, columns, BK):
        inside = start + k < columns
        a = tl.load(w + row[:, None] * columns + (start + k)[None, :],
                    (row[:, None] < rows) & inside[None, :], 0.0)
        b = tl.load(x + start + k, inside, 0.0)
        total += a.to(tl.float32) * b.to(tl.float32)[None, :]
    tl.store(y + row, tl.sum(total, axis=1), row < rows)


@triton.jit
def gemv_int8(w, x, y, rows, columns, BR: tl.constexpr, BK: tl.constexpr):
    """y = w x, int8 by int8, sums of 32 bits."""
    row = tl.program_id(0) * BR + tl.arange(0, BR)
    k = tl.arange(0, BK)
    total = tl.zeros((BR, BK), dtype=tl.int32)
    for start in range(0, columns, BK):
        inside = start + k < columns
        a = tl.load(w + row[:, None] * columns + (start + k)[None, :],
                    (row[:, None] < rows) & inside[None, :], 0)
        b = tl.load(x + start + k, inside, 0)
        total += a.to(tl.int32) * b.to(tl.int32)[None, :]
    tl.store(y + row, tl.sum(total, axis=1), row < rows)


@triton.jit
def gemv_columns(w, x, y, rows, columns, BR: tl.constexpr, BK: tl.constexpr):
    """The same with w by columns."""
    row = tl.program_id(0) * BR + tl.arange(0, BR)
    k = tl.arange(0, BK)
    total = tl.zeros((BR, BK), dtype=tl.int32)
    for start in range(0, columns, BK):
        inside = start + k < columns
        a = tl.load(w + row[:, None] + (start + k)[None, :] * rows,
                    (row[:, None] < rows) & inside[None, :], 0)
        b = tl.load(x + start + k, inside, 0)
        total += a.to(tl.int32) * b.to(tl.int32)[None, :]
    tl.store(y + row, tl.sum(total, axis=1), row < rows)


@triton.jit
def linear(w, scale, x, y, rows, columns, BR: tl.constexpr, BK: tl.constexpr):
    """Weight-only: int8 weights with a scale for each row, float inputs."""
    row = tl.program_id(0) * BR + tl.arange(0, BR)
    k = tl.arange(0, BK)
    total = tl.zeros((BR, BK), dtype=tl.float32)
    for start in range(0, columns, BK):
        inside = start + k < columns
        a = tl.load(w + row[:, None] * columns + (start + k)[None, :],
                    (row[:, None] < rows) & inside[None, :], 0)
        b = tl.load(x + start + k, inside, 0.0)
        total += a.to(tl.float32) * b[None, :]
    tl.store(y + row, tl.sum(total, axis=1) * tl.load(scale + row, row < rows, 0.0), row < rows)


@triton.jit
def gelu(x, bias, out, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + at, inside) + tl.load(bias + at % columns, inside)
    v = 0.5 * v * (1 + tl.erf(v * 0.7071067811865476))
    tl.store(out + at, v, inside)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    at = tl.program_id(0) * columns + column
    inside = column < columns
    v = tl.load(x + at, mask=inside, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + at, e / tl.sum(e, axis=0), mask=inside)
