#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What run_tests.py says of tests that fail.

usage: run_tests_test.py PROGRAM

PROGRAM is run_tests_program.c's. The tests are made up, and are as many as
make ctest pad their numbers. Prints TAP.
"""
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
PADDING = 8
NOBODY = 65534

TAP_FAILS = r"""printf '%s\n' 'ok 1 - a' 'not ok 2 - b holds'
seq -f '# %g' 30
printf '%s\n' '# it is not' '1..3' 'ok 3 - c # SKIP no server'; exit 1"""
MANY_NAMES = "seq 400 | sed 's/^/corpus-/'; exit 3"


def tests(program):
    """Names, commands, and more properties, of what is run."""
    yield "words", [program], ""
    yield "dies", [program, "abort"], ""
    yield "hangs", [program, "hang"], "TIMEOUT 2"
    yield "tap", ["sh", "-c", TAP_FAILS], ""
    yield "silent", ["sh", "-c", MANY_NAMES], ""
    yield "absent", ["./there-is-no-such-program"], ""
    yield "segv", ["sh", "-c", "echo ok 1 - a; kill -SEGV $$"], ""
    for number in range(PADDING):
        yield f"good{number}", ["sh", "-c", "echo ok 1 - a"], ""


def write_folder(folder, listed):
    with open(os.path.join(folder, "CTestTestfile.cmake"), "w",
              encoding="utf-8") as file:
        for name, command, properties in listed:
            words = " ".join(f"[==[{word}]==]" for word in command)
            file.write(f"add_test({name} {words})\n")
            if properties:
                file.write(f"set_tests_properties({name} PROPERTIES "
                           f"{properties})\n")


def run(listed, mode=0o755, **who):
    """Exit status and lines of a run, in a folder of that mode."""
    with tempfile.TemporaryDirectory() as place:
        folder = os.path.join(place, "build")
        os.mkdir(folder)
        os.chmod(place, 0o777)
        write_folder(folder, listed)
        os.chmod(folder, mode)
        ended = subprocess.run(
            [os.path.join(HERE, "run_tests.py"), folder, "4"], text=True,
            check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=dict(os.environ, TMPDIR=place), **who)
        os.chmod(folder, 0o755)
        return ended.returncode, ended.stdout.splitlines()


def run_of_another(listed):
    """By a user who cannot write the folder; nothing if there is none."""
    who = {}
    if os.geteuid() == 0:
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    reads = subprocess.run(["test", "-r", __file__], check=False, **who)
    return None if reads.returncode else run(listed, 0o555, **who)


def told(lines, name):
    """The block of a program that failed."""
    starts = [at for at, line in enumerate(lines)
              if line.startswith(name + ": ")]
    if len(starts) != 1:
        return []
    rest = lines[starts[0]:]
    return [line.strip() for line in rest[:rest.index("")]]


def main():
    program = os.path.realpath(sys.argv[1])
    listed = list(tests(program))
    status, lines = run(listed)
    words, dies, hangs, tap, silent, absent, segv = (
        told(lines, name) for name, _, _ in listed[:7])
    fine_status, fine = run(listed[7:])
    none_status, none = run([])
    other_status, other = run_of_another(listed[7:]) or (None, ["", ""])
    checks = (
        ("a run that fails exits with 1", status == 1),
        ("it ends in how many passed and failed",
         # words: 3 tests; dies, hangs, silent, absent and segv: themselves.
         lines[-1] == f"{PADDING + 5} passed, 9 failed"),
        ("and before this names the programs", lines[-2] ==
         "failed: absent dies hangs segv silent tap words"),
        ("what is skipped is counted once", "2 skipped" in lines[-3]),
        ("a test's own words come first, with their place",
         words[1:3] == ["tkb_emit(root)", "returned -1"] and
         re.search(r"run_tests_program.c:\d+$", words[3])),
        ("each failed test is named once", words[4:] == [
            "failed: has_its_own_words", "failed: counts_wrongly",
            "failed: ends"]),
        ("one that dies is told with the test that it was at",
         "aborted" in dies[0] and "[ RUN      ] ends" in dies),
        ("so is one whose time is over",
         "Timeout" in hangs[0] and "[ RUN      ] ends" in hangs),
        ("so is one that a signal kills", "SegFault" in segv[0] and
         "ok 1 - a" in segv),
        ("a sentence of TAP's stands with the end of its comments",
         tap[1] == "not ok 2 - b holds" and
         tap[-2:] == ["# 30", "# it is not"] and len(tap) < 20),
        ("of one that says nothing of use there is one line",
         silent[1:] == ["corpus-400"]),
        ("one that is not there is named", "Not Run" in absent[0]),
        ("a run that passes exits with 0, and counts",
         fine_status == 0 and fine[-1] == f"{PADDING} passed, 0 failed"),
        ("who cannot write the folder can run its tests" +
         (" # SKIP another user cannot read this" if other_status is None
          else ""), other_status is None or
         (other_status == 0 and other[-1] == fine[-1])),
        ("a folder without tests fails",
         none_status == 1 and none[-1] == "0 passed, 1 failed"),
    )
    bad = 0
    for number, (sentence, is_so) in enumerate(checks, 1):
        print(f"{'ok' if is_so else 'not ok'} {number} - {sentence}")
        bad += not is_so
    if bad:
        print("\n".join("# " + line for line in lines + fine + other + none))
    print(f"1..{len(checks)}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
