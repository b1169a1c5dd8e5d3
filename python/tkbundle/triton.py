# SPDX-License-Identifier: Apache-2.0
"""Triton's cache, shared: no change to the program.

    TRITON_CACHE_MANAGER=tkbundle.triton:CacheManager
    TKBUNDLE_REMOTE=redis://cache TKBUNDLE_REF=my-model/v1

For Triton 3.0 and newer. The first look-up pulls the ref into the cache root,
and waits at most TKBUNDLE_WAIT. Compiled kernels are pushed after a quiet time,
and at exit.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import threading
import time
import uuid
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Union

from tkbundle import _guard, _share, _specialisations

_cache: Any = importlib.import_module("triton.runtime.cache")

ALONE = (".so", ".autotune.json")  # such files are entries without a group


class Report(NamedTuple):
    """Statistics of this process's look-ups."""

    found: int
    compiled: int
    loaded: int  #: loaded onto a GPU; 0 before Triton 3.5, which does not report this
    seconds: float  #: time spent on compiling, summed over threads


class _State:
    """The state that all managers of this process share."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.shares: Dict[str, _share.Share] = {}
        self.found = self.compiled = 0
        self.seconds = 0.0
        self.loaded: Dict[str, None] = {}

    def share(self, root: str) -> _share.Share:
        """The share of `root`, after waiting for its pull."""
        with self.lock:
            share = self.shares.get(root)
            if share is None:
                if not self.shares:
                    _guard.guarded("hooks", self._begin, None)
                share = self.shares[root] = _share.Share(
                    root, pull_words=["--layout", "triton"])
        share.ready()
        return share

    def _begin(self) -> None:
        _share.at_end(self.finish)
        knobs = getattr(sys.modules.get("triton"), "knobs", None)
        runtime = getattr(knobs, "runtime", None)
        hook = getattr(runtime, "kernel_load_end_hook", None)
        if hook is not None and hasattr(hook, "add"):
            hook.add(self.note_load)

    def note_load(self, *told: Any, **_more: Any) -> None:
        """Called when a kernel was loaded onto a GPU; its hash is the last
        argument."""
        self.loaded[str(told[-1] if told else "")] = None

    def finish(self, begun: float) -> None:
        _share.finish_all(list(self.shares.values()), begun)

    def after_fork(self) -> None:
        self.lock = threading.Lock()
        self.found = self.compiled = 0
        self.seconds = 0.0
        self.loaded = {}


_state = _State()
os.register_at_fork(after_in_child=_state.after_fork)


def report() -> Report:
    """Statistics of what this process found, compiled and loaded so far."""
    return Report(_state.found, _state.compiled, len(_state.loaded),
                  _state.seconds)


def _root() -> str:
    """The cache root of this version of Triton; an empty variable is none."""
    knobs = getattr(sys.modules["triton"], "knobs", None)
    if knobs is not None:
        root = knobs.cache.dir or knobs.cache.get_triton_dir("cache")
    else:
        root = os.getenv("TRITON_CACHE_DIR", "").strip() or \
            _cache.default_cache_dir()
    return os.path.abspath(str(root))


class CacheManager(_cache.FileCacheManager):  # type: ignore[misc]
    """One key of the cache. A look-up never makes a folder, and never fails."""

    def __init__(self, key: str, override: bool = False,
                 dump: bool = False) -> None:
        self._share: Optional[_share.Share] = None
        self._begun = 0.0
        self._is_stock = override or dump
        if self._is_stock:
            super().__init__(key, override=override, dump=dump)
            return
        self.key = key
        root = meant = _root()
        self._share = _guard.guarded("cache", lambda: _state.share(root), None)
        if self._share is not None:
            root = self._share.root or meant
        self.cache_dir = os.path.join(root, key)
        self.lock_path = os.path.join(self.cache_dir, "lock")
        self._folders = [self.cache_dir]
        if root != meant:
            self._folders.append(os.path.join(meant, key))

    def get_file(self, filename: str) -> Optional[str]:
        if self._is_stock:
            return super().get_file(filename)  # type: ignore[no-any-return]
        for folder in self._folders:
            path = os.path.join(folder, filename)
            if os.path.exists(path):
                if filename.endswith(ALONE):
                    self._note_use()
                return path
        return None

    def get_group(self, filename: str) -> Optional[Dict[str, str]]:
        if self._is_stock:
            return super().get_group(filename)  # type: ignore[no-any-return]
        _specialisations.note_caller(self.key)
        for folder in self._folders:
            with contextlib.suppress(Exception):
                group = _read_group(folder, filename)
                self._note_use()
                _state.found += 1
                return group
        self._begun = time.perf_counter()
        return None

    def put(self, data: Union[bytes, str], filename: str,
            binary: bool = True) -> str:
        if self._is_stock:
            return super().put(data, filename, binary)  # type: ignore
        path = os.path.join(self.cache_dir, filename)
        content = data if isinstance(data, bytes) else str(data).encode()
        with _private(self.cache_dir) as place:
            staged = os.path.join(place, filename)
            with open(staged, "wb") as file:
                file.write(content)
            os.replace(staged, path)
        if filename.endswith(ALONE):
            _guard.guarded("push", self._note, None)
        return path

    def put_group(self, filename: str, group: Dict[str, str]) -> str:
        path: str = super().put_group(filename, group)
        if not self._is_stock:
            _state.compiled += 1
            if self._begun:
                _state.seconds += time.perf_counter() - self._begun
            _guard.guarded("push", self._note, None)
        return path

    def _note(self) -> None:
        if self._share is not None:
            self._share.note(self.key)

    def _note_use(self) -> None:
        share = self._share
        if share is not None:
            _guard.guarded("push", lambda: share.use(self.key), None)


def _read_group(folder: str, filename: str) -> Dict[str, str]:
    """The files of a complete entry; raises if one is missing or incomplete."""
    with open(os.path.join(folder, f"__grp__{filename}"), "rb") as file:
        recorded = json.load(file)["child_paths"].items()
    group: Dict[str, str] = {}
    for name, place in recorded:
        here = os.path.join(folder, name)
        path = here if os.path.exists(here) else place
        os.stat(path)
        group[name] = path
    with open(group[filename], "rb") as file:
        json.load(file)
    return group


@contextlib.contextmanager
def _private(folder: str) -> Iterator[str]:
    """A folder of this process; files written there appear complete in
    `folder`."""
    place = os.path.join(folder, f"tmp.pid_{os.getpid()}_{uuid.uuid4()}")
    os.makedirs(place, exist_ok=True)
    try:
        yield place
    finally:
        left: List[str] = []
        with contextlib.suppress(OSError):
            left = os.listdir(place)
        for name in left:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(place, name))
        with contextlib.suppress(OSError):
            os.rmdir(place)
