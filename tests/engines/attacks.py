# SPDX-License-Identifier: Apache-2.0
"""Another user of the machine, or a full disk, against the caches of an engine."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys

from machines import (AOT, GRAPH, VLLM, Machine, contents, files_below, full,
                      names_what_is_there, stages)
from moving import carried
from publishing import pair, units_are_whole
from scene import equal, read, require, small_disk, test, write

ROUNDS = 8

# Swaps two names, a folder and a link, as fast as it can.
SWAP = """\
import ctypes, os, sys
libc = ctypes.CDLL(None)
one, other = (name.encode() for name in sys.argv[1:])
print(flush=True)
while os.getppid() == int(os.environ["PARENT"]):
    libc.renameat2(-100, one, -100, other, 2)
"""


@contextlib.contextmanager
def swapping(scene, folder):
    """Meanwhile, `folder` is now itself, now a link out of the tree; yields where to."""
    outside = scene.path("outside")
    shutil.copytree(folder, outside, symlinks=True)
    for _, path in files_below(outside):
        write(path, "outside-secret")
    os.symlink(outside, folder + ".link")
    with subprocess.Popen([sys.executable, "-c", SWAP, folder, folder + ".link"],
                          env={**os.environ, "PARENT": str(os.getpid())},
                          stdout=subprocess.PIPE) as swapper:
        try:
            swapper.stdout.readline()
            yield outside
        finally:
            swapper.send_signal(signal.SIGKILL)
    if os.path.islink(folder):
        os.remove(folder)
        os.rename(folder + ".link", folder)
    else:
        os.remove(folder + ".link")


SWAPPED = (GRAPH, os.path.dirname(GRAPH), "modelinfos", AOT, "torch_compile_cache")


@test("what lies behind a link that somebody swaps for a folder is never packed", full)
def _(scene, first):
    for name in SWAPPED:
        with swapping(scene, first.path(name)):
            for _ in range(ROUNDS):
                first.verb("collect", "-o", scene.path("a.tkb"), status=None)
                second = Machine(scene, "second")
                second.verb("emit", scene.path("a.tkb"), status=None)
                for inside, data in contents(second.tree).items():
                    require(b"outside-secret" not in data, name, inside)
                shutil.rmtree(second.home)
        shutil.rmtree(scene.path("outside"))


@test("what lies behind a link that somebody swaps for a folder is never written, by "
      "emit, pull, relocate and gc", full)
def _(scene, first):
    first.collect("a.tkb")
    first.push()
    for name in SWAPPED:
        second = Machine(scene, "second", VLLM)
        with swapping(scene, second.path(name)) as outside:
            before = contents(outside)
            for _ in range(ROUNDS):
                second.verb("relocate", status=None)
                second.verb("emit", scene.path("a.tkb"), status=None)
                second.verb("pull", "--remote", scene.remote, "a/b", status=None)
                second.verb("gc", "--max-age", "0s", status=None)
                equal(contents(outside), before, name)
                equal(sorted(os.listdir(outside)),
                      sorted({inside.split("/")[0] for inside in before}))
        shutil.rmtree(second.home)
        shutil.rmtree(outside)


SIZES = [f"{size}k" for size in (4, 16, 48, 96, 160, 256, 352, 448)]


@test("wherever a disk gets full in an emit or a pull, units are whole or absent, one "
      "sentence says so, and with room all is there")
def _(scene):
    first, second = pair(scene)
    first.push()
    for verb in (("emit", "a.tkb"), ("pull", "--remote", scene.remote, "a/b")):
        for size in SIZES:
            with small_disk(second.tree, size):
                ended = second.verb(*verb, status=None)
                require(ended.status in (0, 1, 4, 5), size, ended.status, ended.err)
                require(ended.status == 0 or "No space left" in ended.err, ended.err)
                units_are_whole(first, second)
                if SIZES.index(size) < 5:
                    require(ended.status != 0 and carried(second.tree).keys() <
                            carried(first.tree).keys(), size)
                equal(stages(second.tree), [], size)
                for each in os.listdir(second.tree):
                    require(each in (".tkbundle", *os.listdir(first.tree)), each)
                subprocess.run(["mount", "-o", "remount,size=64m", second.tree],
                               check=True)
                second.verb(*verb)
                equal(carried(second.tree), carried(first.tree), size)


@test("a unit that has no room on the disk leaves it to the others")
def _(scene):
    first, second = pair(scene)
    _, fits = first.collect("a.tkb")
    write(first.path("cubins", "large.bin"), os.urandom(8 << 20))
    first.collect("a.tkb")
    with small_disk(second.tree, "6m"):
        ended = second.verb("emit", "--json", "-j", "1", "a.tkb", status=4)
        require("large.bin" in ended.err and "No space left" in ended.err, ended.err)
        said = json.loads(ended.out)
        equal((said["emitted"], said["failed"]), (fits["collected"], 1))


@test("wherever a disk gets full in an import or an export, there is no file, and it is "
      "said", full)
def _(scene, first):
    first.collect("a.tkb")
    subprocess.run(["tar", "-czf", scene.path("a.tar.gz"), "-C", first.home, "."],
                   check=True)
    disk = scene.path("disk")
    for size in SIZES:
        for words in (("import", scene.path("a.tar.gz"), "-o", "disk/b.tkb"),
                      ("export", scene.path("a.tkb"), "--format", "tar.gz", "-o",
                       "disk/b.tar.gz"),
                      ("export", scene.path("a.tkb"), "--format", "zip", "-o",
                       "disk/b.zip")):
            with small_disk(disk, size):
                ended = scene.tkbundle(*words, env={"TMPDIR": disk}, status=None)
                if ended.status == 0:
                    require(len(os.listdir(disk)) == 1, os.listdir(disk))
                    continue
                equal(os.listdir(disk), [], size, *words)
                require("No space left" in ended.err, size, *words, ended.err)


@test("files whose names differ in case, or in how Unicode writes them, stay apart")
def _(scene):
    first = Machine(scene, "first", VLLM)
    names = ["model.json", "Model.json", "caf\u00e9.json", "cafe\u0301.json"]
    for name in names:
        write(first.path("modelinfos", name), json.dumps(name))
    second = Machine(scene, "second")
    first.collect("a.tkb")
    second.emit("a.tkb")
    for name in names:
        equal(read(second.path("modelinfos", name)), json.dumps(name).encode())
    names_what_is_there(second)
