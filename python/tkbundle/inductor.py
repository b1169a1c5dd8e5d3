# SPDX-License-Identifier: Apache-2.0
"""Inductor's remote caches, on any remote of tkbundle.

    import tkbundle.inductor

    tkbundle.inductor.install()      # before or after `import torch`

For PyTorch 2.6 and newer. FX graphs, AOTAutograd's results and autotuning
results are stored in the remote and loaded from it, as Inductor's own backend
does with Redis. A backend that is already installed is kept, and so are the
settings of the program and its environment.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
import threading
from types import ModuleType
from typing import Any, Dict, Optional, Tuple, Union

from tkbundle import (_artifacts, _calls, _errors, _guard, _imports, _native,
                      _program, _share, _values)

TUNED = "torch._inductor.config.bundled_autotune_remote_cache"

#: Each remote cache of Inductor: its class, the start of its names in our remotes,
#: and the setting that turns it on. The two caches of tuned kernels are not turned
#: on here: with the first, PyTorch fails on a machine without a GPU; the second is
#: used by Inductor's workers, where install() was not called.
CACHES: Tuple[Tuple[str, str, str], ...] = (
    ("RemoteFxGraphCache", "fx-graph",
     "torch._inductor.config.fx_graph_remote_cache"),
    ("RemoteAOTAutogradCache", "aot-autograd",
     "torch._functorch.config.enable_remote_autograd_cache"),
    ("RemoteBundledAutotuneCache", "bundled-autotune", ""),
    ("RemoteDynamoPGOCache", "pgo",
     "torch._dynamo.config.automatic_dynamic_remote_pgo"),
    ("RemoteAutotuneCache", "autotune", ""),
)

_lock = threading.Lock()
_values_of: Dict[str, _values.Values] = {}


def _name(kind: str, key: str) -> str:
    """The ref for a key; a key may have any characters."""
    return f"torch/{kind}/{hashlib.sha256(key.encode()).hexdigest()}"


def _is_value(data: Optional[bytes]) -> bool:
    """These caches store JSON; anything else would raise an exception."""
    try:
        json.loads(data or b"")
        return True
    except (ValueError, RecursionError):
        return False


def _backend(base: Any, values: _values.Values, kind: str) -> Any:
    class Backend(base):  # type: ignore[misc]
        """One of Inductor's remote caches, with the interface that Inductor
        expects."""

        def _get(self, key: str) -> Optional[bytes]:
            _turn_on_tuned()
            data = values.get(_name(kind, key))
            return data if _is_value(data) else None

        def _put(self, key: str, data: bytes) -> None:
            values.put(_name(kind, key), bytes(data))

    return Backend


def _hook(module: ModuleType, values: _values.Values) -> None:
    for name, kind, setting in CACHES:
        cache = getattr(module, name, None)
        if cache is None or not hasattr(cache, "backend_override_cls"):
            _guard.warn("hooks", "this PyTorch lacks remote caches with a backend "
                        "that can be chosen: 2.6 and newer have them")
        elif cache.backend_override_cls is None:
            cache.backend_override_cls = _backend(
                module.RemoteCacheBackend, values, kind)
            if setting:
                _turn_on(setting)


def _turn_on(setting: str) -> None:
    """Change the setting, now or once that is possible, unless others have
    changed it."""
    place, _, member = setting.rpartition(".")

    def turn_on(config: ModuleType) -> None:
        if getattr(config, member, True) is None:
            setattr(config, member, True)

    _imports.when_there(place, turn_on)


@functools.lru_cache(maxsize=None)
def _turn_on_tuned() -> None:
    """Turn on the cache of tuned kernels if Triton has a GPU. This is called
    during a compile: Inductor itself also asks for the GPU, and remembers the
    answer."""
    def ask() -> None:
        cache = importlib.import_module(
            "torch._inductor.runtime.autotune_cache")
        if cache.inductor_meta_from_config()["backend_hash"] is not None:
            _turn_on(TUNED)

    _guard.guarded("hooks", ask, None)


def _is_named(remote: Optional[str], told: Dict[str, Any]) -> Optional[bool]:
    """Is there a remote, given or configured? Asking takes `wait` at most. None:
    it is not known; the first request asks again."""
    settings = _program.first_settings()._replace(**_program.given(**told))
    seconds = min(settings.wait, _program.ASK_S)

    def ask() -> Optional[bool]:
        try:
            return bool(_program.remote(seconds))
        except _errors.Cancelled:
            return None

    return bool(remote) or _guard.guarded("remote cache", ask, None)


def _put_behind(remote: Optional[str], told: Dict[str, Any]) -> None:
    with _lock:
        if "inductor" in _values_of:
            return
        values = _values_of["inductor"] = _values.Values(remote, **told)
    _share.at_end(values.finish)
    _imports.when_there("torch._inductor.remote_cache",
                        lambda module: _hook(module, values))


def install_where_named(remote: Optional[str], told: Dict[str, Any]) -> None:
    """The same as install(), unless no remote is given or configured."""
    if _is_named(remote, told) is not False:
        _put_behind(remote, told)


def install(remote: Optional[str] = None, *, wait: Optional[float] = None,
            deadline: Optional[float] = None,
            push: Union[None, str, bool] = None,
            artifacts: bool = False) -> None:
    """Put our backend behind Inductor's remote caches, once.

    By default, `remote` is the configured one; the other arguments are those of
    tkbundle.warm(). With `artifacts`, torch.compiler.save_cache_artifacts()
    includes kernels. A program that loads such artifacts must have called this,
    too: if PyTorch does not know the type of an artifact, it drops all
    artifacts. Without a remote, it warns once. Never raises, and does not
    import PyTorch.
    """
    told = {"wait": wait, "deadline": deadline, "push": push}
    if artifacts:
        _take_artifacts()
    if "inductor" in _values_of:
        return
    if artifacts or not _native.is_disabled():
        is_named = _is_named(remote, told)
        if is_named is False and artifacts:
            return
        if is_named is False:
            _guard.warn("remote cache", _calls.NO_REMOTE)
    _put_behind(remote, told)


@functools.lru_cache(maxsize=None)
def _take_artifacts() -> None:
    _guard.guarded("artifacts", _artifacts.install, None)


def report() -> _values.Counts:
    """Numbers of requests to the remote so far, and the time they took."""
    values = _values_of.get("inductor")
    return values.counts() if values else _values.Counts(0, 0, 0, 0.0)
