# SPDX-License-Identifier: Apache-2.0
"""Paths, and what all steps share."""

import hashlib
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parent.parent
WORK = TREE / "build" / "wheels"
ARCHITECTURES = ("x86_64", "aarch64")
GLIBC = (2, 17)
JOBS = os.environ.get("TKB_JOBS") or str(os.cpu_count())


def fail(sentence):
    sys.exit(f"wheels: {sentence}")


def say(sentence):
    print(f"-- {sentence}", flush=True)


def run(words, log=None, **options):
    """Run a command; what it prints goes to `log`, whose end is shown if it
    fails."""
    words = [str(word) for word in words]
    if log is None:
        result = subprocess.run(words, **options)
    else:
        with open(log, "ab") as out:
            result = subprocess.run(words, stdout=out,
                                    stderr=subprocess.STDOUT, **options)
    if result.returncode != 0:
        if log is not None:
            text = Path(log).read_text(errors="replace")
            print("\n".join(text.splitlines()[-40:]))
        fail(f"{words[0]} failed ({result.returncode}): {' '.join(words[1:4])}")


def environment(name, what, requirements, *options):
    """The virtual environment build/wheels/NAME. It is made anew when its file of
    requirements has changed."""
    place = WORK / name
    wanted = requirements.read_text()
    mark = place / "installed"
    if not mark.exists() or mark.read_text() != wanted:
        say(f"fetching {what}")
        venv.create(place, clear=True, with_pip=True)
        run([place / "bin" / "python", "-m", "pip", "install", "-q",
             "--disable-pip-version-check", *options, "-r", requirements])
        mark.write_text(wanted)
    return place


def version():
    """tkbundle's version, as CMake has it."""
    text = (TREE / "CMakeLists.txt").read_text()
    return re.search(r"project\(tkbundle VERSION ([\d.]+)", text).group(1)


def epoch():
    """The time of all files that we make: that of the commit."""
    told = os.environ.get("SOURCE_DATE_EPOCH")
    if told:
        return int(told)
    git = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=TREE,
                         capture_output=True, text=True)
    return int(git.stdout) if git.returncode == 0 else 315532800


def tree_files():
    """The files of the tree, without what was built."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=TREE, check=True,
                           capture_output=True).stdout.decode().split("\0")
    return [name for name in names if name and (TREE / name).is_file()]


def tree_stamp():
    """What a build is of: all files, and the time; empty without git."""
    try:
        names = tree_files()
    except (OSError, subprocess.CalledProcessError):
        return ""
    whole = hashlib.sha256(str(epoch()).encode())
    for name in names:
        whole.update(f"\0{name}\0".encode())
        whole.update(hashlib.sha256((TREE / name).read_bytes()).digest())
    return f"{whole.hexdigest()}\n"
