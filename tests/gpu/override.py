# SPDX-License-Identifier: Apache-2.0
"""Lays kernels that tkbundle compiled into Triton's override folder.

    override.py DUMP MADE DOCUMENT OVERRIDE

DUMP is what Triton wrote under TRITON_KERNEL_DUMP: a folder for each kernel.
MADE is a cache root with entries that tkbundle compiled from the same IR, and
DOCUMENT what it said of them. Each kernel of DUMP gets its cubin from there.
Prints how many.
"""
import glob
import hashlib
import json
import os
import shutil
import sys


def digest_of(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def main(dump, made, document, override):
    with open(document, encoding="utf-8") as file:
        kernels = json.load(file)["kernels"]
    keys = {digest_of(kernel["input"]): kernel["key"] for kernel in kernels}
    count = 0
    for path in glob.glob(os.path.join(dump, "*", "*.llir")):
        key = keys.get(digest_of(path))
        if not key:
            sys.exit(f"override.py: nobody compiled {path}")
        folder = os.path.join(override, os.path.basename(os.path.dirname(path)))
        os.makedirs(folder)
        name = os.path.basename(path)[:-len("llir")] + "cubin"
        shutil.copy(os.path.join(made, key, name), folder)
        count += 1
    print(count)


if __name__ == "__main__":
    main(*sys.argv[1:])
