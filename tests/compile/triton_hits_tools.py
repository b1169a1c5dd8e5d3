#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hits of Triton kernels see what they are compiled with, and how it is installed.

usage: triton_hits_tools.py PROGRAM SOURCES

Prints TAP.
"""
import glob
import json
import os
import py_compile
import shutil
import subprocess
import sys
import time
import zipfile

from compile_options import MODULE
from triton_hits_scene import SIGNATURE, SOURCE, TICK, main

def real_ptxas(scene, name="ptxas"):
    return glob.glob(os.path.join(scene.venv, "**", "nvidia", "bin", name), recursive=True)[0]


def with_ptxas(scene):
    scene.write("ptxas", f'#!/bin/sh\nexec {real_ptxas(scene)} "$@"\n')
    os.chmod(scene.path("ptxas"), 0o755)
    scene.options = ["--ptxas", scene.path("ptxas")]
    scene.seen("another ptxas", lambda: scene.append("ptxas", "# more\n"))
    scene.seen("a ptxas with another mode", lambda: os.chmod(scene.path("ptxas"), 0o700))


SWAPS = """
import os
if os.path.lexists({next!r}):
    os.replace({next!r}, {ptxas!r})
"""


def with_ptxas_replaced(scene):
    """The second job of a worker replaces the ptxas, which is a link."""
    ptxas, after = scene.path("ptxas"), scene.path("after")
    os.symlink(real_ptxas(scene), ptxas)
    os.symlink(real_ptxas(scene, "ptxas-blackwell"), after)
    scene.write("own/swaps.py", SOURCE + SWAPS.format(next=after, ptxas=ptxas))
    files = [scene.path("own/kernels.py"), scene.path("own/swaps.py")]
    scene.write("list.json", json.dumps([
        {"file": file, "kernel": "add", "signature": SIGNATURE} for file in files]))
    scene.options = ["--ptxas", ptxas, "-j1"]
    time.sleep(TICK)
    started, first = scene.compile(inputs=[scene.path("list.json")])
    scene.ok(started == 1 and os.readlink(ptxas).endswith("blackwell"),
             "a worker has two jobs, and ptxas is replaced between them")
    time.sleep(TICK)
    started, says = scene.compile(inputs=[scene.path("list.json")])
    scene.ok(started == 1, "no answer of that worker is remembered")
    os.rename(scene.path("cache"), scene.path("before"))
    _started, anew = scene.compile(inputs=[scene.path("list.json")])
    scene.ok(keys(says) == keys(anew) != keys(first) and len(keys(anew)) == 2,
             "the next one has the keys of the new ptxas")


NAMES = """
os.environ["TRITON_PTXAS_PATH"] = {ptxas!r}
"""
SETS = """
triton.knobs.nvidia.ptxas = {ptxas!r}
"""


def with_ptxas_of_another_job(scene):
    """A worker has kernels between jobs that name another ptxas, each in its way."""
    shutil.copytree(os.path.join(scene.sources, "tests", "compile", "stand_in"),
                    scene.path("stand_in"))
    scene.folders.append(scene.path("stand_in"))
    os.mkdir(scene.path("stand_in/torch/bin"))
    other = scene.path("stand_in/torch/bin/ptxas")
    os.symlink(real_ptxas(scene, "ptxas-blackwell"), other)
    scene.write("own/module.py", MODULE)
    scene.write("own/names.py", SOURCE + NAMES.format(ptxas=other))
    scene.write("own/sets.py", SOURCE + SETS.format(ptxas=other))
    kinds = SIGNATURE, SIGNATURE.replace("32", "16"), SIGNATURE.replace(":16", "")

    def made(*jobs):
        scene.write("list.json", json.dumps([
            {"file": scene.path(f"own/{file}.py"), "kernel": "add", "signature": kinds[number]}
            for file, number in jobs if file != "module"]))
        modules = [scene.path("own/module.py") for file, _ in jobs if file == "module"]
        shutil.rmtree(scene.path("cache"), ignore_errors=True)
        started, says = scene.compile(inputs=[*modules, scene.path("list.json"), "-j1"])
        return started, keys(says)

    _started, alone = made(("kernels", 0), ("kernels", 1), ("kernels", 2))
    started, found = made(("module", 0), ("kernels", 0), ("names", 0), ("kernels", 1),
                          ("sets", 0), ("kernels", 2))
    module, found = found[:-5], found[-5:]
    scene.ok(started == 1 and len(set(module)) == 4 and "" not in module,
             "a worker compiles for a module, a file and a knob that name another ptxas")
    scene.ok(found[1] == found[3] != found[0], "that one is in their keys")
    scene.ok(found[::2] == alone, "and not in those of the kernels between them")


def keys(says):
    return [kernel["key"] for line in says.splitlines() if line.startswith("{")
            for kernel in json.loads(line)["kernels"]]


def copy_triton(scene, folder, changed):
    """A Triton of links, but for the file that is to be changed."""
    triton = os.path.dirname(glob.glob(os.path.join(
        scene.venv, "lib", "python3*", "site-packages", "triton", "knobs.py"))[0])
    os.makedirs(scene.path(f"{folder}/triton"))
    for name in os.listdir(triton):
        if name == changed:
            shutil.copy(os.path.join(triton, name), scene.path(f"{folder}/triton"))
        else:
            os.symlink(os.path.join(triton, name), scene.path(f"{folder}/triton/{name}"))


def with_triton(scene):
    copy_triton(scene, "other", "knobs.py")
    scene.folders.append(scene.path("other"))
    scene.seen("another Triton", lambda: scene.append("other/triton/knobs.py", "# more\n"))
    copy_triton(scene, "newer", "__init__.py")
    scene.append("newer/triton/__init__.py", "# more\n")

    def upgrade():  # as pip does: the old one goes, the new one has its name
        os.rename(scene.path("other/triton"), scene.path("other/~riton"))
        os.rename(scene.path("newer/triton"), scene.path("other/triton"))
        shutil.rmtree(scene.path("other/~riton"))

    scene.seen("a Triton that was upgraded", upgrade)
    scene.seen("a Triton that was removed",
               lambda: shutil.rmtree(scene.path("other/triton")))


def with_packed(scene):
    """Modules without a source, and in an archive."""
    source = SOURCE.replace("import helper", "import helper, amount") + "\nSIZE = amount.SIZE\n"
    scene.write("own/kernels.py", source)

    def compiled(size):
        scene.write("temporary/amount.py", f"SIZE = {size}\n")
        py_compile.compile(scene.path("temporary/amount.py"),
                           scene.path("first/amount.pyc"), doraise=True)
        os.remove(scene.path("temporary/amount.py"))

    def packed(size):
        with zipfile.ZipFile(scene.path("packed.zip"), "w") as archive:
            archive.writestr("amount.py", f"SIZE = {size}\n")

    compiled(1)
    scene.seen("another module without a source", lambda: compiled(22))
    packed(1)
    scene.folders.insert(0, scene.path("packed.zip"))
    scene.seen("another module in an archive", lambda: packed(22))


def with_flags(scene):
    for name in ("PYTHONOPTIMIZE", "PYTHONNOUSERSITE", "PYTHONSAFEPATH", "PYTHONHASHSEED"):
        scene.seen(name, lambda name=name: scene.variables.update({name: "1"}))
        scene.variables.clear()


def with_editable(scene):
    subprocess.run([scene.real, "-m", "venv", "--without-pip", scene.path("venv")],
                   check=True)
    site = glob.glob(scene.path("venv/lib/python3*/site-packages"))[0]
    real = glob.glob(os.path.join(scene.venv, "lib", "python3*", "site-packages"))[0]
    os.mkdir(scene.path("editable"))
    os.rename(scene.path("second/helper.py"), scene.path("editable/helper.py"))
    with open(os.path.join(site, "mine.pth"), "w") as file:
        file.write(f"{real}\n{scene.path('editable')}\n")
    scene.python = scene.path("venv/bin/python3")
    scene.seen("an edited module of an editable install",
               lambda: scene.append("editable/helper.py", "# more\n"))
    os.mkdir(scene.path("further"))
    shutil.copy(scene.path("editable/helper.py"), scene.path("further"))

    def install_other():
        with open(os.path.join(site, "a.pth"), "w") as file:
            file.write(scene.path("further") + "\n")

    scene.seen("a further editable install", install_other)


sys.exit(main((with_ptxas, with_ptxas_replaced, with_ptxas_of_another_job, with_triton,
               with_packed, with_flags, with_editable)))
