# SPDX-License-Identifier: Apache-2.0
"""Kernels of Gluon's, whose layouts come with the launch."""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma

# Named otherwise since Triton 3.9.
load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global
SHARED = gl.NVMMASharedLayout(swizzle_byte_width=128, element_bitwidth=16, rank=2)


@gluon.jit
def scale(x, out, n, SIZE: gl.constexpr, LAYOUT: gl.constexpr):
    at = gl.program_id(0) * SIZE + gl.arange(0, SIZE, layout=LAYOUT)
    gl.store(out + at, gl.load(x + at, at < n) * 2, at < n)


@gluon.jit
def moved(source, target, LAYOUT: gl.constexpr):
    """By TMA, through shared memory."""
    tile = gl.allocate_shared_memory(source.dtype, source.block_type.shape, source.layout)
    barrier = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, source.block_type.nbytes)
    load(source, [0, 0], barrier, tile)
    mbarrier.wait(barrier, phase=0)
    value = tile.load(LAYOUT)
    mbarrier.invalidate(barrier)
    tile.store(value + 1)
    fence_async_shared()
    store(target, [0, 0], tile)
    tma.store_wait(pendings=0)
