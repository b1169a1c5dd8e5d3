# SPDX-License-Identifier: Apache-2.0
"""The libraries, as their headers declare them.

tests/python/layout.py compares every struct and number here with the headers.
"""

from __future__ import annotations

import ctypes
import functools
import os
from ctypes import (POINTER, Structure, c_bool, c_char_p, c_int, c_int32,
                    c_size_t, c_uint32, c_uint64, c_void_p)
from typing import (Any, Dict, Iterator, List, Mapping, Tuple, Type,
                    TypeVar)

from tkbundle import _errors

MISS, PARTIAL, LEFT_OUT = 1, -11, -8
RESERVE = 64  # bytes for members that a newer library may add to a struct
PROFILES = {"full": 0, "lean": 1}
LAYOUTS = {"auto": 0, "triton": 1, "inductor": 2}
NEEDS = {"all": 0, "any": 1}


class Error(Structure):
    _fields_ = [("status", c_int32), ("reason", c_int32),
                ("message", ctypes.c_char * 512)]


class Bytes(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class Memory(Structure):
    """Memory that the library owns and grows."""

    _fields_ = [("data", c_void_p), ("size", c_size_t),
                ("capacity", c_size_t), ("limit", c_size_t)]


class Sink(Structure):
    _fields_ = [("write", c_void_p), ("self", c_void_p)]


class Source(Structure):
    _fields_ = [("read_at", c_void_p), ("self", c_void_p)]


class Digest(Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 32)]


class Result(Structure):
    _fields_ = [("root", c_char_p), ("key", c_char_p), ("name", c_char_p),
                ("is_launcher", c_bool), ("outcome", c_int),
                ("reason", c_int), ("message", c_char_p)]


class Tree(Structure):
    _fields_ = [("name", c_char_p), ("path", c_char_p), ("rules", c_void_p),
                ("is_external", c_bool), ("is_in_names", c_bool)]


#: on_record() and on_unread() of a record's visitor.
ON_RECORD = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Digest), Bytes,
                             c_uint64, POINTER(Error))
ON_UNREAD = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Digest),
                             POINTER(Error), POINTER(Error))


class RecordVisitor(Structure):
    _fields_ = [("on_record", ON_RECORD), ("self", c_void_p),
                ("on_unread", ON_UNREAD), ("wants", c_void_p)]


class CollectOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("keys", POINTER(c_char_p)),
                ("key_count", c_size_t), ("has_device", c_bool),
                ("device", c_uint32), ("profile", c_int),
                ("is_kernels_only", c_bool), ("is_stripped", c_bool),
                ("is_strict", c_bool), ("is_dry_run", c_bool),
                ("threads", c_uint32), ("deadline_ms", c_uint32),
                ("is_enabled", c_bool), ("watch", c_void_p),
                ("trees", POINTER(Tree)), ("tree_count", c_size_t),
                ("settle_ms", c_uint32), ("level", c_int32)]


class CollectReport(Structure):
    _fields_ = [("struct_size", c_size_t), ("id", Digest),
                ("is_inductor", c_bool), ("collected_count", c_uint64),
                ("left_out_count", c_uint64), ("unfinished_count", c_uint64),
                ("stray_count", c_uint64), ("moved_count", c_uint64),
                ("launcher_count", c_uint64), ("dropped_count", c_uint64),
                ("file_count", c_uint64), ("size", c_uint64),
                ("bundle_size", c_uint64)]


class EmitOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("keys", POINTER(c_char_p)),
                ("key_count", c_size_t), ("devices", POINTER(c_uint32)),
                ("device_count", c_size_t), ("targets", c_void_p),
                ("target_count", c_size_t), ("layout", c_int),
                ("is_synced", c_bool), ("is_dry_run", c_bool),
                ("threads", c_uint32), ("deadline_ms", c_uint32),
                ("is_enabled", c_bool), ("watch", c_void_p),
                ("trees", POINTER(Tree)), ("tree_count", c_size_t),
                ("staged_in", c_char_p), ("is_layout_ignored", c_bool)]


_EMIT_COUNTS: List[Tuple[str, Any]] = [
    ("is_inductor", c_bool), ("emitted_count", c_uint64),
    ("present_count", c_uint64), ("repaired_count", c_uint64),
    ("busy_count", c_uint64), ("skipped_count", c_uint64),
    ("failed_count", c_uint64), ("damaged_count", c_uint64),
    ("unsafe_count", c_uint64), ("size", c_uint64)]


class EmitReport(Structure):
    _fields_ = [("struct_size", c_size_t), *_EMIT_COUNTS]


class RemoteOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("timeout_ms", c_uint32),
                ("connect_timeout_ms", c_uint32),
                ("stall_timeout_ms", c_uint32), ("max_blob_size", c_uint64),
                ("max_record_size", c_uint64), ("watch", c_void_p),
                ("backends", c_void_p), ("backend_count", c_size_t),
                ("fallback_cafile", c_char_p)]


