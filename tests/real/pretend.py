# SPDX-License-Identifier: Apache-2.0
"""PyTorch and Triton as on a machine with a GPU of another type, where there is none.

Tensors lie in the memory of the host and say that they are on the GPU; a launch compiles
its kernel, and does not run it. What a program then does with results is meaningless.
"""
import contextlib
import functools
import types

import torch
import triton
from triton._C.libtriton import nvidia
from triton.backends.compiler import GPUTarget
from triton.runtime.driver import driver

# Of which GPUs there are most, by compute capability: SMs and shared memory of a block.
SIZES = {80: (108, 166912), 90: (132, 232448), 100: (148, 232448), 120: (188, 101376)}


class Properties(types.SimpleNamespace):
    def __init__(self, arch):
        sms, shared = SIZES[arch]
        super().__init__(name=f"sm_{arch}", major=arch // 10, minor=arch % 10,
                         multi_processor_count=sms, total_memory=80 << 30, warp_size=32,
                         regs_per_multiprocessor=65536, gcnArchName="",
                         max_threads_per_multi_processor=2048,
                         shared_memory_per_block_optin=shared, L2_cache_size=50 << 20)


class Utilities:
    """Of Triton's driver."""

    def __init__(self, arch):
        self.arch = arch

    def get_device_properties(self, _device):
        sms, shared = SIZES[self.arch]
        return {"max_shared_mem": shared, "max_num_regs": 65536, "multiprocessor_count": sms,
                "warpSize": 32, "sm_clock_rate": 1980000, "mem_clock_rate": 2619000,
                "mem_bus_width": 5120}

    def load_binary(self, *_args):
        """A module, its function, registers, spills, and the most threads."""
        return 1, 1, 32, 0, 1024


class Driver:
    def __init__(self, arch):
        self.arch, self.utils = arch, Utilities(arch)

    def get_current_target(self):
        return GPUTarget("cuda", self.arch, 32)

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        pass

    def get_current_stream(self, _device):
        return 0

    def launcher_cls(self, _source, _metadata):
        return nothing

    def get_active_torch_device(self):
        return GPU

    def get_device_interface(self):
        return torch.cuda

    def get_empty_cache_for_benchmark(self):
        return torch.empty(64)

    def clear_cache(self, cache):
        pass

    def get_benchmarker(self):
        return bench


def bench(call, *_args, quantiles=None, **_kwargs):
    """A measurement that launches once, of which nothing is known."""
    call()
    return [1.0] * len(quantiles) if quantiles else 1.0


GPU = torch.device("cuda", 0)
# Of PyTorch, what makes tensors; what it makes empty is of zeros here: a program may make
# sizes of what a kernel would have written.
MAKERS = ("arange", "as_tensor", "empty", "empty_like", "empty_strided", "eye", "full",
          "full_like", "linspace", "ones", "ones_like", "rand", "rand_like", "randint",
          "randint_like", "randn", "randn_like", "randperm", "tensor", "zeros", "zeros_like")
OF_TENSORS = ("new_empty", "new_full", "new_ones", "new_tensor", "new_zeros", "to", "normal_",
              "uniform_", "random_")


def on_host(value):
    if isinstance(value, torch.Generator):
        return None
    if isinstance(value, str) and value.split(":")[0] == "cuda" or value == GPU:
        return HOST
    return value


HOST = torch.device("cpu")


def made_on_host(function):
    @functools.wraps(function)
    def make(*args, **kwargs):
        args = [value if isinstance(value, torch.Tensor) else on_host(value) for value in args]
        kwargs = {name: value if isinstance(value, torch.Tensor) else on_host(value)
                  for name, value in kwargs.items()}
        result = function(*args, **kwargs)
        return result.zero_() if "empty" in function.__name__ else result

    return make


def without_arithmetic(multiply):
    """Products of matrices of the right size: no one looks at them, and they take long."""
    @functools.wraps(multiply)
    def product(a, b, *_args, **_kwargs):
        shape = multiply(torch.empty(a.shape, device="meta"),
                         torch.empty(b.shape, device="meta")).shape
        return torch.zeros(shape, dtype=a.dtype)

    return product


class Event:
    """Of CUDA's: takes no time."""

    def __init__(self, *_args, **_kwargs):
        pass

    def record(self, *_args):
        pass

    wait = synchronize = record

    def elapsed_time(self, _other):
        return 1.0


@contextlib.contextmanager
def nothing(*_args, **_kwargs):
    yield


def pretend_cuda(arch):
    stream = types.SimpleNamespace(cuda_stream=0, synchronize=lambda: None,
                                   wait_stream=lambda _other: None)
    replaced = {
        "is_available": lambda: True, "device_count": lambda: 1, "current_device": lambda: 0,
        "get_device_properties": lambda *_device: Properties(arch),
        "get_device_capability": lambda *_device: divmod(arch, 10),
        "get_device_name": lambda *_device: f"sm_{arch}", "synchronize": lambda *_device: None,
        "current_stream": lambda *_device: stream, "default_stream": lambda *_device: stream,
        "Stream": lambda *_args, **_kwargs: stream, "stream": nothing, "device": nothing,
        "empty_cache": lambda: None, "set_stream": lambda _stream: None, "Event": Event,
        "set_device": lambda *_device: None,
        "manual_seed": lambda _seed: None, "is_bf16_supported": lambda *_args, **_kwargs: True,
        "mem_get_info": lambda *_device: (80 << 30, 80 << 30),
    }
    for name, value in replaced.items():
        setattr(torch.cuda, name, value)
    nvidia.cublas.CublasLt = lambda *_args: types.SimpleNamespace(
        matmul=nothing, block_scaled_matmul_mxfp8=nothing, block_scaled_matmul_nvfp4=nothing)


def pretend(arch):
    """For the rest of this process."""
    driver.set_active(Driver(arch))
    pretend_cuda(arch)
    for place, names in ((torch, MAKERS), (torch.Tensor, OF_TENSORS)):
        for name in names:
            setattr(place, name, made_on_host(getattr(place, name)))
    torch.matmul, torch.Tensor.matmul = map(without_arithmetic,
                                            (torch.matmul, torch.Tensor.matmul))
    torch.Tensor.cuda = torch.Tensor.pin_memory = lambda self, *_args, **_kwargs: self
    torch.Tensor.is_cuda = property(lambda _self: True)
    torch.Tensor.device = property(lambda _self: GPU)
    run = triton.runtime.JITFunction.run

    def compile_only(self, *args, **kwargs):
        return run(self, *args, **dict(kwargs, warmup=True))

    triton.runtime.JITFunction.run = compile_only
    triton.testing.do_bench = triton.testing.do_bench_cudagraph = bench
