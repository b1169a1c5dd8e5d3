# SPDX-License-Identifier: Apache-2.0
import hashlib
import types

import torch
import triton
from triton import Config
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from . import autotune_cache, triton_helpers


def hash_configs(configs):
    text = "".join(str(sorted(config.all_kwargs().items())) for config in configs)
    return hashlib.sha256(text.encode()).hexdigest()


class CachingAutotuner:
    def __init__(self, fn, triton_meta, configs, cache, inductor_meta):
        self.fn = fn
        self.triton_meta = triton_meta
        self.device_props = triton_meta["device"]
        self.inductor_meta = inductor_meta
        best = cache.read_best(inductor_meta, configs) if cache else None
        self.configs = configs if best is None else [best]
        self.autotune_cache_info = {"autotune_cache_state": "hit" if best else "miss"}

    def _precompile_config(self, config):
        triton_helpers.set_driver_to_gpu()
        props = self.device_props
        constants = {(self.fn.arg_names.index(name),): value
                     for name, value in config.kwargs.items()}
        kernel = triton.compile(
            ASTSource(self.fn, self.triton_meta["signature"], constants,
                      self.triton_meta["configs"][0]),
            target=GPUTarget(props.type, props.cc, 32),
            options={"num_warps": config.num_warps, "num_stages": config.num_stages})
        return types.SimpleNamespace(kernel=kernel, config=config)


def pointwise(size_hints, triton_meta, filename=None, min_elem_per_thread=0,
              inductor_meta=None):
    """Two configurations; one, where there is no GPU."""
    sizes = (1024, 512) if torch.cuda.is_available() else (256,)
    configs = [Config({"XBLOCK": min(size, size_hints["x"])}, num_warps=4, num_stages=1)
               for size in sizes]
    cache = autotune_cache.AutotuneCache.create(inductor_meta, filename, hash_configs(configs))
    return lambda fn: CachingAutotuner(fn, triton_meta, configs, cache, inductor_meta)
