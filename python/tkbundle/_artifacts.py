# SPDX-License-Identifier: Apache-2.0
"""Kernels in the artifacts of torch.compiler.save_cache_artifacts().

While kernels are compiled, everything that TritonBundler receives is also noted in
a recorder. It is packed when the artifacts are saved: an artifact is a bundle, and
its key names the kind of cache root. When an artifact is loaded, the bundle is
verified and emitted to this machine's root of that kind.
"""

from __future__ import annotations

import functools
import importlib
import os
import pickle
import threading
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from tkbundle import _calls, _imports, _memory, _specialisations
from tkbundle._guard import guarded

TYPE = "tkbundle"

_lock = threading.Lock()


class _Compile:
    """The kernels of one compile of Inductor, until its collect."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.recording = _calls.recording(root).__enter__()
        self.keys: Set[str] = set()
        self.launchers: List[Any] = []

    def put(self, key: str, device: int) -> None:
        self.keys.add(key)
        self.recording.put(key, device)

    def pack(self) -> Tuple[_calls.CollectReport, bytes]:
        for one in self.launchers:
            guarded("artifacts", functools.partial(self._save, one), None)
        try:
            return _memory.record(self.recording)
        finally:
            self.recording.__exit__()

    def _save(self, one: Any) -> None:
        needs = self.keys.intersection(
            _specialisations.key_of(result.kernel.hash)
            for result in one.kernel.compile_results)
        self.recording.put_launcher(one.cache_key, one.kernel_name,
                                    pickle.dumps(one),
                                    sorted(needs or self.keys), "any")


_now: Optional[_Compile] = None
_done: List[_Compile] = []
_packed: Set[str] = set()  # keys of Triton's own root


def inductor_root(bundler: ModuleType) -> str:
    """Inductor's cache root, which has a folder for each GPU, or Triton's."""
    folder: str = bundler.triton_cache_dir(0)
    if os.environ.get("TRITON_CACHE_DIR"):
        return folder
    return os.path.dirname(os.path.dirname(folder))


def triton_root() -> str:
    """The cache root of kernels that were not compiled by Inductor."""
    knobs = importlib.import_module("triton.knobs")
    return os.path.abspath(str(knobs.cache.dir or
                               knobs.cache.get_triton_dir("cache")))


# Inductor's bundler.


def _begin(bundler: ModuleType) -> None:
    global _now
    _now = _Compile(inductor_root(bundler))


def _put(_bundler: ModuleType, key: str, device: int) -> None:
    if _now is not None:
        _now.put(key, device)


def _put_winner(_bundler: ModuleType, key: str) -> None:
    if _now is not None:
        _now.recording.put_winner(key)


def _put_launcher(bundler: ModuleType, *_told: Any) -> None:
    saved = bundler.TritonBundler._static_autotuners
    if _now is not None and saved:
        _now.launchers.append(saved[-1])


def _collect(_bundler: ModuleType) -> None:
    global _now
    done, _now = _now, None
    if done is not None and done.keys:
        with _lock:
            _done.append(done)


def _end(_bundler: ModuleType) -> None:
    global _now
    discarded, _now = _now, None
    if discarded is not None:
        discarded.recording.__exit__()


def _found(bundler: ModuleType, bundle: Any) -> None:
    """PyTorch emitted these kernels because a graph was a cache hit."""
    compile_ = _Compile(inductor_root(bundler))
    for one in getattr(bundle, "kernel_artifacts", bundle):
        compile_.put(one.kernel_hash, one.device)
    if compile_.keys:
        with _lock:
            _done.append(compile_)


#: What to do when a function of the bundler is called, and whether to do it before
#: the call.
_CALLS: Dict[str, Tuple[Callable[..., None], bool]] = {
    "begin_compile": (_begin, False), "put": (_put, False),
    "put_winner": (_put_winner, False),
    "put_static_autotuner": (_put_launcher, False),
    "collect": (_collect, True), "end_compile": (_end, True),
    "read_and_emit": (_found, False),
}


def _chain(bundler: ModuleType, name: str) -> None:
    ours, is_first = _CALLS[name]
    theirs = getattr(bundler.TritonBundler, name)

    def call(*told: Any, **more: Any) -> Any:
        if is_first:
            guarded("artifacts", lambda: ours(bundler, *told, **more), None)
        result = theirs(*told, **more)
        if not is_first:
            guarded("artifacts", lambda: ours(bundler, *told, **more), None)
        return result

    setattr(bundler.TritonBundler, name, staticmethod(call))


def _hook_bundler(bundler: ModuleType) -> None:
    for name in _CALLS:
        if hasattr(bundler.TritonBundler, name):
            _chain(bundler, name)


# The artifacts.


def _modules_of(root: str) -> List[Tuple[str, int]]:
    """Entries outside any compile: those that Triton made to launch kernels."""
    folders = [(root, 0)]
    devices = os.path.join(root, "triton")
    if os.path.isdir(devices):
        folders = [(os.path.join(devices, one), int(one))
                   for one in os.listdir(devices) if one.isdigit()]
    return [(key, device) for folder, device in folders if os.path.isdir(folder)
            for key in os.listdir(folder)
            if os.path.isdir(os.path.join(folder, key)) and any(
                name.endswith(".so")
                for name in os.listdir(os.path.join(folder, key)))]


def _of_triton() -> Optional[_Compile]:
    """Kernels that the program compiled without Inductor."""
    noted = set(_specialisations.noted()) - _packed
    root = triton_root() if noted else ""
    keys = [key for key in sorted(noted)
            if os.path.isdir(os.path.join(root, key))]
    if not keys:
        return None
    _packed.update(keys)
    compile_ = _Compile(root)
    for key in keys:
        compile_.put(key, 0)
    return compile_


def _record(manager: Any, kind: str, compile_: _Compile) -> None:
    for key, device in _modules_of(compile_.root):
        compile_.recording.put(key, device)
    report, packed = compile_.pack()
    manager.record_artifact(TYPE, f"{kind}/{report.id}", packed)


def _record_all(manager: Any) -> None:
    with _lock:
        done = list(_done)
        _done.clear()
    for one in done:
        guarded("artifacts",
                functools.partial(_record, manager, "inductor", one), None)
    plain = _of_triton()
    if plain is not None:
        _record(manager, "triton", plain)


def _populate(key: str, content: bytes) -> None:
    bundler = importlib.import_module("torch._inductor.triton_bundler")
    is_plain = key.startswith("triton/")
    _memory.emit(content, triton_root() if is_plain else
                 inductor_root(bundler))


def _register(cache: ModuleType) -> None:
    base: Any = cache.CacheArtifact

    class KernelsArtifact(base):  # type: ignore[misc]
        """A bundle of kernels."""

        def populate_cache(self) -> None:
            guarded("artifacts", lambda: _populate(self.key, self.content),
                    None)

        @staticmethod
        def type() -> str:
            return TYPE

    cache.CacheArtifactFactory.register(KernelsArtifact)
    manager = cache.CacheArtifactManager
    serialize = manager.serialize

    def call() -> Any:
        guarded("artifacts", lambda: _record_all(manager), None)
        return serialize()

    manager.serialize = staticmethod(call)


def install() -> None:
    """Add kernels to artifacts, now or when PyTorch is imported."""
    _imports.when_there("torch.compiler._cache", _register)
    _imports.when_there("torch._inductor.triton_bundler", _hook_bundler)
    _specialisations.listen()
