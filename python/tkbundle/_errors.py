# SPDX-License-Identifier: Apache-2.0
"""One class for each failure that a caller can act on."""

from __future__ import annotations

TYPE_CHECKING = False  # see __init__.py
if TYPE_CHECKING:
    from typing import Any, Dict, Type


class Error(Exception):
    """A call failed. The text is the library's message."""

    def __init__(self, message: str, status: str = "invalid",
                 report: Any = None) -> None:
        super().__init__(message)
        #: The name of the status: "invalid", "io", "corrupt", ...
        self.status = status
        #: The report that the call would have returned.
        self.report = report


class Invalid(Error, ValueError):
    """An argument is invalid."""


class Missing(Error):
    """The cache, the ref or the key that was named does not exist."""


class Partial(Error):
    """Something was left out. The rest is done, and is in the report."""


class Corrupt(Error):
    """Some input is damaged. The rest was used."""


class Cancelled(Error):
    """The deadline passed."""


class Unavailable(Error):
    """A remote does not answer properly."""


class Denied(Error):
    """A remote refuses the credentials, or they lack rights."""


BY_STATUS: Dict[str, Type[Error]] = {
    "invalid": Invalid, "miss": Missing, "partial": Partial, "left_out": Partial,
    "corrupt": Corrupt, "cancelled": Cancelled,
    "unavailable": Unavailable, "denied": Denied,
}


def make(status: str, message: str, report: Any = None) -> Error:
    """The exception for a status."""
    return BY_STATUS.get(status, Error)(message, status, report)
