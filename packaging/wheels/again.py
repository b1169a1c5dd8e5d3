#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what build.py made with a second build of the same files, from scratch.

    again.py [x86_64 | aarch64]...      both, by default

The second build is made later, in a folder with another name; fetched sources are
reused. Each wheel and tar must have the same bytes.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from place import (ARCHITECTURES, TREE, WORK, epoch, fail, run, say, tree_files,
                   tree_stamp)


def copy_tree(there):
    for name in tree_files():
        (there / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(TREE / name, there / name, follow_symlinks=False)
    shutil.copytree(WORK / "downloads", there / "build/wheels/downloads")


def compare(architecture, there):
    paths = sorted((WORK / "out").glob(f"*{architecture}*"))
    if len(paths) != 2:
        fail(f"build/wheels/out has other than a wheel and a tar of {architecture}")
    for path in paths:
        again = there / "build/wheels/out" / path.name
        if again.read_bytes() != path.read_bytes():
            kept = WORK / "again" / path.name
            kept.parent.mkdir(exist_ok=True)
            shutil.copyfile(again, kept)
            fail(f"{path.name} has other bytes when it is built again: "
                 f"{kept.relative_to(TREE)}")
        say(f"{path.name}: the same {path.stat().st_size} bytes")


def main():
    asked = sys.argv[1:] or ARCHITECTURES
    for architecture in asked:
        made = WORK / architecture / "made"
        if not made.exists() or made.read_text() != tree_stamp():
            fail(f"what is there for {architecture} was not made of this tree: "
                 f"./bootstrap wheels {architecture}")
    with tempfile.TemporaryDirectory(prefix="tkbundle-again-") as folder:
        there = Path(folder) / "another-place"
        copy_tree(there)
        run([sys.executable, "-B", there / "packaging/wheels/build.py", *asked],
            env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch())})
        for architecture in asked:
            compare(architecture, there)


main()
