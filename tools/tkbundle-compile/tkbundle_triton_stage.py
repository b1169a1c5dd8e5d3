# SPDX-License-Identifier: Apache-2.0
"""Ends a compilation at the stage that was asked for, and stores nothing.

What a later stage would refuse can be seen so.
"""

import os

# Each has Triton or LLVM print the IR after each of its passes.
PRINTING = ("MLIR_ENABLE_DUMP", "LLVM_IR_ENABLE_DUMP", "NVPTX_ENABLE_DUMP")


class Made(BaseException):
    """The stage; its data are None if Triton did not come by it."""

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
    """`running` returns the stage that is asked for, or None."""
    from triton.compiler import compiler
    from triton.runtime import cache

    def manager(key, *args, **kwargs):
        stage = running()
        if stage is None:
            return manager.original(key, *args, **kwargs)
        return Store(getattr(cache, "_base32", str)(key), stage)

    manager.original, compiler.get_cache_manager = compiler.get_cache_manager, manager


def print_passes():
    """Called when Triton has made its key, which these variables are part of."""
    os.environ.update(dict.fromkeys(PRINTING, "1"))
