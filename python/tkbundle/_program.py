# SPDX-License-Identifier: Apache-2.0
"""The program `tkbundle` as a child process.

Work that may hang or crash (networks, mounts, other users' files) runs in the child.
The child has a deadline, and the kernel kills it when this process ends for any
reason.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import threading
from typing import Any, Dict, List, NamedTuple, Optional

from tkbundle import _authorities, _errors, _native
from tkbundle._guard import warn

NAME = "tkbundle"
NICENESS = 10
ASK_S = 2.0  # for reading the configuration
POLICY_S = 30.0  # likewise, where nobody waits for a start
NO_VALUE = 3  # an exit status
LOST = -1  # an exit status that is not known
PATIENCE_S = 1.0  # between SIGTERM and SIGKILL
MOST_S = 86400.0  # the longest time that the program accepts
PUSHES = ("always", "on-exit", "never")


class Outcome(NamedTuple):
    """How a child ended."""

    status: int
    document: Dict[str, Any]  #: its output, if that is JSON
    text: str  #: its output
    reason: str  #: the reason of a failure, or empty
    is_late: bool  #: it was killed because it took too long


def _installed() -> List[str]:
    """Where pip puts a wheel's programs: `prefix/bin` if the package is in
    `prefix/lib/python3/site-packages/tkbundle`, and `target/bin` if it is in
    `target/tkbundle`."""
    package = os.path.dirname(os.path.abspath(__file__))
    if not os.path.isdir(os.path.join(package, "_lib")):
        return []  # it was not installed from a wheel
    return [os.path.normpath(os.path.join(package, up, "bin"))
            for up in ("../../../..", "..")]


def find() -> str:
    """Find the program: beside the libraries, where pip put it with this
    package, beside Python, or in PATH."""
    folders = [*_native.folders(), *_installed(),
               os.path.dirname(sys.executable or ""), *os.get_exec_path()]
    for folder in filter(None, folders):
        path = os.path.join(folder, NAME)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise _errors.Error(
        "the program tkbundle is neither beside its libraries nor in PATH: "
        "install it", "io")


def variables() -> Dict[str, str]:
    """The environment of the program."""
    path = _authorities.certifi()
    told = {} if path is None else {"TKBUNDLE_FALLBACK_CAFILE": path}
    return {**told, **os.environ}


class Child:
    """A run of the program with a verb. Start it and wait for it in the same
    thread: the kernel kills it when that thread ends."""

    def __init__(self, words: List[str], remote: Optional[str] = None,
                 is_nice: bool = False) -> None:
        self._is_json = "--json" in words
        environment = dict(variables(), TKBUNDLE_PARENT=str(os.getpid()))
        if remote is not None:
            environment["TKBUNDLE_REMOTE"] = remote
        self._process = subprocess.Popen(
            [find(), *words], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True, env=environment)
        if is_nice:
            self._calm()

    def _calm(self) -> None:
        try:
            os.setpriority(os.PRIO_PROCESS, self._process.pid, NICENESS)
        except OSError:
            pass  # it may have ended already

    def stop(self) -> None:
        """Kill the program; any thread may call this."""
        self._process.kill()

    def wait(self, seconds: float) -> Outcome:
        """Wait for the program, at most this long; then kill it. An exception,
        such as that of Ctrl-C, kills it, too."""
        late = False
        try:
            out, words = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            late = True
            self._process.terminate()
            try:
                out, words = self._process.communicate(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                out, words = b"", b""
        except BaseException:
            self._process.kill()
            raise
        found = _judge(self._process.returncode, out, words, self._is_json)
        return found._replace(
            reason=f"not done after {round(seconds, 1):g} s",
            is_late=True) if late else found


def _judge(status: Optional[int], out: bytes, words: bytes,
           is_json: bool) -> Outcome:
    try:
        document = json.loads(out)
    except ValueError:
        document = {}
    if not isinstance(document, dict):
        document = {}
    lines = words.decode("utf-8", "replace").strip().splitlines()
    if status == 0 and is_json and (not document or "error" in document):
        # Where SIGCHLD is ignored, each status is 0.
        status = LOST
    reason = ""
    if status:
        last = lines[-1] if lines else f"it ended with {status}"
        reason = re.sub(rf"^{NAME}( \w+)?: ", "", last)
    return Outcome(LOST if status is None else status, document,
                   os.fsdecode(out), reason, False)


class Settings(NamedTuple):
    """The configured times in seconds, or the defaults of `tkbundle run`."""

    wait: float = 2.0
    deadline: float = 30.0
    push: str = ""  #: one of PUSHES, or empty until it is known


def seconds_of(text: str) -> float:
    """Parse a time in the form of the configuration."""
    found = re.fullmatch(r"(\d+)(ms|s|m|h|d)", text)
    if found is None:
        raise ValueError(f"'{text}' is no time")
    units = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
    return min(int(found[1]) * units[found[2]], MOST_S)


def first_settings() -> Settings:
    """Settings to use until the program has printed its configuration. On a busy
    machine, the program may start more slowly than a pull may take."""
    default = Settings()
    return Settings(_seconds_in("TKBUNDLE_WAIT", default.wait),
                    _seconds_in("TKBUNDLE_DEADLINE", default.deadline))


def _seconds_in(variable: str, default: float) -> float:
    try:
        return seconds_of(os.environ[variable])
    except (KeyError, ValueError):
        return default


def settings(seconds: float) -> Settings:
    """Ask the program for its configuration, and wait at most this long. Raises
    if it cannot be read: nobody knows then whether pushes are allowed."""
    outcome = Child(["config", "--json"]).wait(seconds)
    document = outcome.document
    if "error" in document:
        raise _errors.Error(str(document["error"]))
    if "values" not in document:
        raise _errors.Error("the configuration cannot be read: "
                            + (outcome.reason or "the program printed none"))
    values = {one["name"]: one["value"]
              for one in document["values"] if one["value"]}
    default = Settings()
    return Settings(
        seconds_of(values["wait"]) if "wait" in values else default.wait,
        seconds_of(values["deadline"]) if "deadline" in values
        else default.deadline, values["push"])


def _given_seconds(name: str, value: Any) -> Optional[float]:
    try:
        seconds = float(value)
    except OverflowError:
        seconds = math.inf
    except (TypeError, ValueError):
        seconds = math.nan
    if math.isnan(seconds):
        warn(name, f"a time in seconds is wanted, not {value!r}")
        return None
    return min(max(seconds, 0.0), MOST_S)


def _given_push(value: Any) -> str:
    if isinstance(value, bool):
        return "always" if value else "never"
    if value in PUSHES:
        return str(value)
    warn("push", f"{value!r} is none of {', '.join(PUSHES)}: nothing is pushed")
    return "never"


def given(wait: Any = None, deadline: Any = None,
          push: Any = None) -> Dict[str, Any]:
    """The settings that a program gave as arguments, checked: those that make no
    sense are a warning."""
    found = {"wait": None if wait is None else _given_seconds("wait", wait),
             "deadline": None if deadline is None
             else _given_seconds("deadline", deadline),
             "push": None if push is None else _given_push(push)}
    return {name: value for name, value in found.items() if value is not None}


def remote(seconds: float = ASK_S) -> Optional[str]:
    """The remote from a variable or else from a file. Unlike settings(), this
    includes secrets. Raises Cancelled if the program takes longer."""
    return os.environ.get("TKBUNDLE_REMOTE") or _configured("remote", seconds)


def policy(seconds: float = POLICY_S) -> Optional[str]:
    """The path of the policy that says whose signatures count, if there is one.
    Raises if nobody knows: it may be one that refuses what is not signed."""
    return _configured("trust", seconds)


def _configured(name: str, seconds: float) -> Optional[str]:
    outcome = Child(["config", "--get", name]).wait(seconds)
    if outcome.is_late:
        raise _errors.Cancelled(outcome.reason, "cancelled")
    if outcome.status not in (0, NO_VALUE):
        raise _errors.Error(outcome.reason)
    return outcome.text.strip() or None


def in_thread(work: Any) -> threading.Thread:
    """Do `work` in a thread, beside the user's program."""
    thread = threading.Thread(target=work, name=NAME, daemon=True)
    thread.start()
    return thread
