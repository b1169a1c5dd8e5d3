#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a build folder, and says which failed, and how.

usage: run_tests.py FOLDER CORES [CTEST_ARGUMENT...]

Two tests run for each core: most of them wait, and those that compute count as
two. All that they print is in FOLDER/tests.log, or, for who cannot write there,
in tests.log of a temporary folder. The last line counts single tests, as cmocka
and TAP tell them: each once, whatever else tells of it. A program that fails and
names no test counts as one, as does one that dies, besides what it named before.
The exit status is 1 if anything failed.
"""
import itertools
import os
import re
import subprocess
import sys
import tempfile

OUTPUT = re.compile(r" *(\d+): (.*)")
ENDED = re.compile(
    r" *\d+/\d+ Test +#(\d+): (\S+) \.*(.*?) +([\d.]+) sec(?:  .*)?$")

PASSED = re.compile(r"\[ +OK \] (.*)|ok \d+(?! .*# SKIP)(?: - )?(.*)")
SKIPPED = re.compile(r"\[  SKIPPED \] (\D.*)|ok \d+(?= .*# SKIP)(?: - )?(.*)")
# Those that cmocka could not begin stand behind ERROR alone.
FAILED = re.compile(r"\[  FAILED  \] (?!.*test\(s\), listed)(.*)|"
                    r"\[  ERROR   \] (?!---)(.*)|(not ok \d+.*)")
RUNS = re.compile(r"\[ RUN      \] (.*)")
ERROR = re.compile(r"\[  ERROR   \] --- (.*)")
PLACE = re.compile(r"\[   LINE   \] --- (.*?)(?:: error: Failure!)?$")

# A line of theirs may be a dump.
WIDTH = 300
# So many of a TAP sentence's comments are shown.
COMMENTS = 8


class Program:
    """What one test program printed."""

    def __init__(self):
        self.lines = []
        self.passed = self.skipped = 0
        self.failed = {}
        self.seconds = self.name = ""
        self.how = "did not end"

    def hear(self, line):
        self.lines.append(line)
        found = FAILED.match(line)
        if found:
            self.failed["".join(filter(None, found.groups()))] = True
        # At its end, cmocka lists again what it skipped, too.
        elif SKIPPED.match(line) and line not in self.lines[:-1]:
            self.skipped += 1
        elif PASSED.match(line):
            self.passed += 1

    def end(self, name, how, seconds):
        self.name, self.seconds = name, seconds
        self.how = " ".join(how.replace("***", " ").split())
        if self.is_good() and not self.passed and not self.skipped:
            self.passed = 1

    def is_good(self):
        return self.how in ("Passed", "Skipped")

    def failures(self):
        died = self.how != "Failed"
        return 0 if self.is_good() else max(len(self.failed) + died, 1)

    def error(self):
        """The first thing that cmocka found wrong, with its place."""
        for at, line in enumerate(self.lines):
            found = ERROR.match(line)
            if not found:
                continue
            said = found.group(1)
            place = PLACE.match(said) or (
                at + 1 < len(self.lines) and PLACE.match(self.lines[at + 1]))
            said = [] if PLACE.match(said) else [said]
            # The test's own words come before.
            before = at
            while not said and before and before > at - 8 and \
                    not self.lines[before - 1].startswith("["):
                before -= 1
            said = self.lines[before:at] + said
            return said + ([place.group(1)] if place else [])
        return []

    def comment(self):
        """The first test that TAP says has failed, and its comments' end,
        where Python says what was raised."""
        for at, line in enumerate(self.lines):
            if line.startswith("not ok "):
                said = list(itertools.takewhile(
                    lambda more: more.startswith("#"), self.lines[at + 1:]))
                return [line] + said[-COMMENTS:]
        return []

    def last(self):
        """Where it was when it died."""
        run = [line for line in self.lines if RUNS.match(line)][-1:]
        last = [line for line in self.lines if line.strip()][-1:]
        return run + [line for line in last if line not in run]

    def tell(self):
        print(f"\n{self.name}: {self.how} after {self.seconds} s")
        said = self.error() or self.comment()
        if self.how != "Failed" or not said:
            said = said + self.last()
        for line in said:
            print("    " + line[:WIDTH])
        for name in self.failed:
            if name not in said:
                print("    failed: " + name[:WIDTH])


def where_to_write(folder):
    """A folder with the tests of `folder`, which ctest may write to."""
    if os.access(folder, os.W_OK):
        return folder
    place = tempfile.mkdtemp(prefix="tkbundle-tests.")
    with open(os.path.join(place, "CTestTestfile.cmake"), "w",
              encoding="utf-8") as file:
        file.write(f"subdirs([==[{os.path.abspath(folder)}]==])\n")
    return place


def listen(lines, log):
    """The programs by their numbers; those that end are told at once."""
    programs = {}
    for line in lines:
        log.write(line)
        line = line.rstrip("\n")
        ended = ENDED.match(line)
        output = OUTPUT.match(line)
        if ended:
            print(line, flush=True)
            program = programs.setdefault(ended.group(1), Program())
            program.end(*ended.groups()[1:])
        elif output:
            programs.setdefault(output.group(1), Program()).hear(
                output.group(2))
    return programs


def main():
    folder, cores, *more = sys.argv[1:]
    jobs = str(2 * int(cores))
    folder = where_to_write(folder)
    with open(os.path.join(folder, "tests.log"), "w",
              encoding="utf-8") as log, subprocess.Popen(
            ["ctest", "--test-dir", folder, "-j", jobs, "--verbose", *more],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            encoding="utf-8", errors="replace") as ctest:
        programs = listen(ctest.stdout, log)
    if not programs:
        with open(log.name, encoding="utf-8") as told:
            print(told.read())
    bad = [program for program in programs.values() if not program.is_good()]
    for program in bad:
        program.tell()
    skipped = sum(program.skipped for program in programs.values())
    passed = sum(program.passed for program in programs.values())
    failed = sum(program.failures() for program in bad)
    # Without a program, or where ctest has a complaint of its own.
    if (ctest.returncode or not programs) and not failed:
        failed = 1
    print(f"\nlog: {log.name}, {skipped} skipped")
    if bad:
        print("failed: " + " ".join(sorted(one.name for one in bad)))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
