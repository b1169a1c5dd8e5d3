# SPDX-License-Identifier: Apache-2.0
"""A program that compiles kernels with the real SGLang, on a machine without a GPU.

    sglang_user.py PACKAGES

PACKAGES has those of SGLang's modules that compile, and stubs of what they ask for a GPU;
nvcc is in CUDA_HOME. Prints one line of JSON: how many modules were compiled, a digest of
all, and where SGLang keeps its caches and those of others.
"""

import hashlib
import json
import sys
import time

import tvm_ffi

# Beside this file stands a flashinfer.py, which is no FlashInfer.
sys.path[0] = sys.argv[1]

# pylint: disable=wrong-import-position
from sglang.kernels.jit.utils import load_jit, override_jit_cuda_arch  # noqa: E402
from sglang.kernels.jit.utils.compile import cache, ninja  # noqa: E402
from sglang.srt.environ import third_party_cache_defaults  # noqa: E402

compiled = []
loaded = []
build, load_module = ninja.build, tvm_ffi.load_module


def count(**told):
    compiled.append(told["spec"].module_name)
    return build(**told)


def note(path):
    with open(path, "rb") as file:
        loaded.append(hashlib.sha256(file.read()).hexdigest())
    return load_module(path)


ninja.build, tvm_ffi.load_module = count, note


def main():
    started = time.monotonic()
    with override_jit_cuda_arch(9, 0):
        modules = [load_jit(
            "add_constant", str(constant), cuda_files=["elementwise/add_constant.cuh"],
            cuda_wrappers=[("add_constant", f"add_constant<{constant}>")])
            for constant in (1, 2)]
        modules.append(load_jit(
            "adler32_checksum", cuda_files=["elementwise/adler32_checksum.cuh"],
            cuda_wrappers=[("adler32_strided", "Adler32StridedKernel::run"),
                           ("adler32_reduce", "Adler32ReduceKernel::run")]))
    print(json.dumps({
        "modules": len(modules), "compiled": len(compiled),
        "seconds": round(time.monotonic() - started, 2), "result": loaded,
        "jit": str(cache.cache_root()), "places": third_party_cache_defaults()}))


if __name__ == "__main__":
    main()
