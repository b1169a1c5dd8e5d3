# SPDX-License-Identifier: Apache-2.0
"""Shares a cache root under a ref while a program uses it.

    share = Share(root)
    share.ready()            # pulls, and waits at most `wait` seconds
    share.note(key)          # it was compiled: push it after a quiet time
    share.finish()           # at the end: what is left

Nothing here raises: a failure is a miss, and one warning.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import sys
import threading
import time
import weakref
from typing import Any, Callable, Iterable, List, Optional, Sequence, Set

from tkbundle import _native, _other_root, _program, _specialisations
from tkbundle._guard import guarded, warn

LOOK_S = 2.0  # between checks for new entries
BATCH_LOOKS = 5  # checks before new entries are pushed, even if more come
KEYS_LIMIT = 5000  # keys per push: more do not fit a command line
LEAST_S = 0.05  # a push takes longer
MARGIN_S = 2.0  # for killing a program that hangs
MISUSED, NO_RECORD, PARTIAL = 2, 3, 4  # exit statuses

_shares: "weakref.WeakSet[Share]" = weakref.WeakSet()

_last_work: List[Callable[[], None]] = []
_end_begun = 0.0


def at_end(work: Callable[[float], None]) -> None:
    """Do `work` at the end of this process and of each one that it forks. It is
    given the time when that end began: all such work has one deadline."""
    last = functools.partial(_do_last, work)
    _last_work.append(last)
    atexit.register(last)
    _end_with_worker([last])


def _do_last(work: Callable[[float], None]) -> None:
    global _end_begun
    _end_begun = _end_begun or time.monotonic()
    work(_end_begun)


def _end_with_worker(works: List[Callable[[], None]]) -> None:
    """Processes of multiprocessing end without atexit."""
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        for work in works:
            util.Finalize(None, work, exitpriority=0)


class Share:
    """One root, one ref, one process."""

    def __init__(self, root: Optional[str], ref: Optional[str] = None,
                 remote: Optional[str] = None, words: Sequence[str] = (),
                 pull_words: Sequence[str] = (), is_replaceable: bool = True,
                 **told: Any) -> None:
        """Without `root`, the words name an engine. If `root` cannot be written,
        and is replaceable, `self.root` is a substitute, or else None."""
        self._is_replaceable = is_replaceable
        self.meant = None if root is None else os.path.abspath(root)
        self.root = self.meant
        self.remote = remote
        self._ref = ref or "-"
        self._words, self._pull_words = words, pull_words
        self._told = _program.given(**told)
        self._settings = _program.first_settings()._replace(**self._told)
        self._is_off = _native.is_disabled()
        self.is_empty = False  # the ref has no record
        self._begun = 0.0
        self._renew()
        _shares.add(self)

    def _renew(self) -> None:
        self._lock = threading.Lock()
        self._placed, self._settled = threading.Event(), threading.Event()
        self._pulled, self._ended = threading.Event(), threading.Event()
        self._thread: Optional[threading.Thread] = None
        self._new: List[str] = []
        self._used: Set[str] = set()
        self._puller: Optional[_program.Child] = None
        self._pusher: Optional[_program.Child] = None
        self._is_late = False  # the last push did not end in time
        self._has_asked_again = False  # for settings that could not be read

    def after_fork(self) -> None:
        """After a fork: pulls and pushes belong to the parent."""
        self._renew()  # settings that are not known yet are asked for again
        if self._begun:
            for event in (self._placed, self._settled, self._pulled):
                event.set()

    # The pull.

    def begin(self) -> None:
        """Start the pull, once."""
        with self._lock:
            if self._begun:
                return
            self._begun = time.monotonic()
        if self._is_off or not self._start(self._pull):
            self._place()
            self._pulled.set()
        if self._is_off or not self._start(self._settle):
            self._settled.set()

    @staticmethod
    def _start(work: Callable[[], None]) -> bool:
        """Start a thread; a process at its limit, or at its end, cannot."""
        return guarded("pull", lambda: bool(_program.in_thread(work)), False)

    def ready(self) -> None:
        """Wait until the pull has ended, or `wait` is over."""
        if self._pulled.is_set():
            return
        self.begin()
        for event in (self._placed, self._settled):
            event.wait(self._left_of(self._settings.wait / 2))
        left = self._left_of(self._settings.wait)
        if left > 0 and not self._pulled.wait(left):
            warn("pull", f"not done after {self._settings.wait:g} s: it goes "
                 "on, and what comes too late is compiled")

    def _left_of(self, seconds: float) -> float:
        """What is left of a time that began with the pull."""
        return max(self._begun + seconds - time.monotonic(), 0.0)

    def _settle(self) -> None:
        with contextlib.suppress(Exception):  # the pull has the same reason
            self._ask(max(self._settings.wait, _program.ASK_S))
        self._settled.set()

    def _ask(self, seconds: float) -> None:
        found = _program.settings(seconds)
        self._settings = found._replace(**self._told)

    def _place(self) -> None:
        def look() -> None:
            if self.meant and not _other_root.is_usable(self.meant):
                self.root = (_other_root.find(self.meant)
                             if self._is_replaceable else None)
                if self.root is None:
                    warn("cache", f"'{self.meant}' cannot be written: nothing is "
                         "pulled into it, or pushed")
        guarded("cache", look, None)
        self._placed.set()

    def _pull(self) -> None:
        self._place()
        if self._has_place():
            guarded("pull", self._pull_here, None)
        self._pulled.set()

    def _has_place(self) -> bool:
        """Is there something to pull into and to push from? Without a root, the
        program would take the default one."""
        return self.root is not None or self.meant is None

    def _pull_here(self) -> None:
        self._puller = child = _program.Child(
            ["pull", "--json", *self._words, *self._pull_words, "--",
             *self._operands()], self.remote)
        if self._ended.is_set():
            child.stop()
        self._settled.wait(self._settings.wait)
        outcome = child.wait(self._left_of(self._settings.deadline))
        self._puller = None
        self.is_empty = outcome.status == NO_RECORD
        # No remote is configured.
        self._is_off = outcome.status == MISUSED
        if outcome.reason and not self._ended.is_set():
            warn("pull", outcome.reason + (self._advice() if self.is_empty
                                           else ""))

    def _advice(self) -> str:
        """Advice if the ref has no record."""
        what = ("push one elsewhere, or" if self._settings.push == "never"
                else "what is compiled is pushed to it; if it should have one,")
        return f": {what} check the names of ref and remote"

    def _operands(self) -> List[str]:
        return [self._ref] if self.root is None else [self._ref, self.root]

    # The pushes.

    def _left(self, begun: float) -> float:
        """What is left of the deadline of something that began then."""
        return max(begun + self._settings.deadline - time.monotonic(), 0.0)

    def _may_push(self, begun: float, is_last: bool = True) -> bool:
        """Are pushes allowed? If the configuration was not read, ask for it again,
        once before the last push: without an answer, they are not."""
        if not self._settings.push and self._begun:
            self._settled.wait(self._left(begun))
        if not self._settings.push and (is_last or not self._has_asked_again):
            self._has_asked_again = True
            guarded("push", lambda: self._ask(self._left(begun)), None)
        return self._settings.push in ("always", "on-exit") and not self._is_off

    def use(self, key: str) -> None:
        """An entry was found in the cache. Push it with the next compiled one,
        or at once if the ref is empty."""
        with self._lock:
            is_known = key in self._used
            self._used.add(key)
        if self.is_empty and not is_known:
            self.note(key)

    def note(self, key: str) -> None:
        """An entry was compiled."""
        with self._lock:
            self._new.append(key)
            is_allowed = (self._settings.push == "always"
                          or not (self._settings.push or self._has_asked_again))
            must_start = (is_allowed
                          and not self._is_off
                          and (self._thread is None
                               or not self._thread.is_alive()))
            if must_start and not self._ended.is_set():
                self._is_late = False
                self._thread = guarded(
                    "push", lambda: _program.in_thread(self._watch), None)

    def _watch(self) -> None:
        """Push once nothing new has come for a while, then end."""
        looks, before = 0, -1
        while not self._ended.wait(LOOK_S):
            looks += 1
            count = len(self._new)
            if count == 0:
                return
            if count == before or looks >= BATCH_LOOKS:
                looks, before = 0, -1
                begun = time.monotonic()
                if (not self._may_push(begun, is_last=False)
                        or self._settings.push != "always"
                        or not guarded("push", lambda: self.push(begun), False)):
                    return
            else:
                before = count

    def push(self, begun: float) -> bool:
        """Push the compiled entries, and those found."""
        with self._lock:
            new, self._new = self._new, []
            used, self._used = self._used, set()
        keys = sorted(key for key in used.union(new)
                      if os.path.isdir(os.path.join(self.root or "", key)))
        if not keys or self._push(keys, begun):
            return True
        with self._lock:
            self._new, self._used = new + self._new, used | self._used
        return False

    def push_now(self, keys: Optional[List[str]]) -> None:
        """Push these entries, or all that the ref lacks."""
        begun = time.monotonic()
        if self._may_push(begun):
            guarded("push", lambda: self._push(keys, begun), False)

    def _push(self, keys: Optional[List[str]], begun: float) -> bool:
        """Push these entries, or all, with their specialisations."""
        if not self._has_place():
            return False
        if keys is None:
            return self._push_some(None, begun)
        return all(self._push_some(keys[first:first + KEYS_LIMIT], begun)
                   for first in range(0, len(keys), KEYS_LIMIT))

    def _push_some(self, keys: Optional[List[str]], begun: float) -> bool:
        seconds = self._left(begun)
        if seconds < LEAST_S:
            self._is_late = True
            warn("push", f"not done after {self._settings.deadline:g} s")
            return False
        with _specialisations.written(keys) as noted:
            self._pusher = child = _program.Child(
                ["push", "--json", "--jobs", "1", "--no-compaction",
                 "--deadline", f"{int(seconds * 1000)}ms", *self._words,
                 *(f"--key={key}" for key in keys or ()), *noted, "--",
                 *self._operands()], self.remote, is_nice=True)
            outcome = child.wait(seconds + MARGIN_S)
        self._pusher = None
        if outcome.reason:
            warn("push", outcome.reason)
        self.is_empty = self.is_empty and bool(outcome.reason)
        # Do not retry entries that were left out: they would be left out again.
        is_pushed = outcome.status in (0, PARTIAL)
        self._is_late = not is_pushed and self._left(begun) < LEAST_S
        return is_pushed

    # The end.

    def end(self) -> None:
        """Stop the pull, and begin no push any more."""
        self._ended.set()
        puller = self._puller
        if puller is not None:
            puller.stop()

    def finish(self, begun: Optional[float] = None) -> None:
        """Push everything that is not pushed yet, and end all children. The
        deadline counts from `begun`, or from now."""
        since = time.monotonic() if begun is None else begun
        guarded("push", lambda: self._finish(since), None)

    def _finish(self, begun: float) -> None:
        self.end()
        thread = self._thread
        is_pushing = thread is not None and thread.is_alive()
        if thread is not None and thread is not threading.current_thread():
            self._join(thread, self._left(begun) + MARGIN_S)
        if is_pushing and self._is_late:
            return  # a second push would not end earlier
        if self._new and self._may_push(begun):
            self.push(begun)

    def _join(self, thread: threading.Thread, seconds: float) -> None:
        """Wait for the thread that pushes; Ctrl-C ends its push."""
        try:
            thread.join(seconds)
        except BaseException:
            pusher = self._pusher
            if pusher is not None:
                pusher.stop()
            raise


def finish_all(shares: Iterable[Share], begun: float) -> None:
    """End shares which have one deadline, counted from `begun`."""
    for share in shares:
        share.end()
    for share in shares:
        share.finish(begun)


def _after_fork() -> None:
    global _end_begun
    _end_begun = 0.0
    for share in list(_shares):
        share.after_fork()
    util = sys.modules.get("multiprocessing.util")
    if _last_work and util is not None:
        # multiprocessing clears its list of exit functions in a fork, then
        # calls this.
        util.register_after_fork(
            _end_with_worker, lambda end: end(_last_work))


os.register_at_fork(after_in_child=_after_fork)
