# SPDX-License-Identifier: Apache-2.0
"""Specialisations: the inputs of each kernel's compile, recorded once.

    note_caller(key)                     # by triton.compile(): hit or miss
    with written(keys) as words:         # beside the compiling thread
        ...                              # words of `tkbundle push`

docs/format.md describes the file. Noting a compile costs one entry of a
dictionary. Values that JSON cannot represent are left out when the file is
written.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import importlib
import json
import os
import sys
import tempfile
from typing import (Any, Callable, Dict, Iterable, Iterator, List, Optional,
                    Tuple)

from tkbundle import _imports, _leftovers

TREE = "specialisations"
FRAMES = 6  # frames between us and compile(), if there are other listeners
LIMIT = 100_000
PREFIX = "tkbundle-push-"
AGE_S = 2 * 86400  # a push takes a day at most
GLUON = "triton.experimental.gluon.language."

_Noted = Tuple[Any, Any, Any]  # source, options, target
_noted: Dict[str, _Noted] = {}


def noted() -> List[str]:
    """The keys of all kernels so far."""
    return list(_noted)


def note(src: Any, options: Any, target: Any, key: str) -> None:
    """A kernel was compiled, or found in the cache."""
    if len(_noted) < LIMIT and hasattr(src, "fn"):
        _noted[key] = src, options, target


def note_caller(key: str) -> None:
    """The same, but read from the frame of triton.compile(): all versions have
    these three local variables, and no hook gets all three."""
    frame = sys._getframe(1)
    for _ in range(FRAMES):
        if frame is None:
            return
        if frame.f_code.co_name == "compile":
            found = frame.f_locals
            if "src" in found and "options" in found and "target" in found:
                note(found["src"], found["options"], found["target"], key)
                return
        frame = frame.f_back  # type: ignore[assignment]


def listener(before: Optional[Callable[..., None]],
             key_of: Callable[[str], str]) -> Callable[..., None]:
    """A listener for `knobs.compilation.listener`, which also calls `before`,
    the one it replaces."""
    def listen(**told: Any) -> None:
        if before is not None:
            before(**told)
        with contextlib.suppress(Exception):
            note_caller(key_of(told["metadata"]["hash"]))

    return listen


_ours: Optional[Callable[..., None]] = None


def _listen_to(knobs: Any) -> None:
    global _ours
    compilation = getattr(knobs, "compilation", None)
    if compilation is None or not hasattr(compilation, "listener"):
        return
    if _ours is None or compilation.listener is not _ours:
        _ours = compilation.listener = listener(compilation.listener, key_of)


def listen() -> None:
    """Note all compiles, even without our cache manager. Installs a listener,
    now or when Triton is imported, and again if another one took its place.
    Triton 3.4 and newer have a hook for that; a listener that is already
    installed is still called, first."""
    _imports.when_there("triton.knobs", _listen_to)


def key_of(digest: str) -> str:
    """The name of a kernel's folder, in Triton 3.3 and newer."""
    return base64.b32encode(bytes.fromhex(digest)).decode().rstrip("=")


def _function(fn: Any) -> str:
    plain = getattr(fn, "fn", fn)
    return f"{plain.__module__}:{plain.__qualname__}"


def _plain(value: Any) -> Any:
    """The JSON of a value; raises if there is none."""
    kind = type(value).__name__
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"namedtuple": [_function(type(value)),
                               [_plain(one) for one in value]]}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted(_plain(one) for one in value)
    if isinstance(value, dict):
        return [[_plain(name), _plain(one)]
                for name, one in value.items()]
    if kind == "dtype":
        return {"dtype": str(value)}
    if kind == "constexpr":
        return {"constexpr": _plain(value.value)}
    if kind in ("JITFunction", "GluonJITFunction"):
        return {"function": _function(value)}
    if type(value).__module__.startswith(GLUON):
        return {"layout": repr(value)}
    if kind == "AttrsDescriptor":
        told = value.to_dict() if hasattr(value, "to_dict") else vars(value)
        return _plain(told)
    raise TypeError(f"a {kind} is no constant that can be written")


def _chosen(options: Any, target: Any) -> Dict[str, Any]:
    """The options that differ from Triton's defaults for this target. Libraries
    are left out: their paths depend on the installation."""
    compiler = importlib.import_module("triton.compiler.compiler")
    usual = vars(compiler.make_backend(target).parse_options({}))
    return {name: _plain(value) for name, value in vars(options).items()
            if name not in usual or usual[name] != value}


def describe(key: str, noted: _Noted) -> bytes:
    """The contents of a kernel's file."""
    src, options, target = noted
    return json.dumps({
        "attrs": _plain(src.attrs), "constants": _plain(src.constants),
        "format": "tkbundle-specialisation", "function": _function(src.fn),
        "key": key, "options": _chosen(options, target),
        "signature": _plain(src.signature), "source": src.fn.cache_key,
        "target": [target.backend, str(target.arch), target.warp_size],
        "triton": sys.modules["triton"].__version__, "version": 1,
    }, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _write(folder: str, keys: Iterable[str]) -> Iterator[str]:
    """Write files for those of `keys` that were noted; returns the keys of the
    units."""
    for key in keys:
        with contextlib.suppress(KeyError, TypeError, ValueError,
                                 AttributeError):
            text = describe(key, _noted[key])
            with open(os.path.join(folder, f"{key}.json"), "wb") as file:
                file.write(text)
            yield hashlib.sha256(f"{TREE}\0{key}.json".encode()).hexdigest()


@contextlib.contextmanager
def written(keys: Optional[Iterable[str]]) -> Iterator[List[str]]:
    """The options that make a push of these kernels, or of all, include their
    specialisations."""
    with _leftovers.folder(tempfile.gettempdir(), PREFIX, AGE_S) as folder:
        units = list(_write(folder, list(_noted) if keys is None else keys))
        named = [] if keys is None else [f"--key={unit}" for unit in units]
        yield ["--tree", f"{TREE}={folder}", *named] if units else []