class PullOptions(Structure):
    _fields_ = [("struct_size", c_size_t), ("emit", POINTER(EmitOptions)),
                ("connections", c_uint32)]


class PullReport(Structure):
    _fields_ = [("struct_size", c_size_t), *_EMIT_COUNTS,
                ("record_count", c_uint64), ("unreadable_count", c_uint64),
                ("wanted_count", c_uint64), ("fetched_count", c_uint64),
                ("fetched_size", c_uint64), ("gone_count", c_uint64),
                ("unfetched_count", c_uint64)]


class PushOptions(Structure):
    _fields_ = [("struct_size", c_size_t),
                ("collect", POINTER(CollectOptions)), ("layout", c_int),
                ("is_compaction_off", c_bool)]


class PushReport(Structure):
    _fields_ = [("struct_size", c_size_t), ("pushed_count", c_uint64),
                ("present_count", c_uint64), ("left_out_count", c_uint64),
                ("record_count", c_uint64), ("dropped_count", c_uint64),
                ("compacted_count", c_uint64), ("blob_count", c_uint64),
                ("size", c_uint64)]


class LauncherSpec(Structure):
    _fields_ = [("struct_size", c_size_t), ("cache_key", c_char_p),
                ("name", c_char_p), ("payload", Bytes), ("need", c_int),
                ("needs", POINTER(c_char_p)), ("need_count", c_size_t)]


#: The name of each struct in the headers.
STRUCTS: Dict[str, Type[Structure]] = {
    "tkb_error": Error, "tkb_bytes": Bytes, "tkb_digest": Digest,
    "tkb_result": Result, "tkb_collect_options": CollectOptions,
    "tkb_collect_report": CollectReport, "tkb_emit_options": EmitOptions,
    "tkb_emit_report": EmitReport, "tkb_pull_options": PullOptions,
    "tkb_remote_options": RemoteOptions, "tkb_pull_report": PullReport,
    "tkb_push_options": PushOptions,
    "tkb_push_report": PushReport, "tkb_launcher_spec": LauncherSpec,
    "tkb_tree": Tree, "tkb_record_visitor": RecordVisitor,
    "tkb_memory": Memory, "tkb_sink": Sink, "tkb_source": Source,
}

#: The name of each number in the headers.
NUMBERS: Dict[str, int] = {
    "TKB_MISS": MISS, "TKB_ERR_PARTIAL": PARTIAL,
    "TKB_ERR_LEFT_OUT": LEFT_OUT,
    "TKB_PROFILE_FULL": PROFILES["full"], "TKB_PROFILE_LEAN": PROFILES["lean"],
    "TKB_LAYOUT_AUTO": LAYOUTS["auto"], "TKB_LAYOUT_TRITON": LAYOUTS["triton"],
    "TKB_LAYOUT_INDUCTOR": LAYOUTS["inductor"],
    "TKB_NEED_ALL": NEEDS["all"], "TKB_NEED_ANY": NEEDS["any"],
}

_ERR, _OUT = POINTER(Error), POINTER(c_void_p)

#: Result and parameters of each function.
FUNCTIONS: Dict[str, Tuple[Any, ...]] = {
    "tkb_version": (c_char_p,),
    "tkb_status_name": (c_char_p, c_int),
    "tkb_reason_name": (c_char_p, c_int),
    "tkb_outcome_name": (c_char_p, c_int),
    "tkb_results_new": (c_int, _OUT, _ERR),
    "tkb_results_free": (None, c_void_p),
    "tkb_results_watch": (c_void_p, c_void_p),
    "tkb_results_count": (c_size_t, c_void_p),
    "tkb_results_at": (POINTER(Result), c_void_p, c_size_t),
    "tkb_bundle_open": (c_int, c_char_p, _OUT, _ERR),
    "tkb_bundle_open_memory": (c_int, Bytes, c_char_p, _OUT, _ERR),
    "tkb_bundle_close": (None, c_void_p),
    "tkb_bundle_entry_count": (c_size_t, c_void_p),
    "tkb_bundle_read": (
        c_int, c_void_p, c_size_t, c_size_t, POINTER(Sink), _ERR),
    "tkb_memory_sink": (Sink, POINTER(Memory)),
    "tkb_memory_source": (Source, POINTER(Bytes)),
    "tkb_memory_release": (None, POINTER(Memory)),
    "tkb_collect": (
        c_int, c_char_p, POINTER(CollectOptions), POINTER(Sink),
        POINTER(CollectReport), _ERR),
    "tkb_collect_to_file": (
        c_int, c_char_p, POINTER(CollectOptions), c_char_p,
        POINTER(CollectReport), _ERR),
    "tkb_emit": (c_int, c_void_p, c_char_p, POINTER(EmitOptions),
                 POINTER(EmitReport), _ERR),
    "tkb_recorder_new": (c_int, c_void_p, _OUT, _ERR),
    "tkb_recorder_free": (None, c_void_p),
    "tkb_recorder_begin_compile": (c_int, c_void_p, _ERR),
    "tkb_recorder_end_compile": (None, c_void_p),
    "tkb_recorder_put": (c_int, c_void_p, c_char_p, c_uint32, _ERR),
    "tkb_recorder_put_winner": (c_int, c_void_p, c_char_p, _ERR),
    "tkb_recorder_put_launcher": (
        c_int, c_void_p, POINTER(LauncherSpec), _ERR),
    "tkb_recorder_collect": (
        c_int, c_void_p, c_char_p, POINTER(CollectOptions), POINTER(Sink),
        POINTER(CollectReport), _ERR),
    "tkb_recorder_collect_to_file": (
        c_int, c_void_p, c_char_p, POINTER(CollectOptions), c_char_p,
        POINTER(CollectReport), _ERR),
}

