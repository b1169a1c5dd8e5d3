# SPDX-License-Identifier: Apache-2.0
"""Lets FlashInfer 0.7 load the modules beside this file as prebuilt ones.

FlashInfer looks for a Python module of this name, which its own wheel of all
kernels has, and asks it for folders of modules. What it finds there it loads:
it calls no ninja, needs no nvcc, and compares no file. So these are the modules
of its own version alone, from <version>/<architectures>/cached_ops, as it lays
them out in its cache.
"""
import os
from types import SimpleNamespace

from flashinfer.version import __version__

HERE = os.path.dirname(os.path.abspath(__file__))


def _modules(folder):
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return [name for name in sorted(names)
            if os.path.isfile(os.path.join(folder, name, name + ".so"))]


def get_jit_cache_providers():
    """A provider for each set of architectures that was compiled for."""
    built = os.path.join(HERE, __version__)
    providers = []
    for architectures in sorted(os.listdir(built)) \
            if os.path.isdir(built) else []:
        folder = os.path.join(built, architectures, "cached_ops")
        providers.append(SimpleNamespace(
            provider_id="tkbundle-" + architectures, distribution="tkbundle",
            version=__version__, jit_cache_dir=folder,
            cuda_architectures=["sm" + each
                                for each in architectures.split("_")],
            modules=_modules(folder)))
    return providers
