# SPDX-License-Identifier: Apache-2.0
"""A remote as a map of names to bytes, for other caches.

    values = Values(remote)
    values.get("torch/fx-graph/5a80...")      # bytes, or None
    values.put("torch/fx-graph/5a80...", b"") # by and by
    values.finish()                           # at the end: what is left

A name is a ref, and its value is the only unit of a tree in a bundle. So on every kind
of remote, values have digests, ages and garbage collection, like kernels.

Nothing here raises: a failure is a miss, and one warning. Only background threads use
the network, and callers wait for them for a limited time: once misses have taken `wait`
seconds in all, the remote is not asked any more. One that cannot be reached rests for a
while: a process may outlive many restarts of a server.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import queue
import threading
import time
import weakref
from typing import Any, Dict, List, NamedTuple, Optional

from tkbundle import _calls, _errors, _memory, _native, _program
from tkbundle._guard import guarded, warn
from tkbundle._share import MARGIN_S

TREE = "value"  # and the name of its file
QUIET_S = 0.5  # delay before an upload: a newer value may follow
LASTING = (_errors.Denied, _errors.Cancelled)
REST_S = 30.0  # no requests after one that found no remote

_all: "weakref.WeakSet[Values]" = weakref.WeakSet()


class Counts(NamedTuple):
    """Numbers of requests to the remote, and the time they took."""

    hits: int
    misses: int
    puts: int
    seconds: float  #: time that callers waited


def _records(remote: ctypes.c_void_p, name: str) -> List[_native.Digest]:
    """The digests of all records under a name."""
    found: List[_native.Digest] = []

    def add(_self: Any, digest: Any, *_facts: Any) -> int:
        found.append(_native.Digest.from_buffer_copy(digest.contents))
        return 0

    visitor = _native.RecordVisitor(
        on_record=_native.ON_RECORD(add), on_unread=_native.ON_UNREAD(add))
    _calls.check(_native.remote_library().tkb_remote_records, remote,
                 name.encode(), ctypes.byref(visitor))
    return found


def read(remote: ctypes.c_void_p, name: str, seconds: float) -> bytes:
    """Get the value of `name`; raises if there is none."""
    return _memory.unpack(_memory.pull(remote, name, seconds))


def write(remote: ctypes.c_void_p, name: str, value: bytes,
          seconds: float) -> None:
    """Set the value of `name`. Meanwhile, `name` may have no value."""
    packed = _memory.pack(TREE, TREE, value)
    for digest in _records(remote, name):
        with contextlib.suppress(_errors.Missing):
            _calls.check(_native.remote_library().tkb_remote_drop, remote,
                         name.encode(), ctypes.byref(digest))
    _memory.push(remote, name, packed, seconds)


class _Ask:
    """A request, and its answer."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.value: Optional[bytes] = None
        self.is_answered = threading.Event()


