# SPDX-License-Identifier: Apache-2.0
"""Compiles graphs by the real Inductor, for a GPU of a type that is not here.

    inductor_graphs.py ARCH default|max-autotune

Tensors are fake, so that nothing is run; what Inductor compiles is compiled. With
max-autotune each template that it would measure is compiled, and the first one chosen.
The cache is $TORCHINDUCTOR_CACHE_DIR.
"""
import dataclasses
import os
import re
import subprocess
import sys
import tempfile

os.environ.update(TORCHINDUCTOR_COMPILE_THREADS="1", TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER="0")
import torch
import torch._inductor.runtime.triton_helpers
import triton
from torch._dynamo.device_interface import CudaInterface
from torch._inductor import compile_fx, config
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.virtualized import V
from torch._subclasses import fake_tensor
from torch.fx.experimental.proxy_tensor import make_fx

import pretend

ARCH = int(sys.argv[1])


class Utilities(pretend.Utilities):
    def load_binary(self, _name, binary, *_args):
        """With the registers: a reduction with many has further configurations."""
        tool = os.path.join(os.path.dirname(triton.__file__), "backends", "nvidia", "bin",
                            "cuobjdump")
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(binary)
            file.flush()
            told = subprocess.run([tool, "--dump-resource-usage", file.name], check=True,
                                  text=True, stdout=subprocess.PIPE).stdout
        return 1, 1, int(re.search(r"REG:(\d+)", told)[1]), 0, 1024


class Driver(pretend.Driver):
    def __init__(self):
        super().__init__(ARCH)
        self.utils = Utilities(ARCH)

    @staticmethod
    def is_active():
        return True


def choose_first(_self, _name, _nodes, _layout, _inputs, choices, *_args, **_kwargs):
    """The first one that fits into the GPU: what does not is compiled, too."""
    times = {}
    for choice in choices:
        try:
            choice.precompile()
            times[choice] = 1.0 + len(times)
        except RuntimeError as error:
            if "OutOfResources" not in str(error):
                raise
            times[choice] = float("inf")
    return times


def pretend_gpu():
    backends = triton.backends.backends
    backends["nvidia"] = dataclasses.replace(backends["nvidia"], driver=Driver)
    triton.runtime.driver.set_active(Driver())
    pretend.pretend_cuda(ARCH)
    nothing = {"get_rng_state": lambda *_args: torch.zeros(16, dtype=torch.uint8),
               "set_rng_state": lambda *_args: None}
    for place in (torch.cuda, torch.cuda.random):
        for name, value in nothing.items():
            setattr(place, name, value)
    fake_tensor.init_gpu_context = lambda _device: None
    properties = staticmethod(lambda *_args: pretend.Properties(ARCH))
    zero = staticmethod(lambda *_args: 0)
    CudaInterface.get_device_properties = properties
    CudaInterface.Worker.get_device_properties = properties
    CudaInterface.Worker.current_device = zero
    for name in ("current_device", "exchange_device", "maybe_exchange_device", "synchronize",
                 "get_raw_stream"):
        setattr(CudaInterface, name, zero)


def tune_all():
    from torch._inductor import select_algorithm

    config.max_autotune = True
    config.max_autotune_gemm_backends = "TRITON"
    config.autotune_in_subproc = config.benchmark_epilogue_fusion = False
    select_algorithm.AlgorithmSelectorCache.autotune = choose_first


def norm(x, weight, bias):
    x = x + torch.nn.functional.gelu(x)
    return (torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias),
            torch.softmax(x, -1))


def attend(q, k):
    bias = torch.arange(q.shape[1], device=q.device) / q.shape[1]
    return torch.softmax(q.float() * 0.125 + bias, -1).sum(0), (q * k).amax(1)


def product(a, b):
    return (torch.relu(a @ b) + 1,)


GRAPHS = [(norm, [(512, 1024), (1024,), (1024,)], torch.float32),
          (norm, [(64, 8192), (8192,), (8192,)], torch.bfloat16),
          (attend, [(256, 512), (256, 512)], torch.float32),
          (product, [(512, 256), (256, 1024)], torch.float16)]


def main():
    pretend_gpu()
    if sys.argv[2] == "max-autotune":
        tune_all()
    mode = fake_tensor.FakeTensorMode(allow_non_fake_inputs=True)
    for function, shapes, dtype in GRAPHS:
        with mode:
            args = [torch.empty(shape, device="cuda", dtype=dtype) for shape in shapes]
            graph = make_fx(function, select_decomp_table())(*args)
        tracing = torch._guards.tracing(torch._guards.TracingContext(mode))
        with V.set_fake_mode(mode), tracing:
            compile_fx.compile_fx_inner(graph, args)


main()
