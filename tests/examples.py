#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of the documents: what they show is what comes out.

usage: examples.py PROGRAM DOCUMENT...

An example is a line with "$ " that bash runs, with the next one if it ends in a
bar or a backslash; the lines behind it are what it must print. They stand in
blocks that begin with ```console in Markdown, and in literal displays in a
manual page. Those of a document are run one after another in a folder of their
own, which is the home folder and has the fixtures. Where a manual page names a
fixture in a comment, it has been unpacked there. Sizes of bundles depend on
libzstd's version, ages and tools on the machine: they are not compared. Prints
TAP.
"""
import os
import re
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
FIXTURES = os.path.join(HERE, "fixtures")

# Needs a GPU and a model: tests/gpu shows it.
NOT_HERE = "serve.py"

# Needs a CUDA toolkit, or what another example made by one.
WITH_TOOLS = ("tkbundle compile", " made", "softmax.cubin")

# Works where the file system keeps access times.
WITH_TIMES = ("stats --used", "tkbundle run")

# What the program looks at, and what its words could depend on.
VARIABLES = ("TRITON_CACHE_DIR", "TRITON_HOME", "TORCHINDUCTOR_CACHE_DIR",
             "CUDA_HOME", "TMPDIR", "XDG_CONFIG_HOME")

ESCAPES = {r"\e": "\\", r"\-": "-", r"\&": "", r"\(aq": "'", r"\(dq": '"'}


def unescape(text):
    """What roff makes of a literal line."""
    return re.sub(r"\\(?:\(..|.)", lambda found: ESCAPES[found.group()], text)


def blocks_of(document):
    with open(document, encoding="utf-8") as file:
        text = file.read()
    if document.endswith(".md"):
        return re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    displays = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", text, re.M | re.S)
    return [unescape(display) for display in displays
            if display.startswith("$ ")]


def examples(document):
    for block in blocks_of(document):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            while command.endswith(("|", "\\")):
                more, _, output = output.partition("\n")
                command += "\n" + more
            yield command, output


def furnish(folder, document):
    """Put into `folder` what the examples of `document` start from."""
    os.symlink(FIXTURES, os.path.join(folder, "fixtures"))
    with open(document, encoding="utf-8") as file:
        named = re.findall(r'^\.\\".* fixtures/(\S+\.tar\.gz)', file.read(),
                           re.M)
    for name in named:
        with tarfile.open(os.path.join(FIXTURES, name)) as archive:
            archive.extractall(folder)


def normal(output):
    output = re.sub(r"\([\d.]+ [kM]?B\)", "(SIZE)", output)
    output = output.replace(", use unknown", "")
    output = re.sub(r" with (?:LLVM|NVRTC|ptxas|nvJitLink) .* to ",
                    " with TOOLS to ", output)
    output = re.sub(r" \d+s$", " AGE", output, flags=re.M)
    output = re.sub(r'("age": ?)\d+', r"\1AGE", output)
    output = re.sub(r'"knows_use": ?(true|false)', '"knows_use": FLAG', output)
    return re.sub(r'("bundle_size": ?)[1-9]\d*', r"\1SIZE", output)


def keeps_access_times(folder):
    with tempfile.NamedTemporaryFile("w+", dir=folder) as file:
        file.write("x")
        file.flush()
        os.utime(file.name, (0, 0))
        file.seek(0)
        file.read()
        return os.stat(file.name).st_atime > 0


def why_not(command, folder):
    """Why an example cannot be run here; nothing if it can."""
    if NOT_HERE in command:
        return "it needs a GPU"
    if (any(words in command for words in WITH_TIMES) and
            not keeps_access_times(folder)):
        return "the file system keeps no access times"
    if (not os.environ.get("TKB_TEST_CUDA") and
            any(words in command for words in WITH_TOOLS)):
        return "there is no CUDA toolkit"
    return ""


def run(command, folder, program):
    path = os.path.dirname(program) + ":" + os.environ["PATH"]
    env = {name: value for name, value in os.environ.items()
           if name not in VARIABLES and not name.startswith("TKBUNDLE_")}
    ended = subprocess.run(
        ["bash", "-c", command], cwd=folder, text=True, check=False,
        # Machines that run tests are busy.
        env=dict(env, PATH=path, HOME=folder, TERM="dumb", LC_ALL="C.UTF-8",
                 TKBUNDLE_WAIT="60s", CUDA_HOME=os.environ.get("TKB_TEST_CUDA", "")),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    # No page can tell where the folder lies.
    return ended.stdout.replace(folder, "/home/op")


def judge(program, document):
    """Run what `document` shows: each command, what it printed if that is not
    what is shown, else None, and why it was not run, if so."""
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        furnish(folder, document)
        for command, wanted in examples(document):
            skip = why_not(command, folder)
            got = wanted if skip else run(command, folder, program)
            is_good = normal(got) == normal(wanted)
            yield command, None if is_good else got, skip


def in_one_line(command):
    return re.sub(r"\s+", " ", command)


def main():
    program = os.path.realpath(sys.argv[1])
    number = failed = 0
    for document in sys.argv[2:]:
        for command, fault, skip in judge(program, document):
            number += 1
            word = "ok" if fault is None else "not ok"
            name = os.path.basename(document) + ": " + in_one_line(command)
            print(f"{word} {number} - {name}"
                  f"{' # SKIP ' + skip if skip else ''}")
            if fault is not None:
                failed += 1
                print("\n".join(f"# {line}" for line in fault.splitlines()))
    print(f"1..{number}")
    return 1 if failed or not number else 0


if __name__ == "__main__":
    sys.exit(main())
