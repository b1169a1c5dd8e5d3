# SPDX-License-Identifier: Apache-2.0
"""A kernel that Triton compiles for an H100 where there is no GPU.

`begun` has an item for each compilation since use_driver().
"""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.driver import driver

begun = []


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    """One block of out = x + y."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask) + tl.load(y + at, mask), mask)


class Driver:
    """As much of a driver as a compilation asks for."""

    @staticmethod
    def get_current_target():
        return GPUTarget("cuda", 90, 32)

    @staticmethod
    def get_current_device():
        return 0

    @staticmethod
    def get_current_stream(_device):
        return 0


class Tensor:
    """An aligned tensor, as far as a jitted function looks at one."""

    dtype = "torch.float32"

    @staticmethod
    def data_ptr():
        return 0


def use_driver():
    """A compilation begins with make_ir()."""
    make_ir = ASTSource.make_ir

    def note(*args, **kwargs):
        begun.append(args)
        return make_ir(*args, **kwargs)

    ASTSource.make_ir = note
    driver.set_active(Driver())


def want(warps):
    """The kernel, compiled if it is not found."""
    tensor = Tensor()
    kernel = add_kernel.run(tensor, tensor, tensor, 98432, BLOCK=1024,
                            num_warps=warps, grid=(1,), warmup=True)
    assert kernel.asm["cubin"][:4] == b"\x7fELF"
    return kernel
