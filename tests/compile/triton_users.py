#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `tkbundle compile` to launches of kernels such as people write.

usage: triton_users.py PROGRAM SOURCES

Attention with heuristics, a persistent product by TMA, grouped products of tuples, norms
with constants of their module, Gluon's with its layouts, all in a package (`user`). Keys and
bytes must be those of a launch, by the signature, and for other targets by what is recorded.
Prints TAP.
"""
import json
import os
import sys

from triton_again import contents
from triton_tuned import run_in_scene, says

PAIR = "shared.Operand(*fp16:16, i32:16)"
LAYOUT = "BlockedLayout([1], [32], [4], [0])"
BLOCKS = "BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])"
TILE = ("tensordesc<fp16[64, 64], NVMMASharedLayout(swizzle_byte_width=128, "
        "element_bitwidth=16, rank=2)>")
# The kernel, its signature, and options; the number of entries.
KERNELS = [
    ("attention", "*fp16:16, *fp16:16, *fp16:16, *fp16:16, fp32, i32=100, i32:16, 64, False",
     {}, 2),
    ("persistent", "tensordesc<fp16[1, 1]>, tensordesc<fp16[1, 1]>, tensordesc<fp16[1, 1]>, "
     "i32:16, i32:16, i32:16, True, 132", {}, 2),
    ("described", "*fp16:16, *fp16:16, i32:16, i32:16, i64:16, 64, @shared.leaky_relu",
     {"num_warps": 8}, 1),
    ("grouped", f"({PAIR}, shared.Operand(*fp16:16, i32)), {PAIR}, *fp16:16, (i32:16, i32), "
     "2, 64", {}, 1),
    ("norm", "*fp16:16, *fp16:16, *fp16:16, *fp16:16, *kfp32:16, i32, i32, 1024",
     {"num_warps": 8, "num_stages": 1}, 1),
    ("adam", "*fp32, *fp32:16, *fp32:16, i32, fp32, fp32, u1", {}, 1),
    ("many", "*i32:16, i32", {}, 12),
    ("twice", "*fp32:16, i32=48", {}, 2),
    ("scale", f"*fp32:16, *fp32:16, i32, 128, @gl.{LAYOUT}", {}, 1),
    ("moved", f"{TILE}, {TILE}, @gl.{BLOCKS}", {}, 1),
]
OF_GLUON = ("scale", "moved")
NAMES = [name for name, _, _, _ in KERNELS]
RECORDED = ["described", "grouped", *OF_GLUON]


def file_of(scene, name):
    return os.path.join(scene.tests, "compile", "user",
                        "layered.py" if name in OF_GLUON else "kernels.py")


def launch(scene, version, names, arches="90", notes=""):
    cache = scene.cache()
    ended = scene.run([scene.python, os.path.join(scene.tests, "compile", "user_launches.py"),
                       os.path.join(scene.tests, "support"), ",".join(names), arches, notes],
                      version, cache)
    return cache, says(ended, 0)


def differences(ours, theirs):
    ours, theirs = contents(ours), contents(theirs)
    faults = [f"missing: {key}/{name}" for key, name in sorted(theirs.keys() - ours.keys())]
    faults += [f"more: {key}/{name}" for key, name in sorted(ours.keys() - theirs.keys())]
    return faults + [f"other bytes: {key}/{name}" for key, name in ours.keys() & theirs.keys()
                     if ours[key, name] != theirs[key, name]]


def by_signature(scene):
    """All in one list; of each as many entries as a launch makes."""
    cache, path = scene.cache(), os.path.join(scene.folder, "users.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump([{"file": file_of(scene, name), "kernel": name, "signature": signature, **more}
                   for name, signature, more, _ in KERNELS], file)
    ended = scene.run([scene.program, "compile", path, "--target", "cuda:90", "--python",
                       scene.python, "--cache", cache, "-j2", "--strict", "--json"], "3.6.0", cache)
    theirs, faults = launch(scene, "3.6.0", NAMES)
    faults += says(ended, 0) + differences(cache, theirs)
    made = [kernel["input"].rpartition(":")[2] for kernel in json.loads(ended.stdout)["kernels"]]
    faults += [f"{made.count(name)} of {name}" for name, _, _, count in KERNELS
               if made.count(name) != count]
    return faults + ([ended.stderr] if ended.stderr else [])


def by_record(scene, version, names):
    """For sm_120: of some PTX for sm_100, Triton's ptxas makes one of two cubins."""
    notes = os.path.join(scene.folder, f"user-notes-{version}")
    os.mkdir(notes)
    faults = launch(scene, version, names, notes=notes)[1]
    cache = scene.cache()
    scene.folders = [os.path.join(scene.tests, "compile")]
    ended = scene.run([scene.program, "compile", notes, "--target", "cuda:120",
                       "--python", scene.python, "--cache", cache, "-j2"], version, cache)
    scene.folders = []
    theirs, more = launch(scene, version, names, "120")
    return faults + says(ended, 0) + more + differences(cache, theirs)


# What makes no sense, and what is said.
NONSENSE = [
    ("described", "*fp16, *fp16, i32, i32, i64, 64, @shared.gelu",
     "'@shared.gelu', cannot be evaluated: AttributeError: module 'user.shared' has no "
     "attribute 'gelu'"),
    ("grouped", "(i32), shared.Pair(*fp16, i32), *fp16, (i32), 1, 64",
     "'shared.Pair(*fp16, i32)', cannot be evaluated: AttributeError: "),
    ("grouped", "(i32), shared.relu(*fp16, i32), *fp16, (i32), 1, 64",
     "is no tuple: 'shared.relu' is no class of named tuples"),
    ("grouped", "(i32), shared.Operand(*fp16), *fp16, (i32), 1, 64",
     "is no such tuple: Operand.__new__() missing 1 required positional argument"),
    ("moved", TILE.replace("NVMMA", "Other") + ", i32, 1",
     "has a layout that this Triton does not have: 'OtherSharedLayout'"),
    ("moved", TILE.replace("rank=2", "size=2") + ", i32, 1", "has a layout that makes no sense: "),
    ("moved", "tensordesc<fp16[64, 64], __import__('os')>, i32, 1",
     "has a layout that this Triton does not have: '__import__'"),
    ("nameless", "*i32",
     "'nameless' does not compile: at 2:15: NameError('NOTHING is not defined')"),
    ("hidden", "*i32", "has no kernel 'hidden'; there are: 'adam', 'attention', "),
]


def refused(scene):
    """Each in a sentence."""
    path = os.path.join(scene.folder, "nonsense.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump([{"file": file_of(scene, name), "kernel": name, "signature": signature}
                   for name, signature, _ in NONSENSE], file)
    ended = scene.run([scene.program, "compile", path, "--target", "cuda:90", "--python",
                       scene.python, "--cache", scene.cache(), "--keep-going", "-j2"],
                      "3.6.0", "")
    return says(ended, 1, f"failed {len(NONSENSE)} ", *(sentence for _, _, sentence in NONSENSE))


def tell(scene):
    scene.tap("by their signatures, kernels have the keys and bytes of launches",
              by_signature)
    scene.tap("from what is recorded, another Triton makes what its launches make",
              by_record, "3.9.0", RECORDED)
    scene.tap("what makes no sense is refused", refused)


if __name__ == "__main__":
    sys.exit(run_in_scene(tell))
