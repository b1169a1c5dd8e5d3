#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests doctor on machines that were broken on purpose, and on healthy ones.

usage: doctor_test.py PROGRAM [WORDS-OF-A-SENTENCE]

$TKB_NVML is the folder of an NVML for tests. Prints TAP; the exit status is 1 if a
test failed.
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "..", "run"))
import scene  # noqa: E402  (from ../run)
import healthy  # noqa: E402,F401  pylint: disable=unused-import
import broken  # noqa: E402,F401  pylint: disable=unused-import
import remotes  # noqa: E402,F401  pylint: disable=unused-import
import late  # noqa: E402,F401  pylint: disable=unused-import
import advice  # noqa: E402,F401  pylint: disable=unused-import

if __name__ == "__main__":
    sys.exit(scene.main(os.path.realpath(sys.argv[1]),
                        sys.argv[2] if len(sys.argv) > 2 else ""))
