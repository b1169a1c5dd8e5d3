# SPDX-License-Identifier: Apache-2.0
"""Turn failures into misses and one warning: no exception reaches the program."""

from __future__ import annotations

import logging
from typing import Callable, Set, TypeVar

_warned: Set[str] = set()

V = TypeVar("V")


def warn(what: str, reason: object) -> None:
    """Warn about a failure, once for each reason."""
    if not _warned.intersection((what, str(reason))):
        _warned.update((what, str(reason)))
        logging.getLogger("tkbundle").warning("tkbundle: %s: %s", what, reason)


def guarded(what: str, work: Callable[[], V], otherwise: V) -> V:
    """Do `work`; any exception counts as a miss."""
    try:
        return work()
    except Exception as error:  # nothing may reach the user's program
        warn(what, error)
        return otherwise
