# SPDX-License-Identifier: Apache-2.0
"""Tells whether ptxas by itself makes several cubins of one PTX, from run to run.

It is the one that Triton brings, called as Triton does. Of some PTX for sm_100 it does: then
nobody can make the bytes again that another one has.
"""
import os
import re
import subprocess
import tempfile

RUNS = 24  # at most: it ends with the first cubin that is another


def program(python, arch):
    told = subprocess.run([python, "-c", "import triton; print(triton.__file__)"], check=True,
                          text=True, stdout=subprocess.PIPE).stdout.strip()
    name = "ptxas-blackwell" if int(arch) >= 100 else "ptxas"
    return os.path.join(os.path.dirname(told), "backends", "nvidia", "bin", name)


def assemble(tool, ptx, folder):
    source, cubin = (os.path.join(folder, "kernel." + kind) for kind in ("ptx", "cubin"))
    with open(source, "wb") as file:
        file.write(ptx)
    target = re.search(rb"^\.target (\w+)", ptx, re.MULTILINE)[1].decode()
    subprocess.run([tool, "-lineinfo", f"--gpu-name={target}", source, "-o", cubin], check=True)
    with open(cubin, "rb") as file:
        return file.read()


def makes_several(tool, ptx):
    with tempfile.TemporaryDirectory() as folder:
        first = assemble(tool, ptx, folder)
        return any(assemble(tool, ptx, folder) != first for _ in range(RUNS - 1))
