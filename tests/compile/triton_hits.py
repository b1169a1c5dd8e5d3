#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hits of Triton kernels start no Python, as long as nothing has changed.

usage: triton_hits.py PROGRAM SOURCES

A module that Python loads first notes its starts. What a hit depends on is
changed in each way, and must be seen. Prints TAP.
"""
import glob
import os
import shutil
import sys

from triton_hits_scene import SOURCE, main

LOOKS = """
here = os.path.dirname(os.path.realpath(__file__))
os.path.isdir(os.path.join(here, "folder"))
os.listdir(os.path.join(here, "listed"))
os.path.realpath(os.path.join(here, "link"))
"""


def with_places(scene):
    """What decides without being read: where, and what was only looked at."""
    for name in ("elsewhere", "a", "b", "own/folder", "own/listed"):
        os.mkdir(scene.path(name))
    scene.seen("another working folder",
               lambda: setattr(scene, "place", scene.path("elsewhere")))
    scene.place = scene.folder
    link = scene.path("own/link")
    os.symlink(scene.path("a"), link)
    scene.append("own/kernels.py", LOOKS)
    scene.seen("a folder that goes", lambda: os.rmdir(scene.path("own/folder")))
    scene.seen("a hidden file in a folder that was listed",
               lambda: scene.write("own/listed/.hidden", ""))
    scene.seen("a link that leads elsewhere",
               lambda: (os.remove(link), os.symlink(scene.path("b"), link)))
    scene.seen("another order of PYTHONPATH", scene.folders.reverse)
    scene.folders.reverse()
    scene.write("own/kernels.py", SOURCE)


def with_namespace(scene):
    os.makedirs(scene.path("second/spread"))
    shutil.copy(scene.path("second/helper.py"), scene.path("second/spread/inner.py"))
    scene.write("own/kernels.py", SOURCE.replace(
        "import helper", "from spread import inner as helper"))

    def add_portion():
        os.makedirs(scene.path("first/spread"))
        shutil.copy(scene.path("second/helper.py"), scene.path("first/spread/inner.py"))

    scene.seen("a further part of a namespace package", add_portion)
    shutil.rmtree(scene.path("first/spread"))
    scene.write("own/kernels.py", SOURCE)


def with_programs(scene):
    scene.append("own/kernels.py", 'os.system("true")\n')
    scene.ok(scene.warm() is None, "of a source that runs a program nothing is remembered")


def with_shim(scene):
    scene.write("shim", f'#!/bin/sh\nexec {scene.real} "$@"\n')
    os.chmod(scene.path("shim"), 0o755)
    scene.python = scene.path("shim")
    scene.ok(scene.warm() is None, "of a Python that a script chooses nothing is remembered")
    scene.python = scene.real


def entry(scene):
    return glob.glob(scene.path("cache/*/__grp__add.json"))


def tear(scene):
    for path in glob.glob(scene.path("cache/*/add.json")):
        os.truncate(path, os.stat(path).st_size // 2)


def entries_go(scene):
    for path in entry(scene):
        shutil.rmtree(os.path.dirname(path))


def with_files(scene):
    hit = scene.warm()
    scene.ok(hit is not None and '"hit"' in hit, "a hit starts no Python")
    scene.seen("an edited source", lambda: scene.append("own/kernels.py", "# more\n"))
    scene.seen("an edited helper", lambda: scene.append("second/helper.py", "# more\n"))
    scene.seen("a module that comes before another",
               lambda: shutil.copy(scene.path("second/helper.py"), scene.path("first")))
    os.remove(scene.path("first/helper.py"))
    scene.seen("a package beside the source",
               lambda: (os.mkdir(scene.path("own/helper")),
                        shutil.copy(scene.path("second/helper.py"),
                                    scene.path("own/helper/__init__.py"))))
    shutil.rmtree(scene.path("own/helper"))
    scene.seen("a file that was looked for", lambda: scene.write("own/big", ""))
    os.remove(scene.path("own/big"))
    scene.seen("a variable that is read",
               lambda: scene.variables.update(BLOCKS_OF_MINE="128"))
    scene.variables.clear()
    before = scene.warm()
    scene.variables["NOBODY_READS_THIS"] = "1"
    os.utime(scene.path("own/kernels.py"))
    started, after = scene.compile()
    scene.ok(before is not None and started == 0 and after == before,
             "a variable that nobody reads and a new time of a file change nothing")
    scene.variables.clear()


def with_entries(scene):
    scene.seen("a missing entry", lambda: entries_go(scene))
    scene.ok(bool(entry(scene)), "and it is made again")
    scene.seen("torn metadata", lambda: tear(scene))
    entries_go(scene)
    scene.warm()
    with open(scene.path("cache/.tkbundle/triton"), "r+b") as file:
        file.seek(100)
        file.write(b"damaged")
    started, says = scene.compile()
    scene.ok(started == 1 and '"hit"' in says, "a damaged memory counts as none")


def with_tuned(scene):
    before = scene.seen("a file that a pruning function reads",
                        lambda: scene.write("own/data.txt", "3"), "tuned")
    after = scene.warm("tuned")
    scene.ok(before is not None and after is not None
             and before.count('"hit"') == 2 and after.count('"hit"') == 3,
             "all configurations of an autotuned kernel are hits without Python")


sys.exit(main((with_files, with_places, with_namespace, with_programs, with_shim,
               with_entries, with_tuned)))
