# SPDX-License-Identifier: Apache-2.0
"""A substitute for a cache root that is not writable, as in tkbundle run."""

from __future__ import annotations

import os
import stat
from typing import Iterator, Optional


def _can_write(path: str) -> bool:
    # Asked for the effective user, a sandbox may refuse, which looks like a no.
    is_other = (os.geteuid(), os.getegid()) != (os.getuid(), os.getgid())
    return os.access(path, os.W_OK | os.X_OK, effective_ids=is_other)


def is_usable(root: str) -> bool:
    """Can `root` be written or created?"""
    while not os.path.lexists(root):
        root = os.path.dirname(root)
    return _can_write(root)


def _number_of(path: str) -> int:
    """A hash of a path: FNV-1a."""
    number = 0xcbf29ce484222325
    for byte in os.fsencode(path):
        number = (number ^ byte) * 0x100000001b3 % (1 << 64)
    return number


def _candidates(root: str) -> Iterator[str]:
    user = os.geteuid()
    yield f"{root}.tkbundle-{user}"
    temporary = os.environ.get("TMPDIR", "")
    for folder in (temporary if temporary.startswith("/") else "/tmp", "/tmp"):
        yield f"{folder}/tkbundle-{user}-{_number_of(root):016x}"


def _take(path: str) -> bool:
    """Make the folder if necessary; other users must not be able to write to
    it."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except OSError:
        return False
    status = os.lstat(path)
    return (stat.S_ISDIR(status.st_mode) and _can_write(path)
            and status.st_uid == os.geteuid() and not status.st_mode & 0o022)


def find(root: str) -> Optional[str]:
    """A private folder in place of `root`."""
    return next(filter(_take, _candidates(root)), None)
