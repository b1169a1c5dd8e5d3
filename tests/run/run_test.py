#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `tkbundle run`.

usage: run_test.py PROGRAM [WORDS-OF-A-SENTENCE]

Prints TAP; the exit status is 1 if a test failed.
"""
import os
import sys

sys.dont_write_bytecode = True
import scene  # noqa: E402  (from this folder)
import command  # noqa: E402,F401  pylint: disable=unused-import
import signals  # noqa: E402,F401  pylint: disable=unused-import
import terminal  # noqa: E402,F401  pylint: disable=unused-import
import pushes  # noqa: E402,F401  pylint: disable=unused-import
import roots  # noqa: E402,F401  pylint: disable=unused-import
import figures  # noqa: E402,F401  pylint: disable=unused-import
import moments  # noqa: E402,F401  pylint: disable=unused-import
import savings  # noqa: E402,F401  pylint: disable=unused-import
import starts  # noqa: E402,F401  pylint: disable=unused-import
import faults  # noqa: E402,F401  pylint: disable=unused-import
import registries  # noqa: E402,F401  pylint: disable=unused-import

if __name__ == "__main__":
    sys.exit(scene.main(os.path.realpath(sys.argv[1]),
                        sys.argv[2] if len(sys.argv) > 2 else ""))
