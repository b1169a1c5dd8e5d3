# SPDX-License-Identifier: Apache-2.0
"""Check that what we built passes others' checks, and runs; for other machines in
QEMU."""

import os
import platform
import re
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import PurePosixPath

from place import HERE, TREE, WORK, environment, fail, run, say, version
from sources import digest_of, download

FIXTURE = TREE / "fixtures" / "triton-3.6.0-h100.tar.gz"
# A program that uses the package, as docs/python.md has it.
TYPED = TREE / "tests" / "python" / "typed.py"
SCHEMA = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read())
sys.exit(f"the SBOM is no CycloneDX: {fault}" if fault else 0)
"""


def checkers():
    """Make a virtual environment with the checks; return its folder of programs."""
    return environment("checks", "twine, auditwheel, cyclonedx and mypy",
                       HERE / "checks.txt") / "bin"


def judge(wheel, architecture):
    programs = checkers()
    run([programs / "twine", "check", "--strict", wheel],
        log=WORK / architecture / "twine.log")
    shown = subprocess.run([programs / "auditwheel", "show", wheel],
                           capture_output=True, text=True)
    tag = f'"manylinux_2_17_{architecture}"'
    if shown.returncode != 0 or tag not in shown.stdout:
        fail(f"auditwheel: {shown.stdout}{shown.stderr}")
    with zipfile.ZipFile(wheel) as files, tempfile.TemporaryDirectory() as folder:
        sbom = next(name for name in files.namelist() if "/sboms/" in name)
        run([programs / "python", "-c", SCHEMA], input=files.read(sbom))
        if "tkbundle/py.typed" not in files.namelist():
            fail("the wheel does not say that it is typed")
        files.extractall(folder)
        for what in (["-p", "tkbundle"], [TYPED]):
            run([programs / "mypy", "--strict", "--cache-dir", f"{folder}/mypy", *what],
                log=WORK / architecture / "mypy.log", cwd=folder,
                env={**os.environ, "MYPYPATH": folder})
    say(f"{architecture}: twine, auditwheel, CycloneDX's schema and mypy agree")


def guest(architecture):
    """The words before a program of that architecture; None: it cannot run."""
    if architecture == platform.machine():
        return []
    qemu = shutil.which(f"qemu-{architecture}-static")
    if qemu is None:
        return None
    for line in (HERE / "guest.lock").read_text().splitlines():
        if not line.startswith(f"{architecture} "):
            continue
        _, digest, path = line.split()
        file = WORK / "downloads" / PurePosixPath(path).name
        if not file.exists() or digest_of(file) != digest:
            download(path, file)
        if digest_of(file) != digest:
            fail(f"{file.name} is not the file that guest.lock names")
        root = WORK / "guest" / architecture
        root.mkdir(parents=True, exist_ok=True)
        run(["dpkg-deb", "-x", file, root])
        # QEMU's -L would make that folder "/".
        libraries = root / "lib" / f"{architecture}-linux-gnu"
        loader = next(libraries.glob("ld-linux-*.so.1"))
        return [qemu, loader, "--library-path", libraries]
    return None


def prove(program, architecture):
    """Collect, verify, emit, push and pull 13 kernels and 4 modules. The modules are
    for x86_64; other machines do not emit them."""
    before = guest(architecture)
    if before is None:
        say(f"{architecture}: there is no QEMU of it here: nothing is run")
        return
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(FIXTURE) as files:
            files.extractall(folder)
        for words in (
                ["collect", ".triton/cache", "-o", "k.tkb"],
                ["verify", "k.tkb"],
                ["emit", "k.tkb", "warm"],
                ["verify", "warm"],
                ["push", "a/b", "warm", "--remote", "remote"],
                ["pull", "a/b", "pulled", "--remote", "remote"],
                ["verify", "pulled"]):
            done = subprocess.run(
                [*before, program, *words], cwd=folder, capture_output=True,
                text=True, env={"PATH": "/usr/bin:/bin", "HOME": folder})
            if done.returncode != 0 or not re.search(
                    r"\b1[37]\b", done.stdout):
                fail(f"tkbundle {words[0]} for {architecture}: "
                     f"{done.stdout}{done.stderr}")
        said = subprocess.run([*before, program, "--version"],
                              capture_output=True, text=True).stdout
        if said.split()[:2] != ["tkbundle", version()]:
            fail(f"tkbundle --version for {architecture} says {said!r}")
    say(f"{architecture}: the program collects, emits, pushes and pulls"
        f"{' under QEMU' if before else ''}")
