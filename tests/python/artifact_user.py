# SPDX-License-Identifier: Apache-2.0
"""A user's program: it compiles graphs with kernels, and saves the artifacts.

    artifact_user.py save FILE KEY... | hit FILE KEY... | load FILE

Kernels lie in Inductor's root, as if they had been compiled there. Of `save`, the
last is put to a compile that is never collected; the first was chosen of the first
two, if there are three.
"""
import importlib
import sys
from types import SimpleNamespace

import tkbundle.inductor


def compile_graphs(bundler, keys):
    bundler.begin_compile()
    for key in keys[:-1]:
        bundler.put(key, 1)
    if len(keys) > 2:
        bundler.put_winner(keys[0])
    bundler.put_static_autotuner("cache key", SimpleNamespace(
        compile_results=[SimpleNamespace(kernel=SimpleNamespace(hash="00"))]))
    assert len(bundler.collect()[0].kernel_artifacts) == len(keys) - 1
    bundler.begin_compile()
    bundler.put(keys[-1], 1)
    bundler.end_compile()


def main():
    verb, file_name, *keys = sys.argv[1:]
    tkbundle.inductor.install(artifacts=True)
    cache = importlib.import_module("torch.compiler._cache")
    module = importlib.import_module("torch._inductor.triton_bundler")
    if verb == "load":
        with open(file_name, "rb") as file:
            cache.load(file.read())
        return
    if verb == "save":
        compile_graphs(module.TritonBundler, keys)
    else:
        found = [SimpleNamespace(kernel_hash=key, device=1) for key in keys]
        assert module.TritonBundler.read_and_emit(
            SimpleNamespace(kernel_artifacts=found)) == len(keys)
    with open(file_name, "wb") as file:
        file.write(cache.CacheArtifactManager.serialize())


main()
