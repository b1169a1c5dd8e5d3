#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `tkbundle compile` of bundles and cache roots to what launches compile.

usage: triton_again.py PROGRAM SOURCES

Kernels are launched for one target, and what is recorded of them is compiled for
others: that must make the keys and the bytes of launches there. Prints TAP.
"""
import json
import os
import shutil
import sys

from triton_tuned import A, LAUNCHES, keys, number, run_in_scene, says

# Those whose IR tells everything but constants.
BY_IR = ("plain", "registers", "nested", "inner", "heuristic", "pruned", "unspecialized")
# By specialisations, also with Triton's newer kinds of arguments.
NOTED = (*BY_IR, "modelled", "paired", "described", "layered", "named")
# Passed by position, which a signature does not tell.
BY_POSITION = [("named", "", [A, A, 8, 2], "3.3.1")]
TARGETS = "100,120"

KERNEL = """import triton
import triton.language as tl


@triton.jit
def {name}(x, out, n, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(out + at, tl.load(x + at, at < n) + {number}, at < n)
"""


def contents(cache, kernels=None):
    """The files of the kernels, or of these, less those that name their folder, and LLVM
    IR, whose layout of data has two spellings in Triton 3.3."""
    found = {}
    for key in keys(cache):
        for name in os.listdir(os.path.join(cache, key)):
            if name.startswith("__") or name.endswith(".llir"):
                continue
            if kernels and name.partition(".")[0] not in kernels:
                continue
            with open(os.path.join(cache, key, name), "rb") as file:
                found[key, name] = file.read()
    return found


def launch(scene, names, version, targets="90", notes=""):
    """The cache, and what went wrong."""
    cache = scene.cache()
    return cache, scene.launch(version, [
        (name, arguments, cache) for name, _, arguments, since in LAUNCHES + BY_POSITION
        if name in names and number(version) >= number(since)], targets, notes)


def record(scene, names, version, notes=""):
    return launch(scene, names, version, notes=notes)[0]


def again(scene, version, recorded, *more, cache=None, jobs=1):
    """Each job at the same time needs a Python, that reads all of Triton for its keys."""
    cache = cache or scene.cache()
    ended = scene.run([scene.program, "compile", recorded, "--target",
                       "cuda:" + TARGETS.replace(",", ",cuda:"), "--python",
                       scene.python, "--cache", cache, "--keep-going", f"-j{jobs}",
                       *more], version, cache)
    return ended, cache


def bundle(scene, cache, *more):
    path = cache + ".tkb"
    scene.run([scene.program, "collect", cache, "-o", path, *more], "3.6.0", cache)
    return path


def launched(scene, version):
    """What launches compile for the targets, once of each Triton; and what went wrong."""
    if version not in scene.launched:
        scene.launched[version] = launch(scene, NOTED, version, TARGETS)
    return scene.launched[version]


def same(scene, names, version, ended, cache):
    """What was compiled is what launches compile."""
    theirs, failure = launched(scene, version)
    ours, theirs = contents(cache, names), contents(theirs, names)
    faults = says(ended, 0)
    faults += [f"{key} is of another kernel" for key in keys(cache) - {key for key, _ in ours}]
    if not theirs or ours.keys() != theirs.keys():
        faults.append(f"{len(keys(cache))} keys; of launches, {len(theirs.keys() - ours.keys())}"
                      f" files are missing, {len(ours.keys() - theirs.keys())} are more "
                      f"{failure}")
    return faults + [f"{key}/{name} differs" for key, name in ours.keys() & theirs.keys()
                     if ours[key, name] != theirs[key, name]]


def by_ir(scene, version):
    ended, cache = again(scene, version, record(scene, BY_IR, version), jobs=2)
    return same(scene, BY_IR, version, ended, cache)


def by_notes(scene, version):
    """A lean bundle has no IR."""
    notes = os.path.join(scene.folder, f"notes{version}")
    os.mkdir(notes)
    cache = record(scene, NOTED, version, notes)
    path = bundle(scene, cache, "--profile", "lean", "--tree", f"specialisations={notes}")
    ended, made = again(scene, version, path, jobs=2)
    faults = same(scene, NOTED, version, ended, made)
    ended, made = again(scene, version, notes, cache=made)
    return faults + says(ended, 0, f"compiled 0, hits {len(keys(made))}, failed 0 ")


def other_triton(scene, before, version):
    """Of the kernels that both can compile."""
    notes = os.path.join(scene.folder, f"notes{before}")
    ended, cache = again(scene, version, notes, jobs=2)
    return same(scene, NOTED, version, ended, cache)


def other_ir(scene):
    path = bundle(scene, record(scene, ("plain",), "3.3.1"))
    ended, _ = again(scene, "3.6.0", path)
    return says(ended, 1, "cannot be told from the IR of Triton 3.3.1: Triton 3.6.0 makes "
                "another; a specialisation would tell\n")


def write(scene, name, number):
    with open(os.path.join(scene.folder, "modules", name + ".py"), "w",
              encoding="utf-8") as file:
        file.write(KERNEL.format(name=name, number=number))


def record_modules(scene, *names):
    cache = scene.cache()
    os.makedirs(os.path.join(scene.folder, "modules"), exist_ok=True)
    for name in names:
        write(scene, name, 1)
    with open(os.path.join(scene.folder, "modules.json"), "w", encoding="utf-8") as file:
        json.dump([{"file": f"modules/{name}.py", "kernel": name,
                    "signature": "*fp32:16, *fp32, i32, 64"} for name in names], file)
    scene.run([scene.program, "compile", "modules.json", "--target", "cuda:90", "--python",
               scene.python, "--cache", cache, "-j1"], "3.6.0", cache)
    return cache


def changed(scene):
    """Each costs itself alone, and says why."""
    cache = record_modules(scene, "same", "changed", "gone", "broken", "other", "none")
    modules = os.path.join(scene.folder, "modules")
    write(scene, "changed", 2)
    os.unlink(os.path.join(modules, "gone.py"))
    with open(os.path.join(modules, "broken.py"), "w", encoding="utf-8") as file:
        file.write("1 +\n")
    with open(os.path.join(modules, "other.py"), "w", encoding="utf-8") as file:
        file.write(KERNEL.format(name="another", number=1))
    with open(os.path.join(modules, "none.py"), "w", encoding="utf-8"):
        pass
    ended, made = again(scene, "3.6.0", cache)
    return says(ended, 4, "compiled 2, hits 0, failed 10 ", ":gone (",
                f"the source of 'gone' is not found: there is no '{modules}/gone.py', nor one "
                "like it in PYTHONPATH\n",
                f"'changed' of '{modules}/changed.py' has changed since it was recorded, or has "
                "constants that cannot be told from its IR: 'SIZE'\n",
                f"the source of 'broken', '{modules}/broken.py' cannot be run: SyntaxError: "
                "invalid syntax", f"'other' of '{modules}/other.py' has changed since ",
                f"the source of 'none' is not found: '{modules}/none.py' has no such "
                "kernel\n") + ([] if len(keys(made)) == 2 else [f"{keys(made)}"])


def changed_note(scene):
    """What was noted tells a changed source where there is no IR, by the same Triton."""
    notes = os.path.join(scene.folder, "notes-changed")
    shutil.copytree(os.path.join(scene.folder, "notes3.6.0"), notes)
    for name in os.listdir(notes):
        path = os.path.join(notes, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace('"key":"', '"key":"A').replace('"source":"', '"source":"0'))
        os.rename(path, os.path.join(notes, "A" + name))
    ended, made = again(scene, "3.6.0", notes)
    return says(ended, 1, "compiled 0, ", " has changed since it was recorded\n") + [
        f"it made {key}" for key in keys(made)]


def rude(scene):
    """Modules that do at import what they like."""
    doings = {"leaves": "import sys; sys.exit(3)", "dies": "import os; os._exit(3)",
              "wants": "import no_such_package", "prints": "print('hello')",
              "raises": "raise RuntimeError('no GPU here')"}
    cache = record_modules(scene, *doings)
    for name, doing in doings.items():
        with open(os.path.join(scene.folder, "modules", name + ".py"), "a",
                  encoding="utf-8") as file:
            file.write(doing + "\n")
    ended, made = again(scene, "3.6.0", cache)
    shown = f"the source of '%s', '{scene.folder}/modules/%s.py' cannot be run: "
    faults = says(ended, 4, "compiled 2, hits 0, failed 8 ",
                  shown % ("leaves", "leaves") + "SystemExit: 3\n",
                  shown % ("wants", "wants") + "ModuleNotFoundError: No module named "
                  "'no_such_package'\n",
                  shown % ("raises", "raises") + "RuntimeError: no GPU here\n", ":dies (",
                  "exited with status 3")
    faults += ["what a module prints is in the output"] if "hello" in ended.stdout else []
    return faults + ([] if len(keys(made)) == 2 else [f"{keys(made)}"])


def moved(scene):
    """The file of the IR is gone, and lies below a folder of PYTHONPATH."""
    cache = record_modules(scene, "moved")
    place = os.path.join(scene.folder, "elsewhere")
    shutil.move(os.path.join(scene.folder, "modules"), place)
    scene.folders = [place]
    ended, made = again(scene, "3.6.0", cache)
    scene.folders = []
    return says(ended, 0, "compiled 2, hits 0, failed 0 ") + (
        [] if len(keys(made)) == 2 else [f"{keys(made)}"])


def without(scene):
    """A lean bundle without notes."""
    path = bundle(scene, record_modules(scene, "lean"), "--profile", "lean")
    ended, _ = again(scene, "3.6.0", path)
    return says(ended, 1, "nothing tells what 'lean' was compiled of: it has neither a "
                "specialisation nor IR of Triton's\n", "compiled 0, hits 0, failed 2 ")


def torn(scene):
    """Notes that lack a member, or have another in its place."""
    notes = os.path.join(scene.folder, "notes-torn")
    os.mkdir(notes)
    for letter, more in ("A", {}), ("B", {"function": 7}), ("C", {"options": 7}):
        with open(os.path.join(notes, letter * 52 + ".json"), "w", encoding="utf-8") as file:
            json.dump({"target": ["cuda", 80, 32], "function": "a:b", **more} if more else
                      {"target": ["cuda", 80, 32]}, file)
    ended, _ = again(scene, "3.6.0", notes)
    faults = says(ended, 1, *(f" ({letter * 8}) for cuda:100: its specialisation lacks "
                              "its function or options\n" for letter in "ABC"))
    return faults + (["it shows its own code"] if "Traceback" in ended.stderr else [])


def no_triton(scene):
    """The Python that runs this has none."""
    ended = scene.run([scene.program, "compile", record_modules(scene, "alone"), "--target",
                       "cuda:100", "--cache", scene.cache(), "--keep-going", "--python",
                       sys.executable], "3.6.0", "")
    faults = says(ended, 1, f"'{sys.executable}' has no Triton\n", "compiled 0, hits 0, failed 1 ")
    return faults + (["it shows its own code"] if "Traceback" in ended.stderr else [])


def emitted(scene):
    path = bundle(scene, record_modules(scene, "shown"))
    out = os.path.join(scene.folder, "out", "")
    ended = scene.run([scene.program, "compile", path, "--target", "cuda:100", "--emit", "ptx",
                       "-o", out, "--python", scene.python], "3.6.0", "")
    faults = says(ended, 0)
    for name in os.listdir(out):
        with open(os.path.join(out, name), encoding="utf-8") as file:
            faults += [] if ".target sm_100" in file.read() else [name]
    return faults + ([] if len(os.listdir(out)) == 1 else [f"{os.listdir(out)}"])


def tell(scene):
    scene.launched = {}
    for version in ("3.3.1", "3.6.0", "3.9.0"):
        scene.tap(f"from IR, Triton {version} makes what launches make", by_ir, version)
    scene.folders = [os.path.join(scene.tests, "compile")]
    for version in ("3.6.0", "3.9.0"):
        scene.tap(f"from specialisations, Triton {version} makes what launches make",
                  by_notes, version)
    scene.tap("by the same Triton, a note tells a changed source", changed_note)
    for before, version in (("3.6.0", "3.9.0"), ("3.9.0", "3.6.0")):
        scene.tap(f"what Triton {before} recorded makes the kernels of Triton {version}",
                  other_triton, before, version)
    scene.folders = []
    scene.tap("what only the IR of another Triton tells is refused", other_ir)
    scene.tap("a source that is gone, changed or broken costs itself alone", changed)
    scene.tap("a source that exits, dies, prints or wants what is not there fails alone",
              rude)
    scene.tap("a source that was moved is found by PYTHONPATH", moved)
    scene.tap("what tells nothing of a kernel is told", without)
    scene.tap("a specialisation that lacks members is refused", torn)
    scene.tap("a Python without a Triton is named", no_triton)
    scene.tap("a stage is had instead of entries", emitted)


if __name__ == "__main__":
    sys.exit(run_in_scene(tell))
