# SPDX-License-Identifier: Apache-2.0
"""Change modules when they are imported, without importing them.

    when_there("torch._inductor.remote_cache", work)

The module may have been imported already. If `work` raises, that becomes a
warning.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.util
import sys
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional

from tkbundle._guard import guarded

Work = Callable[[ModuleType], None]

_awaited: Dict[str, List[Work]] = {}


class _Loader(importlib.abc.Loader):
    """Loads with another loader, then does the pending work."""

    def __init__(self, loader: Any, name: str) -> None:
        self._loader, self._name = loader, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Optional[ModuleType]:
        module: Optional[ModuleType] = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        for work in _awaited.pop(self._name, []):
            guarded("hooks", functools.partial(work, module), None)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds nothing itself: it asks the other finders and wraps the loader."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name not in _awaited:
            return None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    if hasattr(spec.loader, "exec_module"):
                        spec.loader = _Loader(spec.loader, name)
                    return spec
        return None


_finder = _Finder()


def when_there(name: str, work: Work) -> None:
    """Do `work` to the module `name`, now or, once, when it has been imported."""
    module = sys.modules.get(name)
    if module is not None:
        guarded("hooks", lambda: work(module), None)
        return
    works = _awaited.setdefault(name, [])
    if work not in works:
        works.append(work)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
