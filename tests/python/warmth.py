# SPDX-License-Identifier: Apache-2.0
"""with tkbundle.warm(...): a block of a program that starts warm."""
import os

from machine import kernels, python
from scene import ENTRIES, PATIENCE, equal, hanging, require, test

CODE = """
import os, shutil, sys, time
begin = time.monotonic()
import tkbundle
source, root = sys.argv[1:]
with tkbundle.warm("a/b", root{options}):
    print(f"{{time.monotonic() - begin:.3f}}")
    there = set(os.listdir(root)) - {{".tkbundle"}} if os.path.isdir(
        root) else set()
    print(len(there))
    for key in set(os.listdir(source)) - there:
        shutil.copytree(os.path.join(source, key), os.path.join(root, key))
"""


def block(here, root, options="", **more):
    """What a block found, and how long it had to wait."""
    source = here.path("source", ".triton", "cache")
    if not os.path.isdir(source):
        here.fixture()
    more.setdefault("env", {"TKBUNDLE_REMOTE": here.remote})
    ended = python(here, CODE.format(options=options), source, root, **more)
    equal(ended.status, 0, ended.err)
    wait, found = ended.out.split()
    return float(wait), int(found), ended


@test("a block has what an earlier one elsewhere compiled")
def _(here):
    equal(block(here, "one")[1], 0)
    equal(kernels(here), ENTRIES)
    _, found, ended = block(here, "two")
    equal((found, ended.err), (ENTRIES, ""))


@test("a block that is not to push pushes nothing")
def _(here):
    block(here, "one", ', push="never"')
    equal(kernels(here), 0)


@test("what is no choice of push pushes nothing, and all but False is a warning")
def _(here):
    for number, (push, warnings) in enumerate((("False", 0), ('"nevr"', 1), ("7", 1))):
        ended = block(here, f"root{number}", f", push={push}")[2]
        equal(ended.err.count("is none of always, on-exit, never"), warnings, ended.err)
        equal((kernels(here), ended.err.count("has no record")), (0, 1), ended.err)


@test("a block knows the folders of an engine")
def _(here):
    code = """
import os, shutil, sys, tkbundle
with tkbundle.warm("a/b", engine="torch"):
    root = os.path.join(os.environ["TORCHINDUCTOR_CACHE_DIR"], "triton", "0")
    print(os.path.isdir(root))
    if not os.path.isdir(root):
        shutil.copytree(sys.argv[1], root)
"""
    source = here.fixture()
    for folder, found, warnings in (("one", "False\n", 1), ("two", "True\n", 0)):
        ended = python(here, code, source, env={
            "TORCHINDUCTOR_CACHE_DIR": here.path(folder),
            "TKBUNDLE_REMOTE": here.remote})
        equal((ended.status, ended.out, ended.err.count("\n")), (0, found, warnings),
              ended.err)


@test("a block begins though the remote refuses, and says so once")
def _(here):
    _, found, ended = block(
        here, "one", ', remote="redis://me:secretword@127.0.0.1:1"')
    equal(found, 0)
    equal((ended.err.count("tkbundle: pull: "), ended.err.count("\n")), (1, 1),
          ended.err)
    require("secretword" not in ended.err, ended.err)


@test("a block waits no longer for a silent remote than it is told")
def _(here):
    with hanging() as remote:
        wait, found, ended = block(
            here, "one", ", wait=1, deadline=2",
            env={"TKBUNDLE_REMOTE": remote})
    equal(found, 0)
    require(1 <= wait <= 10 * PATIENCE, wait)
    require(ended.seconds < 30 * PATIENCE, ended.seconds)


@test("an exception of the block goes through, and what it compiled is pushed")
def _(here):
    source = here.fixture()
    ended = python(here, """
import shutil, sys, tkbundle
with tkbundle.warm("a/b", "one"):
    shutil.copytree(sys.argv[1], "one", dirs_exist_ok=True)
    raise KeyError("mine")
""", source, env={"TKBUNDLE_REMOTE": here.remote})
    require("KeyError: 'mine'" in ended.err, ended.err)
    equal(kernels(here), ENTRIES)
