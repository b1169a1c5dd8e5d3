# SPDX-License-Identifier: Apache-2.0
"""A program that compiles with the real TileLang, on a machine without a GPU.

Prints one line of JSON: how many kernels and modules were compiled, and a digest of all
sources.
"""

import hashlib
import json
import time

import tilelang
import tilelang.language as T
from tilelang.jit.kernel import JITKernel

HOPPER = {"kind": "cuda", "arch": "sm_90a"}

compiled = []
begin = JITKernel._compile_and_create_adapter


def count(self, *told, **more):
    compiled.append(self)
    return begin(self, *told, **more)


JITKernel._compile_and_create_adapter = count


def add(size, block):
    @T.prim_func
    def main(a: T.Tensor((size,), "float32"), b: T.Tensor((size,), "float32"),
             c: T.Tensor((size,), "float32")):
        with T.Kernel(T.ceildiv(size, block), threads=block) as at:
            for i in T.Parallel(block):
                c[at * block + i] = a[at * block + i] + b[at * block + i]
    return main


def multiply(size, block):
    @T.prim_func
    def main(a: T.Tensor((size, size), "float16"), b: T.Tensor((size, size), "float16"),
             c: T.Tensor((size, size), "float32")):
        with T.Kernel(T.ceildiv(size, block), T.ceildiv(size, block),
                      threads=128) as (x, y):
            left = T.alloc_shared((block, block), "float16")
            right = T.alloc_shared((block, block), "float16")
            sums = T.alloc_fragment((block, block), "float32")
            T.clear(sums)
            for k in T.Pipelined(T.ceildiv(size, block), num_stages=2):
                T.copy(a[y * block, k * block], left)
                T.copy(b[k * block, x * block], right)
                T.gemm(left, right, sums)
            T.copy(sums, c[y * block, x * block])
    return main


def main():
    started = time.monotonic()
    kernels = [tilelang.compile(function, target=HOPPER, execution_backend=backend)
               for function, backend in ((add(1024, 256), "tvm_ffi"),
                                         (add(1024, 128), "cython"),
                                         (multiply(512, 64), "tvm_ffi"))]
    sources = "".join(kernel.get_kernel_source() for kernel in kernels)
    print(json.dumps({
        "version": tilelang.__version__, "kernels": len(kernels),
        "compiled": len(compiled), "seconds": round(time.monotonic() - started, 2),
        "result": hashlib.sha256(sources.encode()).hexdigest()}))


if __name__ == "__main__":
    main()
