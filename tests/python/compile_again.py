# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels from what was noted of them, and from nothing else.

    compile_again.py FOLDER

Prints the key of each that is in the cache afterwards.
"""
import importlib
import json
import os
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "..", "support"))
from triton_kernel import use_driver  # noqa: E402


def tuples(value):
    """Triton has tuples where JSON has lists."""
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def pairs(value):
    return {tuples(name): one for name, one in value}


def compile_again(noted):
    module, name = noted["function"].split(":")
    function = getattr(importlib.import_module(module), name)
    attrs = noted["attrs"]
    kind = getattr(triton.compiler.compiler, "AttrsDescriptor", None)
    attrs = attrs_of(kind, attrs) if kind else pairs(attrs)
    source = ASTSource(function, {name: tuples(one)
                                  for name, one in noted["signature"]},
                       {name: tuples(one) for name, one in
                        pairs(noted["constants"]).items()}, attrs)
    backend, arch, warp_size = noted["target"]
    triton.compile(source, target=GPUTarget(backend, int(arch), warp_size),
                   options=noted["options"])


def attrs_of(kind, told):
    told = {name: tuples(one) for name, one in told}
    return kind.from_dict(dict(told)) if hasattr(kind, "from_dict") else \
        kind(**told)


def main():
    use_driver()
    for name in os.listdir(sys.argv[1]):
        if name.endswith(".json"):
            with open(os.path.join(sys.argv[1], name),
                      encoding="utf-8") as file:
                compile_again(json.load(file))
    root = os.environ["TRITON_CACHE_DIR"]
    print(*(key for key in os.listdir(root) if any(
        one.endswith(".cubin") for one in os.listdir(os.path.join(root, key)))))


main()
