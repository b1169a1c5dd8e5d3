# SPDX-License-Identifier: Apache-2.0
"""Each Python that has this folder in its path, and all workers that it starts, writes
a line into the file HOOKS_COMPILED for each kernel that Triton compiles."""
import os

from tkbundle import _imports


def count(compiler):
    """A compilation begins with make_ir(), and a hit does without."""
    make_ir = compiler.ASTSource.make_ir

    def note(self, *words, **more):
        with open(os.environ["HOOKS_COMPILED"], "a", encoding="utf-8") as file:
            file.write(f"{self.name}\n")
        return make_ir(self, *words, **more)

    compiler.ASTSource.make_ir = note


if "HOOKS_COMPILED" in os.environ:
    _imports.when_there("triton.compiler.compiler", count)
