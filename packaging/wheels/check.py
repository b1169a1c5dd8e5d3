# SPDX-License-Identifier: Apache-2.0
"""Check that what we built needs nothing but an old glibc, and has no path of this
machine."""

import re
import subprocess

from place import GLIBC, TREE, fail

# The libraries that glibc 2.17 consists of.
GLIBC_PARTS = {"libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6",
               "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}
# A wheel of all of it.
WHEEL_LIMIT = 4 * 1000 * 1000


def read_elf(path):
    return subprocess.run(["readelf", "-W", "-h", "-l", "-S", "-d", "-V", path],
                          check=True, capture_output=True, text=True,
                          env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout


def faults_of(path, architecture):
    text = read_elf(path)
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))
    ours = {name for name in needed if name.startswith("libtkbundle")}
    folders = re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", text)
    versions = {tuple(map(int, found.split(".")))
                for found in re.findall(r"\bGLIBC_([\d.]+)", text)}
    if MACHINES[architecture] not in text:
        yield f"is not of {architecture}"
    for name in needed - ours - GLIBC_PARTS:
        yield f"needs {name}"
    if folders and set(folders) != {"$ORIGIN"}:
        yield f"looks for libraries in {', '.join(folders)}"
    if ours and not folders:
        yield "does not find libtkbundle beside itself"
    newest = max(versions)
    if newest > GLIBC:
        yield f"needs glibc {'.'.join(map(str, newest))}"
    for section in (".symtab", ".debug_info"):
        if f" {section} " in text:
            yield f"has a section {section}"
    if not re.search(r"GNU_STACK .* RW ", text):
        yield "has an executable stack"
    if "BIND_NOW" not in text or "GNU_RELRO" not in text:
        yield "can be written where it is relocated"
    if str(TREE).encode() in path.read_bytes():
        yield "tells where it was built"


def check_elf(path, architecture):
    for fault in faults_of(path, architecture):
        fail(f"{path.name} for {architecture} {fault}")


def check_size(wheel):
    size = wheel.stat().st_size
    if size > WHEEL_LIMIT:
        fail(f"{wheel.name} has {size} bytes, more than {WHEEL_LIMIT}")
