# SPDX-License-Identifier: Apache-2.0
"""Start warm: share what GPU kernel compilers make.

    with tkbundle.warm("my-model/v1"):
        model = torch.compile(model)
        model(x)

docs/python.md has the full description. Modules are loaded only when used.
"""

from __future__ import annotations

import importlib

from tkbundle._errors import (Cancelled, Corrupt, Denied, Error, Invalid,
                              Missing, Partial, Unavailable)

# Checkers take it for that of typing, whose import takes longer than all of this one.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tkbundle._calls import (CollectReport, EmitReport, PullReport,
                                 PushReport, Recording, Result, collect, emit,
                                 pull, push, recording, version)
    from tkbundle._warm import warm

__all__ = [
    "Cancelled", "CollectReport", "Corrupt", "Denied", "EmitReport", "Error",
    "Invalid", "Missing", "Partial", "PullReport", "PushReport", "Recording", "Result",
    "Unavailable", "collect", "emit", "pull", "push", "recording", "version",
    "warm",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'tkbundle' has no attribute '{name}'")
    module = "_warm" if name == "warm" else "_calls"
    value = getattr(importlib.import_module(f"tkbundle.{module}"), name)
    globals()[name] = value
    return value
