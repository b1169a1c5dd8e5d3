# SPDX-License-Identifier: Apache-2.0
"""Kernels travel in what torch.compiler.save_cache_artifacts() gives. PyTorch is a
stand-in; tests/engines has the real one."""
import os
import shutil
import sys

from graphs import STAND_IN
from machine import HERE, variables
from scene import equal, require, test

USER = os.path.join(HERE, "artifact_user.py")


def use(here, root, *words, env=None):
    return here.go([sys.executable, USER, *words], env={
        **variables(here, STAND_IN), "TORCHINDUCTOR_CACHE_DIR":
        here.path(root), "TKBUNDLE_REMOTE": "", **(env or {})}, status=0)


def fill(here, root):
    """Inductor's root, with kernels for GPU 1; tells their keys."""
    shutil.copytree(here.fixture(), here.path(root, "triton", "1"))
    folder = here.path(root, "triton", "1")
    return sorted(key for key in os.listdir(folder) if any(
        name.endswith(".cubin")
        for name in os.listdir(os.path.join(folder, key))))


def there(here, root):
    folder = here.path(root, "triton", "1")
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(name for name in names if name != ".tkbundle")


@test("kernels that were collected come back from saved artifacts elsewhere")
def _(here):
    keys = fill(here, "one")
    ended = use(here, "one", "save", "blob", *keys[:2])
    equal(ended.err, "")
    ended = use(here, "two", "load", "blob")
    equal((ended.err, there(here, "two")), ("", keys[:1]))
    here.tkbundle("verify", here.path("two"))


@test("of kernels that were tuned, saved artifacts have what was chosen")
def _(here):
    keys = fill(here, "one")
    require(len(keys) >= 3, keys)
    use(here, "one", "save", "blob", *keys[:3])
    use(here, "two", "load", "blob")
    require(keys[0] in there(here, "two") and keys[2] not in there(here, "two"))


@test("kernels of a graph that was a hit are saved, too")
def _(here):
    keys = fill(here, "one")
    use(here, "one", "hit", "blob", *keys)
    use(here, "two", "load", "blob")
    equal(there(here, "two"), keys)


@test("an artifact that is damaged, or has no place, is a warning")
def _(here):
    keys = fill(here, "one")
    use(here, "one", "save", "blob", *keys[:2])
    with open(here.path("blob"), "r+b") as file:
        data = bytearray(file.read())
        data[len(data) // 2] ^= 1
        file.seek(0)
        file.write(data)
    ended = use(here, "two", "load", "blob")
    equal((ended.err.count("tkbundle: artifacts: "), there(here, "two")),
          (1, []), ended.err)
    use(here, "one", "save", "blob", *keys[:2])
    here.write("three", "a file")
    ended = use(here, "three", "load", "blob")
    equal(ended.err.count("tkbundle: artifacts: "), 1, ended.err)


@test("without libraries, artifacts are saved as PyTorch saves them")
def _(here):
    ended = use(here, "one", "save", "blob", "A" * 52, "B" * 52,
                env={"TKBUNDLE_LIBRARY": here.folder, "PATH": "/nowhere"})
    require("Traceback" not in ended.err, ended.err)
    require(os.path.getsize(here.path("blob")) > 0)
