#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `tkbundle compile` to what the real Inductor compiles, for four types of GPU.

    inductor_keys.py TKBUNDLE PYTHON [ARCH...]

PYTHON has PyTorch 2.11 and Triton 3.6. Graphs are compiled by Inductor alone, by default and
with max-autotune, as on a machine with a GPU of each type (inductor_graphs.py). Of the modules
in its cache `tkbundle compile` must make the same keys, with the same bytes. It makes more: each
kernel also under the key that the other one of Inductor's processes would ask for.
"""
import os
import subprocess
import sys
import tempfile

from keys import entries, same_bytes

HERE = os.path.dirname(os.path.realpath(__file__))
ARCHES = ("80", "90", "100", "120")


def run(words, log, **variables):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("TRITON_", "TORCHINDUCTOR_", "TKBUNDLE", "PYTHON"))}
    with open(log, "w+", encoding="utf-8") as file:
        ended = subprocess.run(words, env=dict(env, CUDA_VISIBLE_DEVICES="", **variables),
                               stdout=file, stderr=file, check=False)
        file.seek(0)
        text = file.read()
    if ended.returncode != 0:
        sys.exit(f"{text[-3000:]}{words[0]}: exit status {ended.returncode}")
    return text


def compare(program, python, arch, mode, folder):
    inductor, made = os.path.join(folder, "inductor"), os.path.join(folder, "made")
    log = os.path.join(folder, "log")
    run([python, os.path.join(HERE, "inductor_graphs.py"), arch, mode], log, HOME=folder,
        TORCHINDUCTOR_CACHE_DIR=inductor)
    theirs = entries(os.path.join(inductor, "triton", "0"))
    run([program, "compile", inductor, "--target", f"cuda:{arch}", "--cache", made, "--python",
         python], log, HOME=folder)
    ours = entries(made)
    same = same_bytes(theirs, ours, theirs.keys() & ours.keys())
    print(f"| {mode}, sm_{arch} | {len(theirs)} | {len(theirs.keys() & ours.keys())} | {same} | "
          f"{len(ours.keys() - theirs.keys())} |", flush=True)
    return bool(theirs) and same == len(theirs)


def main():
    program, python = map(os.path.abspath, sys.argv[1:3])
    print("| cache | entries | same key | same bytes | made, not asked for |\n|---|---|---|---|---|")
    is_good = True
    for mode in ("default", "max-autotune"):
        for arch in sys.argv[3:] or ARCHES:
            with tempfile.TemporaryDirectory(prefix="tkbundle-inductor.") as folder:
                is_good = compare(program, python, arch, mode, os.path.realpath(folder)) and is_good
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