#: The same for libtkbundle-remote.
REMOTE_FUNCTIONS: Dict[str, Tuple[Any, ...]] = {
    "tkb_remote_open": (
        c_int, c_char_p, POINTER(RemoteOptions), _OUT, _ERR),
    "tkb_remote_close": (None, c_void_p),
    "tkb_push": (c_int, c_void_p, c_char_p, c_char_p, POINTER(PushOptions),
                 POINTER(PushReport), _ERR),
    "tkb_pull": (c_int, c_void_p, c_char_p, c_char_p, POINTER(PullOptions),
                 POINTER(PullReport), _ERR),
    "tkb_push_bundle": (
        c_int, c_void_p, c_char_p, POINTER(Source), POINTER(PushOptions),
        POINTER(PushReport), _ERR),
    "tkb_pull_bundle": (
        c_int, c_void_p, c_char_p, POINTER(PullOptions), POINTER(Sink),
        POINTER(PullReport), _ERR),
    "tkb_remote_records": (
        c_int, c_void_p, c_char_p, POINTER(RecordVisitor), _ERR),
    "tkb_remote_drop": (c_int, c_void_p, c_char_p, POINTER(Digest), _ERR),
    "tkb_recorder_push": (
        c_int, c_void_p, c_void_p, c_char_p, c_char_p, POINTER(PushOptions),
        POINTER(PushReport), _ERR),
}


def folders() -> Iterator[str]:
    """Folders that may have the libraries: beside the package, or named by a
    variable."""
    yield os.path.join(os.path.dirname(os.path.abspath(__file__)), "_lib")
    told = os.environ.get("TKBUNDLE_LIBRARY")
    if told:
        yield told if os.path.isdir(told) else os.path.dirname(told)


def _load(name: str, functions: Dict[str, Tuple[Any, ...]]) -> ctypes.CDLL:
    paths = [os.path.join(folder, name) for folder in folders()]
    path = next(filter(os.path.exists, paths), name)
    try:
        library = ctypes.CDLL(path)
        for function, (result, *parameters) in functions.items():
            found = getattr(library, function)
            found.restype, found.argtypes = result, parameters
    except (OSError, AttributeError) as error:
        reason = str(error)
        # Of a library for another machine, the loader says that it is not there.
        missing = f"{path}: cannot open shared object file: No such file"
        if path != name and reason.startswith(missing):
            reason = f"{path} is not for this machine, {os.uname().machine}"
        raise _errors.Error(
            f"{name} cannot be used: {reason}: install tkbundle, or name the "
            "folder that has it in TKBUNDLE_LIBRARY", "io") from None
    return library


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """libtkbundle."""
    return _load("libtkbundle.so.1", FUNCTIONS)


@functools.lru_cache(maxsize=None)
def remote_library() -> ctypes.CDLL:
    """libtkbundle-remote, which uses libtkbundle."""
    library()
    return _load("libtkbundle-remote.so.1", REMOTE_FUNCTIONS)


def is_disabled() -> bool:
    """Is tkbundle disabled?"""
    return os.environ.get("TKBUNDLE_DISABLE", "") not in ("", "0")


T = TypeVar("T", bound=Structure)


def sized(kind: Type[T], **values: Any) -> T:
    """A struct with its size set, followed by zeroed room for members that a
    newer library may add."""
    room = ctypes.create_string_buffer(ctypes.sizeof(kind) + RESERVE)
    struct = kind.from_buffer(room)
    for name, value in {"struct_size": len(room), **values}.items():
        setattr(struct, name, value)
    return struct


def trees(places: Mapping[str, bytes]) -> Any:
    """An array of trees, by their names; NULL if there are none."""
    return (Tree * len(places))(*(
        Tree(name=name.encode(), path=path)
        for name, path in places.items())) if places else None


def strings(texts: List[bytes]) -> Any:
    """An array of C strings; NULL if there are none."""
    return (c_char_p * len(texts))(*texts) if texts else None
