# SPDX-License-Identifier: Apache-2.0
"""The libraries' calls as functions, which return reports or raise."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import functools
import math
import operator
import os
import threading
from typing import (TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional,
                    Sequence, Tuple, Type, TypeVar, Union)

from tkbundle import _authorities, _errors, _native

if TYPE_CHECKING:
    from concurrent.futures import Future

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
Trees = Mapping[str, Path]  # folders by tree names
# URLs, a folder, or the result of opened()
Remote = Union[None, str, "os.PathLike[str]", ctypes.c_void_p]

JOBS_LIMIT = 256  # values of --jobs

NO_REMOTE = ("no remote is named: give one, set TKBUNDLE_REMOTE, or have it "
             "in a file of tkbundle-config(1)")

UNUSED = "memory://unused"  # the remote if nothing is asked of any

NOT_BEGUN = "no compile has begun"


@dataclasses.dataclass(frozen=True)
class Result:
    """What happened to one entry, or to one saved launcher."""

    key: str
    name: str
    outcome: str  #: "collected", "emitted", "present", "failed", ...
    reason: str  #: "", or a word of tkbundle(1)
    message: str
    root: str
    is_launcher: bool


@dataclasses.dataclass(frozen=True)
class CollectReport:
    """The result of a collect, in numbers of entries and bytes."""

    id: str  #: SHA-256 of the bundle's manifest
    is_inductor: bool
    collected: int
    left_out: int
    unfinished: int
    stray: int
    moved: int
    launchers: int
    dropped: int
    files: int
    size: int
    bundle_size: int
    results: Tuple[Result, ...]


@dataclasses.dataclass(frozen=True)
class EmitReport:
    """The result of an emit, in numbers of entries and bytes."""

    is_inductor: bool
    emitted: int
    present: int
    repaired: int
    busy: int
    skipped: int
    failed: int
    damaged: int
    unsafe: int
    size: int
    results: Tuple[Result, ...]


@dataclasses.dataclass(frozen=True)
class PullReport(EmitReport):
    """The result of a pull, in numbers of entries, records and blobs."""

    records: int
    unreadable: int
    wanted: int
    fetched: int
    fetched_size: int
    gone: int
    unfetched: int


@dataclasses.dataclass(frozen=True)
class PushReport:
    """The result of a push, in numbers of entries, records and blobs."""

    pushed: int
    present: int
    left_out: int
    records: int
    dropped: int
    compacted: int
    blobs: int
    size: int
    results: Tuple[Result, ...]


R = TypeVar("R")


def _text(value: Optional[bytes]) -> str:
    return (value or b"").decode("utf-8", "backslashreplace")


@functools.lru_cache(maxsize=None)
def _word(function: str, value: int) -> str:
    return _text(getattr(_native.library(), function)(value))


def _result(one: Any) -> Result:
    return Result(
        _text(one.key), _text(one.name),
        _word("tkb_outcome_name", one.outcome),
        _word("tkb_reason_name", one.reason), _text(one.message),
        _text(one.root), one.is_launcher)


class Results:
    """A list that the library fills during a call."""

    def __init__(self) -> None:
        self.handle = ctypes.c_void_p()
        check(_native.library().tkb_results_new, ctypes.byref(self.handle))
        self.watch = _native.library().tkb_results_watch(self.handle)

    def read(self) -> Tuple[Result, ...]:
        library = _native.library()
        count = library.tkb_results_count(self.handle)
        if count == 0:
            return ()
        first = library.tkb_results_at(self.handle, 0)  # of an array
        return tuple(_result(first[index]) for index in range(count))

    def __del__(self) -> None:
        if self.handle:
            _native.library().tkb_results_free(self.handle)


def check(function: Any, *arguments: Any, absent: str = "") -> None:
    """Call a function without a report; raise if it fails."""
    error = _native.Error()
    status = function(*arguments, ctypes.byref(error))
    if status != 0:
        raise _errors.make(_word("tkb_status_name", status),
                           _text(error.message) or absent)


@functools.lru_cache(maxsize=None)
def _places_of(kind: Any, struct: Type[ctypes.Structure]) -> List[Tuple[str, str]]:
    """The report's fields but `results`, and their places in the struct."""
    names = [field.name for field in dataclasses.fields(kind)]
    return [(name, next(place for place in (
        name, name + "_count", name.rstrip("s") + "_count")
        if hasattr(struct, place))) for name in names if name != "results"]


