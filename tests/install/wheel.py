#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel that was built works where it is installed, and so does the tar.

    wheel.py FOLDER FIXTURE

FOLDER has what `./bootstrap wheels` made; FIXTURE is a tar of a Triton cache. Of
this machine's architecture alone. Exits with 77 where there is no wheel, or no
way to install it. Prints TAP.
"""

import contextlib
import io
import platform
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

# What a user of the package does, in the folder that has a cache and nothing else.
ROUND = """
import pathlib, tkbundle
from tkbundle import _native, _program
assert pathlib.Path(tkbundle.__file__).parent in pathlib.Path(
    _native.library()._name).parents, _native.library()._name
cache = ".triton/cache"
pushed = tkbundle.push("a/b", cache, "remote").pushed
assert pushed == 17, pushed
assert tkbundle.pull("a/b", "warm", "remote").emitted == 17
assert tkbundle.collect("warm", "k.tkb").collected == 17
assert tkbundle.emit("k.tkb", "out").emitted == 17
try:
    tkbundle.pull("a/b", "warm", "redis://127.0.0.1:1")
except tkbundle.Unavailable as error:
    assert "cannot connect: Connection refused" in str(error), error
print(tkbundle.version(), _program.find())
"""

# What PyTorch does at the end of its import.
AUTOLOAD = """
import importlib.metadata, sys
for one in importlib.metadata.entry_points(group="torch.backends"):
    one.load()()
    print(one.name, "tkbundle.inductor" in sys.modules)
"""


def skip(reason):
    print(f"1..0 # SKIP {reason}")
    sys.exit(77)


class Place:
    """A folder with a cache, and an environment of nothing."""

    def __init__(self, folder, fixture):
        self.folder = Path(folder)
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": folder,
                            "LC_ALL": "C.UTF-8",
                            "PYTHONDONTWRITEBYTECODE": "1"}
        with tarfile.open(fixture) as tar:
            tar.extractall(folder)

    def run(self, *words):
        done = subprocess.run([str(word) for word in words], cwd=self.folder,
                              env=self.environment, capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def install(place, wheel):
    """Into a virtual environment; its folder of programs."""
    home = place.folder / "venv"
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            venv.create(home, with_pip=True)
    except (OSError, subprocess.CalledProcessError):
        skip("there is no python3-venv")
    place.run(home / "bin" / "python", "-m", "pip", "install", "-q",
              "--no-index", "--disable-pip-version-check", wheel)
    return home / "bin"


def go_round(place, program):
    """The program alone, with all that it has inside."""
    place.run(program, "collect", ".triton/cache", "-o", "own.tkb")
    place.run(program, "verify", "own.tkb")
    place.run(program, "push", "c/d", ".triton/cache", "--remote", "remote")
    place.run(program, "pull", "c/d", "pulled", "--remote", "remote")
    place.run(program, "verify", "pulled")
    failed = subprocess.run(
        [program, "pull", "c/d", "pulled", "--remote", "https://127.0.0.1:1"],
        cwd=place.folder, env=place.environment, capture_output=True,
        text=True)
    assert "Connection refused" in failed.stderr, failed.stderr


def finds_its_data(place, program):
    """Profiles of engines, and Triton's worker: it says that there is no Triton."""
    said = place.run(program, "config", "--engine", "vllm")
    assert "/vllm.json" in said, said
    (place.folder / "kernel.py").write_text("k = 1\n")
    failed = subprocess.run(
        [program, "compile", "kernel.py:k", "--target", "cuda:90",
         "--signature", "*fp32", "--python", sys.executable, "--cache", "out"],
        cwd=place.folder, env=place.environment, capture_output=True,
        text=True)
    assert "has no Triton" in failed.stderr, failed.stderr


def tests_of(place, wheel, tar, version):
    programs = install(place, wheel)
    own = programs / "tkbundle"
    python = programs / "python"
    unpacked = place.folder / "usr"

    def package():
        said = place.run(python, "-c", ROUND).split()
        assert said == [version, str(own)], said

    def autoload():
        said = place.run(python, "-c", AUTOLOAD)
        assert said == "tkbundle False\n", said
        said = place.run("/usr/bin/env", "TKBUNDLE_INDUCTOR=1",
                         "TKBUNDLE_REMOTE=remote", python, "-c", AUTOLOAD)
        assert said == "tkbundle True\n", said

    def module():
        said = place.run(python, "-m", "tkbundle", "--version")
        assert said.split()[:2] == ["tkbundle", version], said

    def program():
        said = place.run(own, "--version")
        assert said.split()[:2] == ["tkbundle", version], said
        go_round(place, own)
        finds_its_data(place, own)

    def target():
        place.run(python, "-m", "pip", "install", "-q", "--no-index",
                  "--disable-pip-version-check", "--target", "aside", wheel)
        said = place.run(sys.executable, "-c",
                         "import sys; sys.path.insert(0, 'aside')\n"
                         "from tkbundle import _program\n"
                         "print(_program.find())")
        assert said.strip().endswith("/aside/bin/tkbundle"), said

    def alone():
        """As an image has it that copies one file."""
        folder = place.folder / "alone"
        folder.mkdir()
        with tarfile.open(tar) as files:
            member = files.getmember("bin/tkbundle")
            member.name = "tkbundle"
            files.extract(member, folder)
        said = place.run(folder / "tkbundle", "config", "--engine", "vllm")
        assert "profile built into tkbundle" in said, said
        vllm = folder / "vllm"
        vllm.write_text("#!/bin/sh\nenv\n")
        vllm.chmod(0o755)
        said = place.run(folder / "tkbundle", "run", "--ref", "g/h",
                         "--remote", "remote", "--", vllm, "serve", "m")
        assert "\nVLLM_CACHE_ROOT=" in f"\n{said}", said

    def image():
        unpacked.mkdir()
        with tarfile.open(tar) as files:
            files.extractall(unpacked)
        said = place.run(unpacked / "bin" / "tkbundle", "--version")
        assert said.split()[:2] == ["tkbundle", version], said
        go_round(place, unpacked / "bin" / "tkbundle")
        finds_its_data(place, unpacked / "bin" / "tkbundle")

    return {"the package finds its libraries and its program": package,
            "PyTorch would call it, and a variable turns it on": autoload,
            "python -m tkbundle is the program": module,
            "the program beside Python does all, and has its data": program,
            "the program is found where pip was given a folder": target,
            "the program of the tar does all, and has its data": image,
            "the program of the tar needs no other file to run vLLM": alone}


def main():
    folder, fixture = Path(sys.argv[1]).resolve(), sys.argv[2]
    machine = platform.machine()
    wheels = sorted(folder.glob(f"tkbundle-*_{machine}.whl"))
    if not wheels:
        skip(f"there is no wheel of {machine} in {folder}")
    wheel = wheels[-1]
    version = wheel.name.split("-")[1]
    tar = folder / f"tkbundle-{version}-linux-{machine}.tar.gz"
    assert zipfile.ZipFile(wheel).testzip() is None
    faults = 0
    with tempfile.TemporaryDirectory() as where:
        place = Place(where, fixture)
        tests = tests_of(place, wheel, tar, version)
        print(f"1..{len(tests)}")
        for number, (sentence, test) in enumerate(tests.items(), 1):
            try:
                test()
                print(f"ok {number} - {sentence}")
            except (AssertionError, OSError) as fault:
                faults += 1
                print(f"not ok {number} - {sentence}")
                print("\n".join(f"# {line}"
                                for line in str(fault).splitlines()))
    return 1 if faults else 0


sys.exit(main())
