# SPDX-License-Identifier: Apache-2.0
"""Temporary folders. What a process leaves that ends by os._exit or is killed, the
next process of the same user removes once it is old."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import tempfile
import time
from typing import Iterator


@contextlib.contextmanager
def folder(place: str, prefix: str, age_s: float) -> Iterator[str]:
    """A folder in `place`, which is in use for less than `age_s`."""
    _sweep(place, prefix, age_s)
    with tempfile.TemporaryDirectory(prefix=f"{prefix}{os.getpid()}-",
                                     dir=place) as path:
        yield path


@functools.lru_cache(maxsize=None)
def _sweep(place: str, prefix: str, age_s: float) -> None:
    """Remove old folders, once in each process."""
    with contextlib.suppress(OSError):
        for name in os.listdir(place):
            path = os.path.join(place, name)
            if re.fullmatch(re.escape(prefix) + r"\d+-[a-z0-9_]{8}", name):
                with contextlib.suppress(OSError):
                    status = os.lstat(path)
                    if (status.st_uid == os.geteuid()
                            and time.time() - status.st_mtime > age_s):
                        shutil.rmtree(path, ignore_errors=True)
