# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels by the pool of processes of Triton 3.9's own warm-up.

    warmup_pool.py WORKERS KERNEL[,KERNEL...]

The kernels are those of warmup_kernels.py; each is launched in all its sizes with
tensors that PyTorch fakes, for an H100 that is not there, and the pool compiles. Needs
PyTorch, cloudpickle and pytest.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SUPPORT = os.path.join(HERE, "..", "tests", "support")
sys.path.append(SUPPORT)
os.environ["PYTHONPATH"] = os.pathsep.join(
    [HERE, SUPPORT, os.environ.get("PYTHONPATH", "")])
import torch
import triton
import triton_kernel
import warmup_kernels
from triton._compile_warmup import process_pool_compile_warmup
from triton.runtime.driver import driver


def main():
    driver.set_active(triton_kernel.Driver())
    with process_pool_compile_warmup(workers=int(sys.argv[1]), directory=None, phase="bench"):
        tensor = torch.empty(1 << 20)
        for name in sys.argv[2].split(","):
            kernel, pointers, numbers, sizes = warmup_kernels.LAUNCHES[name]
            for size in sizes:
                kernel[(1,)](*[tensor] * pointers, *numbers, *size)


if __name__ == "__main__":
    main()
