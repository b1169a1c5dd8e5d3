#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the examples of the documents: what they show is what comes out.

usage: readme.py PROGRAM DOCUMENT...

An example is a block that begins with ```console: lines with "$ " are run by
bash, one after another, in a folder that has the fixtures; the lines behind
each are what it must print. Sizes of bundles depend on libzstd's version and
are not compared. Prints TAP.
"""
import os
import re
import subprocess
import sys
import tempfile

# Needs a GPU and a model: tests/gpu shows it.
NOT_HERE = "serve.py"


def examples(document):
    with open(document, encoding="utf-8") as file:
        blocks = re.findall(r"^```console\n(.*?)^```", file.read(), re.M | re.S)
    for block in blocks:
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def normal(output):
    return re.sub(r"\([\d.]+ [kM]?B\)", "(SIZE)", output)


def run(command, folder, program):
    path = os.path.dirname(program) + ":" + os.environ["PATH"]
    ended = subprocess.run(
        ["bash", "-c", command], cwd=folder, text=True, check=False,
        env=dict(os.environ, PATH=path, TERM="dumb"),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return ended.stdout


def main():
    program = os.path.realpath(sys.argv[1])
    here = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    number = failed = 0
    for document in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(here, "fixtures"),
                       os.path.join(folder, "fixtures"))
            for command, wanted in examples(document):
                number += 1
                name = f"{os.path.basename(document)}: {command}"
                if NOT_HERE in command:
                    print(f"ok {number} - {name} # SKIP it needs a GPU")
                    continue
                got = run(command, folder, program)
                if normal(got) == normal(wanted):
                    print(f"ok {number} - {name}")
                    continue
                failed += 1
                print(f"not ok {number} - {name}")
                for line in got.splitlines():
                    print(f"# {line}")
    print(f"1..{number}")
    return 1 if failed or not number else 0


if __name__ == "__main__":
    sys.exit(main())
