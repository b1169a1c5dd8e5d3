# SPDX-License-Identifier: Apache-2.0
"""Bundles in memory: a process that ends by os._exit leaves no files."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import tempfile
from typing import Any, Iterator, Tuple

from tkbundle import _calls, _errors, _leftovers, _native

#: A folder where files are ten times cheaper than on a disk.
PLACE = "/dev/shm"
PREFIX = "tkbundle-moment-"
AGE_S = 60  # age at which a leftover folder is removed; it is in use for milliseconds


@contextlib.contextmanager
def _room() -> Iterator[_native.Memory]:
    """Memory for bytes from the library."""
    room = _native.Memory()
    try:
        yield room
    finally:
        _native.library().tkb_memory_release(ctypes.byref(room))


def _sink(room: _native.Memory) -> Any:
    """A sink that appends to `room`, which must outlive it."""
    return ctypes.byref(_native.library().tkb_memory_sink(ctypes.byref(room)))


def _taken(room: _native.Memory) -> bytes:
    return ctypes.string_at(room.data, room.size) if room.size else b""


def _as_bytes(data: bytes) -> _native.Bytes:
    """`data` as a C struct, which borrows it."""
    return _native.Bytes(
        ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data))


def record(recording: _calls.Recording) -> Tuple[_calls.CollectReport, bytes]:
    """Like Recording.collect(), but if something is left out, pack the rest."""
    results = _calls.Results()
    root = recording.root()
    with recording.begun() as recorder, _room() as room:
        try:
            report = _calls.call(
                _calls.CollectReport, _native.sized(_native.CollectReport),
                f"there is no cache at '{os.fsdecode(root)}'", results,
                _native.library().tkb_recorder_collect, recorder, root,
                ctypes.byref(_calls.collect_options(results)), _sink(room))
        except _errors.Partial as error:
            report = error.report
        return report, _taken(room)


def _open(data: bytes) -> ctypes.c_void_p:
    """Open a bundle, which the caller closes; `data` must outlive it."""
    bundle = ctypes.c_void_p()
    _calls.check(_native.library().tkb_bundle_open_memory, _as_bytes(data),
                 b"the bundle", ctypes.byref(bundle))
    return bundle


def emit(data: bytes, root: _calls.Path) -> _calls.EmitReport:
    """Put the entries of the bundle `data` into the cache `root`."""
    return _calls.emit_opened(_open(data), root)


def pack(tree: str, name: str, value: bytes) -> bytes:
    """A bundle with a single unit, which is a file. It is written to a folder
    to be packed."""
    if os.access(PLACE, os.W_OK):
        try:
            return _pack(PLACE, tree, name, value)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
    return _pack(tempfile.gettempdir(), tree, name, value)


def _pack(place: str, tree: str, name: str, value: bytes) -> bytes:
    results = _calls.Results()
    with _leftovers.folder(place, PREFIX, AGE_S) as root, _room() as room:
        folder = os.path.join(root, tree)
        for path in (folder, os.path.join(root, "kernels")):
            os.mkdir(path)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(value)
        _calls.call(
            _calls.CollectReport, _native.sized(_native.CollectReport), "",
            results, _native.library().tkb_collect,
            os.fsencode(os.path.join(root, "kernels")),
            ctypes.byref(_calls.collect_options(
                results, jobs=1, trees={tree: folder})), _sink(room))
        return _taken(room)


def unpack(data: bytes) -> bytes:
    """The contents of that file."""
    library, bundle = _native.library(), _open(data)
    with _room() as room:
        try:
            if library.tkb_bundle_entry_count(bundle) != 1:
                raise _errors.Corrupt("the bundle is none of one value",
                                      "corrupt")
            _calls.check(library.tkb_bundle_read, bundle, 0, 0, _sink(room))
            return _taken(room)
        finally:
            library.tkb_bundle_close(bundle)


def push(remote: ctypes.c_void_p, name: str, data: bytes,
         seconds: float) -> None:
    """Add the bundle `data` to the ref `name`."""
    results = _calls.Results()
    held = _as_bytes(data)
    source = _native.library().tkb_memory_source(ctypes.byref(held))
    choices = _native.sized(
        _native.PushOptions, is_compaction_off=True, collect=ctypes.pointer(
            _calls.collect_options(results, jobs=1, deadline=seconds)))
    _calls.call(
        _calls.PushReport, _native.sized(_native.PushReport), "", results,
        _native.remote_library().tkb_push_bundle, remote, name.encode(),
        ctypes.byref(source), ctypes.byref(choices))


def pull(remote: ctypes.c_void_p, name: str, seconds: float) -> bytes:
    """The contents of the ref `name`, as one bundle."""
    results = _calls.Results()
    choices = _native.sized(
        _native.PullOptions, connections=1, emit=ctypes.pointer(
            _calls.emit_options(results, jobs=1, deadline=seconds)))
    with _room() as room:
        _calls.call(
            _calls.PullReport, _native.sized(_native.PullReport),
            f"ref '{name}' has no record", results,
            _native.remote_library().tkb_pull_bundle, remote, name.encode(),
            ctypes.byref(choices), _sink(room))
        return _taken(room)
