# SPDX-License-Identifier: Apache-2.0
"""A block of a program that starts warm, and shares what it compiles."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
from typing import Any, Dict, Iterator, NamedTuple, Optional, Set, Union

from tkbundle import _share, _specialisations, inductor
from tkbundle._guard import guarded

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

# Names of folders in Triton's caches, as the library has them.
KEY = re.compile("[0-9a-f]{32}|[0-9a-f]{64}|[0-9A-Za-z_-]{43}|[A-Z2-7]{52}")
GROUP = "__grp__"
ALONE = (".so", ".autotune.json")


def _root() -> str:
    """The cache root that Triton uses, as it says itself if it was imported:
    versions differ in what they know."""
    knobs = sys.modules.get("triton.knobs")
    if knobs is not None:
        return str(knobs.cache.dir)
    told = os.environ.get("TRITON_CACHE_DIR", "").strip()
    if told:
        return told
    cache = sys.modules.get("triton.runtime.cache")
    if cache is not None:
        return str(cache.default_cache_dir())
    home = os.environ.get("TRITON_HOME") or os.path.expanduser("~")
    return os.path.join(home, ".triton", "cache")


def _finished(folder: str) -> bool:
    if KEY.fullmatch(os.path.basename(folder)) is None:
        return False
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return any(name.startswith(GROUP) or name.endswith(ALONE)
               for name in names)


def _folders(root: Optional[str]) -> Set[str]:
    """All that is in `root`, by its path. None is looked into: there may be
    thousands, and the file system may be a slow one."""
    if root is None:
        return set()
    roots = [root]
    with contextlib.suppress(OSError):
        devices = os.path.join(root, "triton")
        roots += [os.path.join(devices, one) for one in os.listdir(devices)]
    found = set()
    for folder in roots:
        with contextlib.suppress(OSError):
            found |= {os.path.join(folder, one) for one in os.listdir(folder)}
    return found


class _Before(NamedTuple):
    """What there was before a block."""

    paths: Set[str]  #: in its root
    noted: Set[str]  #: keys of kernels that this process compiled or found


def _pull(share: _share.Share, engine: Optional[str],
          told: Dict[str, Any]) -> _Before:
    _specialisations.listen()
    share.begin()
    if engine == "torch":
        inductor.install_where_named(share.remote, told)
    share.ready()
    return _Before(_folders(share.root), set(_specialisations.noted()))


def _push(share: _share.Share, before: _Before) -> None:
    """Push what is new, and what Triton found; all if the root is that of an
    engine, which is unknown here."""
    if share.meant is None:
        share.push_now(None)
        return
    noted = set(_specialisations.noted()) - before.noted
    paths = _folders(share.root)
    new = {os.path.basename(path) for path in paths - before.paths
           if _finished(path)}
    used = {os.path.basename(path) for path in paths & before.paths
            if os.path.basename(path) in noted and _finished(path)}
    if new or (share.is_empty and used):
        share.push_now(sorted(new | used))


def _path(root: Any) -> str:
    path = os.fsdecode(root)
    if "\0" in path:
        raise ValueError(f"{path!r} has a zero in it")
    return path


def _share_of(ref: str, root: Any, remote: Any,
              engine: Optional[str], told: Dict[str, Any]) -> _share.Share:
    if root is None and engine is None:
        root = _root()
    # Nothing reads a substitute for the root.
    return _share.Share(
        None if root is None else _path(root), ref,
        None if remote is None else os.fsdecode(remote),
        ["--engine", engine] if engine else [], is_replaceable=False, **told)


@contextlib.contextmanager
def warm(ref: str, root: Optional[Path] = None, *,
         remote: Union[None, str, "os.PathLike[str]"] = None,
         engine: Optional[str] = None,
         wait: Optional[float] = None, deadline: Optional[float] = None,
         push: Union[None, str, bool] = None) -> Iterator[None]:
    """Pull `ref`, run the block, push what it compiled; with `engine`, all of
    the engine's caches that the ref lacks.

    Missing arguments are taken from the configuration, as in `tkbundle run`:
    the remote, how long the block may wait for the pull, when pull and push
    give up (both in seconds, a day at most), and whether to push ("always",
    "on-exit" or "never"). Without `root`, the cache is that of `engine`; without
    an engine, torch's if torch was imported, else Triton's. For torch's cache,
    Inductor's remote caches are also installed. Never raises by itself:
    arguments that make no sense are a warning.
    """
    told = {"wait": wait, "deadline": deadline, "push": push}
    if root is None and engine is None and "torch" in sys.modules:
        engine = "torch"
    share = guarded("warm", lambda: _share_of(ref, root, remote, engine, told),
                    None)
    before: Optional[_Before] = None
    try:
        if share is not None:
            before = guarded("pull", lambda: _pull(share, engine, told), None)
        yield
    finally:
        if share is not None:
            try:
                if before is not None:
                    guarded("push", functools.partial(_push, share, before), None)
            finally:
                share.finish()
