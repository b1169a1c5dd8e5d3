#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads every #include of the tree, and checks how its folders and files depend.

    rooms.py [SOURCE_DIR]      by default the tree that this file is in

No two files include each other, directly or by way of others, where X.c and X.h
are one file; a folder includes only folders that stand before it in LAYERS;
and no folder of sources or of tests has more than 35 files (of tests, data such
as snapshots and modules do not count).
"""

import os
import re
import sys

# A folder may include those above it, and nothing below.
LAYERS = {
    "src": [
        "src/libc",
        "include/tkbundle",
        "src/base",
        "src/text",
        "src/ninja",
        "src/tree",
        "src/cache",
        "src/machine",
        "src/format",
        "src/collect",
        "src/emit",
        "src/emit/maintain",
        "src/compile/pool",
        "src/compile/compiler",
        "src/compile/triton",
        "src/launch",
        # What follows is libtkbundle-remote: libtkbundle includes none of it.
        "src/remote/net",
        "src/remote",
        "src/remote/dir",
        "src/remote/redis",
        "src/remote/http",
        "src/remote/s3",
        "src/remote/oci",
        "src/trust",
        "src/images",
        "src/notes",
        "src/records",
        "src/fleet",
        "src/refs",
    ],
    "tools/tkbundle": [
        "include/tkbundle",
        "tools/tkbundle/cli",
        "tools/tkbundle/trust",
        "tools/tkbundle/config",
        "tools/tkbundle/keys",
        "tools/tkbundle/report",
        "tools/tkbundle/diff",
        "tools/tkbundle/why",
        "tools/tkbundle/doctor/machine",
        "tools/tkbundle/doctor/remote",
        "tools/tkbundle/doctor",
        "tools/tkbundle/compile",
        "tools/tkbundle/archive",
        "tools/tkbundle/attest",
        "tools/tkbundle/image",
        "tools/tkbundle/run",
        "tools/tkbundle/starts",
        "tools/tkbundle/page",
        "tools/tkbundle/verbs",
        "tools/tkbundle",
    ],
    "tools/tkbundle-compile": [
        "include/tkbundle",
        "src/base",
        "src/cache",
        "src/compile/pool",
        "src/compile/compiler",
        "tools/tkbundle-compile/worker",
        "tools/tkbundle-compile/llvm",
        "tools/tkbundle-compile/rewrite",
        "tools/tkbundle-compile/quant",
        "tools/tkbundle-compile/finalize",
        "tools/tkbundle-compile/toolchain",
        "tools/tkbundle-compile/ir",
        "tools/tkbundle-compile",
    ],
    "tools/tkbundle-archive": [
        "include/tkbundle",
        "src/base",
        "tools/tkbundle-archive",
    ],
}
FILES_LIMIT = 35
TESTS = (".c", ".h", ".py", ".sh")
SNAPSHOTS = "tests/cli/"
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)


def sources(top):
    for folder in ("include", "src", "tools"):
        for place, folders, names in os.walk(os.path.join(top, folder)):
            folders.sort()
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    path = os.path.join(place, name)
                    yield os.path.relpath(path, top)


def program_of(path):
    for program in LAYERS:
        if path.startswith(program + "/"):
            return program
    return "src"


def find(path, name, files):
    for base in ("include", "src", program_of(path), os.path.dirname(path)):
        found = os.path.normpath(os.path.join(base, name))
        if found in files:
            return found
    return None


def read_includes(top):
    files = set(sources(top))
    includes = {}
    for path in sorted(files):
        with open(os.path.join(top, path), encoding="utf-8") as source:
            names = INCLUDE.findall(source.read())
        found = (find(path, name, files) for name in names)
        includes[path] = sorted({to for to in found if to is not None})
    return includes


def upward(includes):
    for path, targets in includes.items():
        layers = LAYERS[program_of(path)]
        room = os.path.dirname(path)
        if room.startswith("include"):
            layers = ["include/tkbundle"]
        if room not in layers:
            yield f"{path}: its folder is in no layer"
            continue
        for target in targets:
            other = os.path.dirname(target)
            if other not in layers:
                yield f"{path} includes {target}: not one of its layers"
            elif layers.index(other) > layers.index(room):
                yield f"{path} includes {target}: that is a layer above"


def circles(includes):
    """Tarjan's strongly connected components of more than one file."""
    graph = {}
    for path, targets in includes.items():
        unit = os.path.splitext(path)[0]
        others = {os.path.splitext(target)[0] for target in targets}
        graph.setdefault(unit, set()).update(others - {unit})
    number, low, stack = {}, {}, []

    def visit(unit):
        number[unit] = low[unit] = len(number)
        stack.append(unit)
        for other in sorted(graph.get(unit, ())):
            if other not in number:
                yield from visit(other)
            if other in stack:
                low[unit] = min(low[unit], low[other])
        if low[unit] == number[unit]:
            at = stack.index(unit)
            circle = sorted(stack[at:])
            del stack[at:]
            if len(circle) > 1:
                yield "a circle: " + ", ".join(circle)

    for unit in sorted(graph):
        if unit not in number:
            yield from visit(unit)


def tests(top):
    for place, _, names in os.walk(os.path.join(top, "tests")):
        for name in names:
            path = os.path.relpath(os.path.join(place, name), top)
            if name.endswith(TESTS) and not path.startswith(SNAPSHOTS):
                yield path


def crowded(includes):
    counts = {}
    for path in [*includes, *tests(top())]:
        room = os.path.dirname(path)
        counts[room] = counts.get(room, 0) + 1
    for room, count in sorted(counts.items()):
        if count > FILES_LIMIT:
            yield f"{room}: {count} files, more than {FILES_LIMIT}"


def top():
    if len(sys.argv) > 1:
        return sys.argv[1]
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main():
    includes = read_includes(top())
    failed = 0
    print("1..3")
    for number, (name, check) in enumerate(
        (
            ("no folder includes one of a layer above", upward),
            ("no files include each other in a circle", circles),
            ("no folder is crowded", crowded),
        ),
        1,
    ):
        faults = list(check(includes))
        failed += bool(faults)
        print("not ok" if faults else "ok", number, "-", name)
        for fault in faults:
            print("#", fault)
    return 1 if failed or not includes else 0


if __name__ == "__main__":
    sys.exit(main())
