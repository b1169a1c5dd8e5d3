# SPDX-License-Identifier: Apache-2.0
"""Compiles the modules that Inductor wrote on an H100, with the real PyTorch and no GPU.

    real_modules.py PROGRAM PYTHON

The entries must be those that the H100 made: the same kernels, each with the same
PTX but for the folders in it. Keys are only the same where PyTorch's Python is: the
number of them is printed. A reduction for which Inductor chooses otherwise where it sees
no GPU must have the configuration of a GPU.
"""
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

FIXTURE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "fixtures",
                       "inductor-2.11-llama4-h100.tar.gz")


def content(folder, name):
    """What is compiled, without where the source was: debug data and asserts tell that."""
    with open(os.path.join(folder, name + ".ptx"), encoding="utf-8") as file:
        text = file.read().partition("\t.section\t.debug")[0]
    text = re.sub(r"assertFile_\d+\[\d+\] = \{[^}]*\}", "", text)
    with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
        metadata = json.load(file)
    return (re.sub(r"[\w./-]*/", "", text), metadata["num_warps"], metadata["num_stages"],
            metadata["shared"], tuple(metadata["target"].values()))


def entries(root):
    """The contents of kernels, by key."""
    found = {}
    for key in os.listdir(root):
        folder = os.path.join(root, key)
        for name in os.listdir(folder) if not key.startswith(".") else ():
            if name.endswith(".cubin"):
                found[key] = content(folder, name[:-len(".cubin")])
    return found


def compile_modules(program, python, inductor, root, *more, **variables):
    ended = subprocess.run([program, "compile", inductor, "--target", "cuda:90", "--cache",
                            root, "--python", python, "--json", "--keep-going", *more],
                           text=True, check=False, stdout=subprocess.PIPE,
                           env=dict(os.environ, **variables))
    return ended.returncode, json.loads(ended.stdout)


def is_as_on_a_gpu(program, python, inductor, folder):
    """PyTorch 2.11 takes a block of 2 rows and one warp there, and 8 rows without a GPU."""
    rows = "size_hints={'x': 256, 'r0_': 512}"
    for parent, _folders, names in os.walk(inductor):
        for name in names if os.path.dirname(parent) == inductor else ():
            with open(os.path.join(parent, name), encoding="utf-8", errors="replace") as file:
                text = file.read()
            if text.count(rows) == 1 and "@triton_heuristics.persistent_reduction(" in text:
                module = os.path.join(folder, "reduction.py")
                with open(module, "w", encoding="utf-8") as file:
                    file.write(text.replace(rows, rows.replace("256", "1024")))
                # With an empty variable, as a container's file may have it.
                _status, told = compile_modules(program, python, module,
                                                os.path.join(folder, "reduction"),
                                                TORCHINDUCTOR_CACHE_DIR="")
                configurations = {kernel["configuration"] for kernel in told["kernels"]}
                print(f"a reduction of 1024 rows: {', '.join(sorted(configurations))}")
                return told["failed"] == 0 and all(
                    "XBLOCK=2 " in text and "num_warps=1 " in text for text in configurations)
    return False


def main():
    program = os.path.realpath(sys.argv[1])
    python = os.path.abspath(sys.argv[2])  # a link into a virtual environment
    with tempfile.TemporaryDirectory(prefix="tkbundle-modules.") as folder:
        with tarfile.open(FIXTURE) as archive:
            archive.extractall(folder)
        inductor = os.path.join(folder, ".cache", "torchinductor")
        theirs = entries(os.path.join(inductor, "triton", "0"))
        status, told = compile_modules(program, python, inductor, os.path.join(folder, "all"))
        ours = entries(os.path.join(folder, "all"))
        missing = [key for key, value in theirs.items() if value not in ours.values()]
        more = [key for key, value in ours.items() if value not in theirs.values()]
        print(f"all: {told['compiled']} compiled, {told['failed']} failed; of {len(theirs)} "
              f"kernels of the H100, {len(theirs) - len(missing)} have the same PTX, "
              f"{len(theirs.keys() & ours.keys())} the same key; {len(more)} are others")
        winner_status, winners = compile_modules(program, python, inductor,
                                                 os.path.join(folder, "some"), "--winners")
        made = entries(os.path.join(folder, "some"))
        print(f"winners: {winners['compiled']} compiled, {winners['failed']} failed")
        is_good = status == 0 and not missing and not more and winner_status == 0 and \
            0 < len(made) < len(ours) and made.keys() <= ours.keys()
        for kernel in told["kernels"] + winners["kernels"]:
            if kernel["message"]:
                print(kernel["input"], kernel["configuration"], kernel["message"])
        is_good = is_as_on_a_gpu(program, python, inductor, folder) and is_good
        return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
