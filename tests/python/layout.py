#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what the Python package declares against the public headers.

    layout.py COMPILER INCLUDE_DIR

Each struct that it uses has the members, places and sizes that a C compiler gives
them, each number its value, and each function as many parameters. Structs that say
how large they are may have more in C, behind what the package knows, as far as it
leaves room for that. Prints TAP.
"""

import ctypes
import os
import sys

sys.dont_write_bytecode = True
TESTS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..")
sys.path[:0] = [os.path.join(TESTS, "abi"), os.path.join(TESTS, "..", "python")]
import layout as headers  # noqa: E402  (from ../abi)
from tkbundle import _native  # noqa: E402


def ours():
    """What the package believes, by names of C."""
    found = dict(_native.NUMBERS)
    for name, struct in _native.STRUCTS.items():
        found[name] = ctypes.sizeof(struct)
        for member, kind in struct._fields_:
            place = getattr(struct, member).offset
            found[f"{name}.{member}"] = place, ctypes.sizeof(kind)
    return found


def theirs(compiler, include, names):
    """What the compiler says of them."""
    structs = {name: [] for name in names if name.islower() and "." not in name}
    for name in names:
        struct, _, member = name.partition(".")
        if member:
            structs[struct].append(member)
    found = headers.measure(compiler, include, structs,
                            [name for name in names if name.isupper()])
    return {name: value if "." in name else value[0] for name, value in found.items()}


def parameters(code):
    """How many parameters each public function has."""
    found = {}
    for name, declared in headers.functions_of(code).items():
        words = declared[declared.index("(") + 1:-1].split(",")
        found[name] = 0 if words == ["void"] else len(words)
    return found


def can_grow(name):
    struct = _native.STRUCTS.get(name)
    return struct is not None and struct._fields_[0][0] == "struct_size"


def fits(name, value, c):
    if can_grow(name):
        return value <= c <= value + _native.RESERVE
    return value == c


def main():
    compiler, include = sys.argv[1:]
    mine, code = ours(), headers.code_of(include)
    structs = headers.structs_of(code)
    c = theirs(compiler, include, list(mine))
    functions = {**_native.FUNCTIONS, **_native.REMOTE_FUNCTIONS}
    declared = parameters(code)
    checks = {
        "structs and numbers are those of the headers":
            [f"{name} is {value}, in C {c[name]}"
             for name, value in mine.items() if not fits(name, value, c[name])],
        "structs that cannot grow have all members":
            [f"{name} lacks {member}" for name in _native.STRUCTS if not can_grow(name)
             for member in structs[name] if f"{name}.{member}" not in mine],
        "functions have as many parameters":
            [f"{name} has {declared.get(name)} in C"
             for name, (_, *words) in functions.items()
             if declared.get(name) != len(words)],
    }
    return headers.report(checks)


if __name__ == "__main__":
    sys.exit(main())