def _value(struct: ctypes.Structure, place: str) -> Any:
    value = getattr(struct, place)
    is_digest = isinstance(value, _native.Digest)
    return bytes(value.bytes).hex() if is_digest else value


def _report(kind: Type[R], struct: ctypes.Structure,
            results: Tuple[Result, ...]) -> R:
    return kind(results=results, **{
        name: _value(struct, place)
        for name, place in _places_of(kind, type(struct))})  # type: ignore


def call(kind: Type[R], struct: ctypes.Structure, absent: str,
         results: Results, function: Any, *arguments: Any) -> R:
    """Call a function that fills `struct`. `absent` is the error message for a
    miss."""
    error = _native.Error()
    status = function(*arguments, ctypes.byref(struct), ctypes.byref(error))
    told = results.read()
    report = _report(kind, struct, told)
    if status == 0:
        return report
    missing = [one.key for one in told if one.outcome == "missing"]
    message = _text(error.message)
    if status == _native.MISS:
        message = f"no entry has the key '{missing[0]}'" if any(
            missing) else absent
    raise _errors.make(_word("tkb_status_name", status), message, report)


def path_of(path: Path) -> bytes:
    """Encode a path for C, where a zero ends it."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise _errors.Invalid(f"{name!r} has a zero in it")
    return name


def encode(text: str) -> bytes:
    if "\0" in text:
        raise _errors.Invalid(f"{text!r} has a zero in it")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise _errors.Invalid(f"{text!r} is not UTF-8") from None


def _ms(seconds: Optional[float]) -> int:
    """Convert a time for C, where 0 means no limit. A time in the past becomes
    the smallest one."""
    if seconds is None or seconds == math.inf:
        return 0
    if isinstance(seconds, float) and math.isnan(seconds):
        raise _errors.Invalid("a time in seconds is wanted, not nan")
    return min(max(1, int(max(seconds, 0) * 1000)), 2 ** 32 - 1)


def _number(name: str, value: int, most: int = 2 ** 32 - 1,
            least: int = 0) -> int:
    """Check the range: C would get only the lowest bits of a number that does
    not fit."""
    if not least <= operator.index(value) <= most:
        raise _errors.Invalid(
            f"'{name}' is a number from {least} to {most}, not {value}")
    return value


def _keys(keys: Sequence[str]) -> List[bytes]:
    """Accept a single text as one key: otherwise its letters would be keys."""
    return [encode(key) for key in ([keys] if isinstance(keys, str) else keys)]


def _choice(words: Any, word: str) -> int:
    if word not in words:
        raise _errors.Invalid(f"'{word}' is none of {', '.join(words)}")
    return int(words[word])


def _places(trees: Optional[Trees]) -> Dict[str, bytes]:
    return {_tree(name): path_of(path) for name, path in (trees or {}).items()}


def _tree(name: str) -> str:
    encode(name)  # raises if C cannot have it
    return name


def collect_options(results: Results, *, keys: Sequence[str] = (),
                    device: Optional[int] = None, profile: str = "full",
                    kernels_only: bool = False, strip: bool = False,
                    strict: bool = False, dry_run: bool = False,
                    jobs: int = 0, deadline: Optional[float] = None,
                    trees: Optional[Trees] = None, level: int = 0) -> Any:
    places, chosen = _places(trees), _keys(keys)
    return _native.sized(
        _native.CollectOptions, keys=_native.strings(chosen),
        key_count=len(chosen),
        has_device=device is not None, device=_number("device", device or 0),
        profile=_choice(_native.PROFILES, profile),
        is_kernels_only=kernels_only, is_stripped=strip, is_strict=strict,
        is_dry_run=dry_run, threads=_number("jobs", jobs, JOBS_LIMIT),
        deadline_ms=_ms(deadline),
        watch=results.watch, trees=_native.trees(places),
        tree_count=len(places),
        level=_number("level", level, 2 ** 31 - 1, -2 ** 31))


def emit_options(results: Results, *, keys: Sequence[str] = (),
                 devices: Sequence[int] = (), layout: str = "auto",
                 sync: bool = False, dry_run: bool = False, jobs: int = 0,
                 deadline: Optional[float] = None,
                 trees: Optional[Trees] = None) -> Any:
    places, chosen = _places(trees), _keys(keys)
    numbers = (ctypes.c_uint32 * len(devices))(
        *(_number("devices", device) for device in devices)) if devices else None
    return _native.sized(
        _native.EmitOptions, keys=_native.strings(chosen),
        key_count=len(chosen),
        devices=numbers, device_count=len(devices),
        layout=_choice(_native.LAYOUTS, layout), is_synced=sync,
        is_dry_run=dry_run, threads=_number("jobs", jobs, JOBS_LIMIT),
        deadline_ms=_ms(deadline),
        watch=results.watch, trees=_native.trees(places),
        tree_count=len(places))


def collect(root: Path, path: Path, **options: Any) -> CollectReport:
    """Pack the cache `root` into the bundle `path`.

    Options: keys, device, profile ("full" or "lean"), kernels_only, strip,
    strict, dry_run, jobs, deadline (seconds), as in tkbundle-collect(1); trees,
    a map from names in the bundle to folders; and level, the compression from
    -50, the fastest, to 19; 2 by default.
    """
    results = Results()
    return call(
        CollectReport, _native.sized(_native.CollectReport),
        f"there is no cache at '{os.fsdecode(path_of(root))}'", results,
        _native.library().tkb_collect_to_file, path_of(root),
        ctypes.byref(collect_options(results, **options)), path_of(path))


def emit(path: Path, root: Path, **options: Any) -> EmitReport:
    """Put the entries of the bundle `path` into the cache `root`.

    Options: keys, devices, layout ("auto", "triton" or "inductor"), sync, dry_run,
    jobs, deadline (seconds), as in tkbundle-emit(1), and trees, a map from trees of
    the bundle to folders; other trees are skipped.
    """
    bundle = ctypes.c_void_p()
    if not _native.is_disabled():  # else nothing reads it
        check(_native.library().tkb_bundle_open, path_of(path),
              ctypes.byref(bundle), absent=
              f"there is no bundle at '{os.fsdecode(path_of(path))}'")
    return emit_opened(bundle, root, **options)


def emit_opened(bundle: ctypes.c_void_p, root: Path,
                **options: Any) -> EmitReport:
    """The same for an open bundle, which this closes."""
    library, results = _native.library(), Results()
    try:
        return call(
            EmitReport, _native.sized(_native.EmitReport),
            "the bundle has no such entry", results, library.tkb_emit, bundle,
            path_of(root), ctypes.byref(emit_options(results, **options)))
    finally:
        library.tkb_bundle_close(bundle)


def _configured() -> Optional[str]:
    from tkbundle import _program  # it loads slowly, and few callers need it
    return _program.remote()


@contextlib.contextmanager
def opened(remote: Remote) -> Iterator[ctypes.c_void_p]:
    """The remote of this name, or the configured one. An open remote
    stays open."""
    if isinstance(remote, ctypes.c_void_p):
        yield remote
        return
    urls = UNUSED if _native.is_disabled() else (
        os.fspath(remote) if remote else _configured())
    if not urls:
        raise _errors.Error(NO_REMOTE)
    handle = ctypes.c_void_p()
    library = _native.remote_library()
    certifi = _authorities.certifi()
    options = _native.sized(_native.RemoteOptions, fallback_cafile=
                            path_of(certifi) if certifi else None)
    check(library.tkb_remote_open, path_of(urls), ctypes.byref(options),
          ctypes.byref(handle))
    try:
        yield handle
    finally:
        library.tkb_remote_close(handle)


def _heed_policy() -> None:
    """Raise if signatures must be checked: only the program does that."""
    from tkbundle import _program
    policy = None if _native.is_disabled() else _program.policy()
    if policy is not None:
        raise _errors.Error(
            f"the policy '{policy}' says whose signatures count, and this call "
            "checks none: use 'tkbundle pull' or tkbundle.warm", "untrusted")


def push(ref: str, root: Path, remote: Remote = None, *,
         compact: bool = True, **options: Any) -> PushReport:
    """Push the entries of `root` that `ref` lacks. Options: see collect()."""
    results = Results()
    choices = _native.sized(
        _native.PushOptions, is_compaction_off=not compact, collect=
        ctypes.pointer(collect_options(results, **options)))
    with opened(remote) as handle:
        return call(
            PushReport, _native.sized(_native.PushReport),
            f"there is no cache at '{os.fsdecode(path_of(root))}'", results,
            _native.remote_library().tkb_push, handle, encode(ref),
            path_of(root), ctypes.byref(choices))


def pull(ref: str, root: Path, remote: Remote = None, *,
         connections: int = 0, **options: Any) -> PullReport:
    """Fetch the entries of `ref` that `root` lacks. Options: see emit(). Raises
    where a policy is configured, and fetches nothing."""
    results = Results()
    choices = _native.sized(
        _native.PullOptions, connections=_number("connections", connections),
        emit=ctypes.pointer(emit_options(results, **options)))
    _heed_policy()
    with opened(remote) as handle:
        return call(
            PullReport, _native.sized(_native.PullReport),
            f"ref '{ref}' has no record", results,
            _native.remote_library().tkb_pull, handle, encode(ref),
            path_of(root), ctypes.byref(choices))


class _Recorder:
    """A recorder of the library. Calls use it in `with` blocks; the last one
    frees it, since another thread may end the recording meanwhile."""

    def __init__(self) -> None:
        library = _native.library()
        self._lock, self._uses = threading.Lock(), 1
        self.handle = ctypes.c_void_p()
        check(library.tkb_recorder_new, None, ctypes.byref(self.handle))
        try:
            check(library.tkb_recorder_begin_compile, self.handle)
        except BaseException:
            library.tkb_recorder_free(self.handle)
            raise

    def __enter__(self) -> ctypes.c_void_p:
        with self._lock:
            if self._uses == 0:
                raise _errors.Error(NOT_BEGUN)
            self._uses += 1
        return self.handle

    def __exit__(self, *_error: Any) -> None:
        self.release()

    def release(self) -> None:
        """End a use, or the recording."""
        with self._lock:
            self._uses -= 1
            is_last = self._uses == 0
        if is_last:
            _native.library().tkb_recorder_end_compile(self.handle)
            _native.library().tkb_recorder_free(self.handle)


class Recording:
    """Records what one compile makes, and packs or pushes it.

    with tkbundle.recording(root) as r:
        r.put(key, device)
        r.collect("kernels.tkb")

    The compile begins and ends with the block. All functions may be called by
    several threads at once, also while another one ends the block.
    """

    def __init__(self, root: Path) -> None:
        self._root = path_of(root)
        self._lock = threading.Lock()
        self._recorder: Optional[_Recorder] = None
        self._is_inside = False

    def __enter__(self) -> "Recording":
        with self._lock:
            if self._is_inside:
                raise _errors.Error("the compile has begun already")
            self._recorder = _Recorder()
            self._is_inside = True
        return self

    def __exit__(self, *_error: Any) -> None:
        with self._lock:
            recorder, self._recorder = self._recorder, None
            self._is_inside = False
        if recorder is not None:  # otherwise, another thread has it
            recorder.release()

    def begun(self) -> _Recorder:
        """The recorder, while the block has it."""
        recorder = self._recorder
        if recorder is None:
            raise _errors.Error(NOT_BEGUN)
        return recorder

    def root(self) -> bytes:
        """The cache root."""
        return self._root

    def put(self, key: str, device: int = 0) -> None:
        """Kernel `key` was compiled for GPU `device`."""
        with self.begun() as recorder:
            check(_native.library().tkb_recorder_put, recorder, encode(key),
                  _number("device", device))

    def put_winner(self, key: str) -> None:
        """Autotuning chose kernel `key`: only such kernels are packed."""
        with self.begun() as recorder:
            check(_native.library().tkb_recorder_put_winner, recorder,
                  encode(key))

    def put_launcher(self, cache_key: str, name: str, payload: bytes,
                     needs: Sequence[str], need: str = "all") -> None:
        """Save `payload` with the kernels that it needs: all of them, or any."""
        keys: List[bytes] = [encode(key) for key in needs]
        data = ctypes.create_string_buffer(payload, max(1, len(payload)))
        spec = _native.sized(
            _native.LauncherSpec, cache_key=encode(cache_key),
            name=encode(name), payload=_native.Bytes(
                ctypes.cast(data, ctypes.c_void_p), len(payload)),
            need=_choice(_native.NEEDS, need), needs=_native.strings(keys),
            need_count=len(keys))
        with self.begun() as recorder:
            check(_native.library().tkb_recorder_put_launcher, recorder,
                  ctypes.byref(spec))

    def collect(self, path: Path, **options: Any) -> CollectReport:
        """Pack everything recorded into the bundle `path`. Options: those of
        collect() except keys and device."""
        with self.begun() as recorder:
            return self._collect(recorder, path, **options)

    def _collect(self, recorder: ctypes.c_void_p, path: Path,
                 **options: Any) -> CollectReport:
        results = Results()
        return call(
            CollectReport, _native.sized(_native.CollectReport),
            f"there is no cache at '{os.fsdecode(self._root)}'", results,
            _native.library().tkb_recorder_collect_to_file, recorder,
            self._root, ctypes.byref(collect_options(results, **options)),
            path_of(path))

    def collect_later(self, path: Path,
                      **options: Any) -> "Future[CollectReport]":
        """Pack like collect(), but in another thread, and return at once. The
        future has what collect() returns or raises. After this call nothing
        more can be put. The block may end meanwhile; the interpreter waits for
        the thread at exit."""
        from concurrent.futures import Future
        future: "Future[CollectReport]" = Future()
        with self._lock:
            recorder, self._recorder = self.begun(), None

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                recorder.release()
                return
            try:
                report = self._collect(recorder.handle, path, **options)
            except BaseException as error:  # the caller gets it from the future
                recorder.release()
                future.set_exception(error)
            else:
                recorder.release()
                future.set_result(report)

        try:
            threading.Thread(target=work, name="tkbundle-collect").start()
        except RuntimeError:  # no thread can be started, or the interpreter is ending
            recorder.release()
            raise
        return future

    def push(self, ref: str, remote: Remote = None,
             **options: Any) -> PushReport:
        """Push everything recorded, with its launchers, as one bundle."""
        results = Results()
        choices = _native.sized(_native.PushOptions, collect=ctypes.pointer(
            collect_options(results, **options)))
        with self.begun() as recorder, opened(remote) as handle:
            return call(
                PushReport, _native.sized(_native.PushReport),
                f"there is no cache at '{os.fsdecode(self._root)}'", results,
                _native.remote_library().tkb_recorder_push, recorder, handle,
                encode(ref), self._root, ctypes.byref(choices))


def recording(root: Path) -> Recording:
    """Record the entries that a compile makes in the cache `root`."""
    return Recording(root)


def version() -> str:
    """The library's version."""
    return _text(_native.library().tkb_version())
