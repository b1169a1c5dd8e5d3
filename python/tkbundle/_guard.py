# SPDX-License-Identifier: Apache-2.0
"""Turn failures into misses and one warning: no exception reaches the program."""

from __future__ import annotations

import logging
from typing import Callable, Dict, Set, TypeVar

LIMIT = 4  # warnings of a kind: reasons may name what changes, as files

_warned: Dict[str, Set[str]] = {}

V = TypeVar("V")


def warn(what: str, reason: object) -> None:
    """Warn about a failure, once for each reason."""
    text, told = str(reason), _warned.setdefault(what, set())
    if len(told) < LIMIT and not any(text in one for one in list(_warned.values())):
        told.add(text)
        logging.getLogger("tkbundle").warning("tkbundle: %s: %s", what, text)


def guarded(what: str, work: Callable[[], V], otherwise: V) -> V:
    """Do `work`; any exception counts as a miss."""
    try:
        return work()
    except Exception as error:  # nothing may reach the user's program
        warn(what, error)
        return otherwise
