#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a room, which are given scenes; see scene.py.

usage: scenes.py ROOM PROGRAM [WORDS-OF-A-SENTENCE]

Prints TAP; the exit status is 1 if a test failed.
"""
import glob
import importlib
import os
import sys

sys.dont_write_bytecode = True
TESTS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
# The files that have tests. Others of a room are theirs, or also of other rooms.
ROOMS = {
    "archives": "importing exporting hostile",
    "doctor": "healthy broken remotes late advice",
    "engines": "moving publishing hiding building flashinfer deepgemm gathering profiles "
               "running again versions tuning slow looking keeping ranks shapes attacks",
    "images": "fetching signing pushing",
    "python": "package warmth starts outages graphs notes artifacts",
    "run": "command signals terminal pushes roots figures moments savings starts faults "
           "registries",
    "why": "reasons",
}


def check_room(room):
    """A file that is forgotten in the list would never run."""
    for path in glob.glob(os.path.join(TESTS, room, "*.py")):
        with open(path, encoding="utf-8") as file:
            if "\n@test(" in file.read() and \
                    os.path.basename(path)[:-len(".py")] not in ROOMS[room].split():
                sys.exit(f"{path} has tests, and is not in ROOMS")


def main():
    room = sys.argv.pop(1)
    check_room(room)
    sys.path[:0] = [os.path.join(TESTS, name) for name in (room, "run", "engines", "images", "gpu")]
    for name in ROOMS[room].split():
        importlib.import_module(name)
    return importlib.import_module("scene").main()


if __name__ == "__main__":
    sys.exit(main())
