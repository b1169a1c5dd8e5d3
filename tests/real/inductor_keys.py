#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `tkbundle compile` to what the real Inductor compiles, for four types of GPU.

    inductor_keys.py [--mode MODE] [--rows N] [--work FOLDER] TKBUNDLE PYTHON [ARCH...]

PYTHON has PyTorch 2.11 and Triton 3.6. Graphs are compiled by Inductor alone, by default and
with max-autotune, as on a machine with a GPU of each type (inductor_graphs.py). Of the modules
in its cache `tkbundle compile` must make the same keys, with the same bytes. It makes more: each
kernel also under the key that the other one of Inductor's processes would ask for. A cubin may be
another one where all else of the entry is the same, and ptxas alone makes several of this PTX.

MODE is one of the two, `default` or `max-autotune`. N rows of the table are made at a time, by
default one for each two cores: Inductor compiles one kernel after another here. In FOLDER, which
must be new, all caches are left.
"""
import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import threading
import time

import ptxas_alone
from keys import entries, metadata, other_bytes

HERE = os.path.dirname(os.path.realpath(__file__))
ARCHES = ("80", "90", "100", "120")
MODES = ("max-autotune", "default")  # the longest first
CORES = len(os.sched_getaffinity(0))
printing = threading.Lock()


def run(words, log, **variables):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("TRITON_", "TORCHINDUCTOR_", "TKBUNDLE", "PYTHON"))}
    started = time.monotonic()
    with open(log, "w+", encoding="utf-8") as file:
        ended = subprocess.run(words, env=dict(env, CUDA_VISIBLE_DEVICES="", **variables),
                               stdout=file, stderr=file, check=False)
        file.seek(0)
        text = file.read()
    if ended.returncode != 0:
        sys.exit(f"{text[-3000:]}{words[0]}: exit status {ended.returncode}")
    return time.monotonic() - started


def varying_cubins(theirs, others, tool):
    """The keys of those whose cubin alone differs, and of whose PTX ptxas makes several."""
    found = set()
    for key, names in others.items():
        stem = names[0].removesuffix(".cubin")
        if names == [stem + ".cubin"] and ptxas_alone.makes_several(tool,
                                                                    theirs[key][stem + ".ptx"]):
            found.add(key)
    return found


def compare(given, work, mode, arch):
    """Prints a row, below what is not as it is to be."""
    folder = os.path.join(work, f"{mode}-{arch}")
    os.mkdir(folder)
    inductor, made = os.path.join(folder, "inductor"), os.path.join(folder, "made")
    theirs_s = run([given.python, os.path.join(HERE, "inductor_graphs.py"), arch, mode],
                   os.path.join(folder, "inductor.log"), HOME=folder,
                   TORCHINDUCTOR_CACHE_DIR=inductor)
    ours_s = run([given.tkbundle, "compile", inductor, "--target", f"cuda:{arch}", "--cache",
                  made, "--python", given.python, "-j", str(max(1, CORES // given.rows))],
                 os.path.join(folder, "compile.log"), HOME=folder)
    theirs, ours = entries(os.path.join(inductor, "triton", "0")), entries(made)
    common = theirs.keys() & ours.keys()
    others = other_bytes(theirs, ours, common)
    varying = varying_cubins(theirs, others, ptxas_alone.program(given.python, arch))
    same = len(common) - len(others)
    with printing:
        for key in others.keys() - varying:
            print(f"    {key}: other bytes in {', '.join(others[key])}")
        for key in theirs.keys() - common:
            print(f"    not made: {metadata(theirs[key])[0]} ({key})")
        print(f"| {mode}, sm_{arch} | {len(theirs)} | {len(common)} | {same} | {len(varying)} | "
              f"{len(ours.keys() - common)} | {theirs_s:.0f} | {ours_s:.0f} |", flush=True)
    return bool(theirs) and same + len(varying) == len(theirs)


def compare_all(given, work):
    modes = [given.mode] if given.mode else MODES
    print("| cache | entries | same key | same bytes | another cubin, as ptxas alone makes | "
          "made, not asked for | Inductor, s | tkbundle compile, s |\n" + "|---" * 8 + "|",
          flush=True)
    with concurrent.futures.ThreadPoolExecutor(given.rows) as pool:
        rows = [pool.submit(compare, given, work, mode, arch)
                for mode in modes for arch in given.arches or ARCHES]
    return all([row.result() for row in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mode", choices=MODES)
    parser.add_argument("--rows", type=int, default=max(1, CORES // 2))
    parser.add_argument("--work", metavar="FOLDER")
    for name in ("tkbundle", "python"):
        parser.add_argument(name, type=os.path.abspath)
    parser.add_argument("arches", nargs="*")
    given = parser.parse_args()
    if given.work:
        os.mkdir(given.work)
        return 0 if compare_all(given, os.path.realpath(given.work)) else 1
    with tempfile.TemporaryDirectory(prefix="tkbundle-inductor.") as folder:
        return 0 if compare_all(given, os.path.realpath(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
