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
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "..", "..", "python"))
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


def line_of(name):
    """C that prints what `name` is."""
    struct, _, member = name.partition(".")
    if member:
        return (f'printf("{name} %zu %zu\\n", offsetof(struct {struct}, {member}), '
                f"sizeof(((struct {struct} *)0)->{member}));")
    if name.isupper():
        return f'printf("{name} %d\\n", (int){name});'
    return f'printf("{name} %zu\\n", sizeof(struct {name}));'


def theirs(compiler, include, names):
    """What the compiler says."""
    lines = ["#include <stddef.h>", "#include <stdio.h>",
             "#include <tkbundle/tkbundle.h>", "int main(void) {",
             *map(line_of, names), "return 0; }"]
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "a.c"), os.path.join(folder, "a")
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        subprocess.run([compiler, "-I", include, "-o", program, source], check=True)
        out = subprocess.run([program], check=True, capture_output=True,
                             text=True).stdout
    found = {}
    for line in out.splitlines():
        name, *numbers = line.split()
        found[name] = int(numbers[0]) if len(numbers) == 1 else tuple(
            map(int, numbers))
    return found


def code_of(include):
    text = ""
    for name in sorted(os.listdir(os.path.join(include, "tkbundle"))):
        with open(os.path.join(include, "tkbundle", name), encoding="utf-8") as file:
            text += re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S)
    return text


def parameters(code):
    """How many parameters each public function has."""
    found = {}
    for match in re.finditer(r"\b(tkb_\w+)\(([^()]*)\)\s*;", code):
        words = match[2].split(",")
        found[match[1]] = 0 if words == ["void"] else len(words)
    return found


def members(code, struct):
    """The members of a struct, in C."""
    body = re.search(rf"struct {struct} \{{(.*?)\n\}};", code, re.S)[1]
    return [re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", part.strip())[1]
            for part in body.split(";") if part.strip()]


def can_grow(name):
    struct = _native.STRUCTS.get(name)
    return struct is not None and struct._fields_[0][0] == "struct_size"


def fits(name, value, c):
    if can_grow(name):
        return value <= c <= value + _native.RESERVE
    return value == c


def main():
    compiler, include = sys.argv[1:]
    mine, code = ours(), code_of(include)
    c = theirs(compiler, include, list(mine))
    functions = {**_native.FUNCTIONS, **_native.REMOTE_FUNCTIONS}
    declared = parameters(code)
    checks = {
        "structs and numbers are those of the headers":
            [f"{name} is {value}, in C {c[name]}"
             for name, value in mine.items() if not fits(name, value, c[name])],
        "structs that cannot grow have all members":
            [f"{name} lacks {member}" for name in _native.STRUCTS if not can_grow(name)
             for member in members(code, name) if f"{name}.{member}" not in mine],
        "functions have as many parameters":
            [f"{name} has {declared.get(name)} in C"
             for name, (_, *words) in functions.items()
             if declared.get(name) != len(words)],
    }
    print(f"1..{len(checks)}")
    for number, (sentence, faults) in enumerate(checks.items(), 1):
        print(f"{'not ' if faults else ''}ok {number} - {sentence}")
        for fault in faults:
            print(f"# {fault}")
    return any(checks.values())


if __name__ == "__main__":
    sys.exit(main())
