#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The package that pip installed, as its user has it.

    package.py FIXTURE FOLDER

FIXTURE is fixtures/triton-3.6.0-cpu.tar.gz; FOLDER can be written.
"""

import os
import subprocess
import sys
import tarfile

import tkbundle

ENTRIES = 5


def main():
    fixture, folder = sys.argv[1:]
    os.chdir(folder)
    with tarfile.open(fixture) as archive:
        archive.extractall()
    root = os.path.join(".triton", "cache")
    assert tkbundle.push("a/b", root, "remote").pushed == ENTRIES
    report = tkbundle.pull("a/b", "warm", "remote")
    assert (report.emitted, report.records) == (ENTRIES, 1), report
    assert tkbundle.collect("warm", "kernels.tkb").collected == ENTRIES
    assert tkbundle.emit("kernels.tkb", "elsewhere").emitted == ENTRIES
    with tkbundle.recording("warm") as recording:
        recording.put(tkbundle.collect("warm", "one.tkb").results[0].key)
        assert recording.push("c", "remote").pushed == 1
    try:
        tkbundle.pull("none", "warm", "remote")
        raise AssertionError("there is no such ref")
    except tkbundle.Missing:
        pass
    with tkbundle.warm("a/b", remote="remote", root="block", wait=60):
        assert len(os.listdir("block")) >= ENTRIES
    said = subprocess.run([sys.executable, "-m", "tkbundle", "--version"],
                          check=True, capture_output=True, text=True).stdout
    assert said == f"tkbundle {tkbundle.version()}\n", said


main()
