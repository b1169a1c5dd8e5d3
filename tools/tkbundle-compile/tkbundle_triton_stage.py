# SPDX-License-Identifier: Apache-2.0
"""Ends a compilation at the requested stage, and stores nothing.

So one can see a kernel that a later stage would refuse.
"""

import os

# Each makes Triton or LLVM print the IR after each of its passes.
PRINTING = ("MLIR_ENABLE_DUMP", "LLVM_IR_ENABLE_DUMP", "NVPTX_ENABLE_DUMP")


class Made(BaseException):
    """The requested stage; its data are None if Triton did not produce it."""

    def __init__(self, key, name, data):
        super().__init__(key)
        self.key, self.name, self.data = key, name, data


class Store:
    """Takes the place of Triton's cache manager. The stage "key" is before all others."""

    def __init__(self, key, stage):
        self.key, self.stage = key, stage

    def get_group(self, filename):
        if self.stage == "key":
            raise Made(self.key, os.path.splitext(filename)[0], None)
        return None

    def put(self, data, filename, binary=True):
        name, extension = os.path.splitext(filename)
        if extension == "." + self.stage:
            raise Made(self.key, name, data if isinstance(data, bytes) else str(data))
        if extension == ".json":
            raise Made(self.key, name, None)
        return filename


def watch_stages(running):
    """Watch for stages. `running` returns the requested stage, or None."""
    from triton.compiler import compiler
    from triton.runtime import cache

    def manager(key, *args, **kwargs):
        stage = running()
        if stage is None:
            return manager.original(key, *args, **kwargs)
        return Store(getattr(cache, "_base32", str)(key), stage)

    manager.original, compiler.get_cache_manager = compiler.get_cache_manager, manager


def print_passes():
    """Print passes. Call this only after Triton has made its key, which covers
    these variables."""
    os.environ.update(dict.fromkeys(PRINTING, "1"))