class Values:
    """The values of one remote in one process. `told` has the options of
    warm(): wait, deadline, push."""

    def __init__(self, remote: Optional[str] = None, **told: Any) -> None:
        self._remote = remote
        self._told = _program.given(**told)
        self._renew()
        _all.add(self)

    def _renew(self) -> None:
        """The initial state, also after a fork, which has no threads."""
        self._settings = _program.first_settings()._replace(**self._told)
        self._settled = threading.Event()
        self._is_off = _native.is_disabled()
        self._lock = threading.Lock()
        self._asked: "queue.SimpleQueue[Optional[_Ask]]" = queue.SimpleQueue()
        self._reader: Optional[threading.Thread] = None
        self._left: Optional[float] = None  # seconds left to wait for misses
        self._writer: Optional[threading.Thread] = None
        self._pending: Dict[str, bytes] = {}
        self._ended = threading.Event()
        self._rests_until = 0.0
        self._hits = self._misses = self._puts = 0
        self._seconds = 0.0

    after_fork = _renew

    def counts(self) -> Counts:
        """Statistics so far."""
        return Counts(self._hits, self._misses, self._puts, self._seconds)

    def _stop(self, reason: object) -> None:
        """Stop using the remote."""
        if not self._is_off:
            self._is_off = True
            warn("remote cache", reason)

    def _rest(self, reason: object) -> None:
        """Do not use the remote for a while."""
        self._rests_until = time.monotonic() + REST_S
        warn("remote cache", reason)

    def _is_idle(self) -> bool:
        return self._is_off or time.monotonic() < self._rests_until

    # Reading.

    def get(self, name: str) -> Optional[bytes]:
        """Get the value, or None; waits at most the remaining time."""
        if self._is_idle() or self._ended.is_set():
            return None
        begin = time.monotonic()
        ask = _Ask(name)
        guarded("remote cache", lambda: self._ask(ask), None)
        took = time.monotonic() - begin
        with self._lock:
            self._count(ask.value is not None, took)
        return ask.value

    def _ask(self, ask: _Ask) -> None:
        with self._lock:
            if self._reader is None:
                self._reader = _program.in_thread(self._read)
        self._settled.wait(self._settings.wait / 2)
        with self._lock:
            if self._left is None:
                self._left = self._settings.wait
        self._asked.put(ask)
        ask.is_answered.wait(max(self._left, 0.0))

    def _count(self, is_hit: bool, took: float) -> None:
        self._seconds += took
        self._hits += is_hit
        self._misses += not is_hit
        if is_hit or self._left is None:
            return
        self._left -= took
        if self._left <= 0 and not self._is_off:
            self._stop(f"{self._misses} answers that were no value took "
                       f"{self._settings.wait:g} s: no more are waited for")

    def _read(self) -> None:
        self._settle()
        try:
            has_more = True
            while has_more:
                with _calls.opened(self._remote) as handle:
                    has_more = self._answer(handle)
        except Exception as error:  # no library, no remote, no such URL
            self._stop(error)
            ask = self._asked.get()
            while ask is not None:
                ask.is_answered.set()
                ask = self._asked.get()

    def _settle(self) -> None:
        if not self._settled.is_set():
            with contextlib.suppress(Exception):  # who pushes asks again
                self._know(self._settings.wait / 2)
        self._settled.set()

    def _know(self, seconds: float) -> None:
        found = _program.settings(seconds)
        self._settings = found._replace(**self._told)

    def _answer(self, handle: ctypes.c_void_p) -> bool:
        """Answer until the end, or until the remote was not reached: a handle
        does not try that again. Returns whether there may be more requests."""
        ask = self._asked.get()
        while ask is not None:
            is_asked = not self._is_idle()
            if is_asked:
                self._find(handle, ask)
            ask.is_answered.set()
            if is_asked and self._is_idle():
                return True
            ask = self._asked.get()
        return False

    def _find(self, handle: ctypes.c_void_p, ask: _Ask) -> None:
        try:
            ask.value = read(handle, ask.name, max(self._left or 0.0, 0.001))
        except _errors.Missing:
            pass
        except _errors.Unavailable as error:
            self._rest(error)
        except LASTING as error:
            self._stop(error)
        except Exception as error:  # the blob is damaged; others may be intact
            warn("remote cache", error)

    # Writing.

    def put(self, name: str, value: bytes) -> None:
        """Upload `value` in the background."""
        guarded("remote cache", lambda: self._put(name, value), None)

    def _put(self, name: str, value: bytes) -> None:
        if self._is_idle() or self._settings.push == "never":
            return
        with self._lock:
            self._pending[name] = value
            # Python 3.12 starts no threads while it ends.
            if self._writer is None and not self._ended.is_set():
                self._writer = _program.in_thread(self._write)

    def _may_put(self) -> bool:
        """Are uploads allowed? Without an answer of the program, they are not."""
        self._settle()
        if not self._settings.push:
            guarded("remote cache",
                    lambda: self._know(self._settings.deadline), None)
        if self._settings.push in ("always", "on-exit"):
            return True
        with self._lock:
            self._told["push"] = "never"  # also if an answer comes later
            self._settings = self._settings._replace(push="never")
            self._pending = {}
        return False

    def _write(self) -> None:
        if not self._may_put():
            return
        try:
            with _calls.opened(self._remote) as handle:
                self._write_all(handle)
        except Exception as error:
            self._stop(error)

    def _write_all(self, handle: ctypes.c_void_p) -> None:
        while not self._is_off:
            self._ended.wait(QUIET_S if self._settings.push == "always"
                             else None)
            with self._lock:
                pending, self._pending = self._pending, {}
                if not pending:
                    self._writer = None
                    return
            for name, value in pending.items():
                self._upload(handle, name, value)

    def _upload(self, handle: ctypes.c_void_p, name: str, value: bytes) -> None:
        if self._is_idle():
            return
        try:
            write(handle, name, value, self._settings.deadline)
            self._puts += 1
        except _errors.Unavailable as error:
            self._rest(error)
        except LASTING as error:
            self._stop(error)
        except Exception as error:  # this value cannot be shared; others may be
            warn("remote cache", error)

    def finish(self, begun: Optional[float] = None) -> None:
        """Upload the rest, and end all threads. The deadline counts from `begun`,
        or from now."""
        since = time.monotonic() if begun is None else begun
        guarded("remote cache", lambda: self._finish(since), None)

    def _finish(self, begun: float) -> None:
        self._ended.set()
        self._asked.put(None)
        end = begun + self._settings.deadline + MARGIN_S
        for thread in (self._writer, self._reader):
            if thread is not None:
                thread.join(max(end - time.monotonic(), 0.0))


def _after_fork() -> None:
    for values in list(_all):
        values.after_fork()


os.register_at_fork(after_in_child=_after_fork)
