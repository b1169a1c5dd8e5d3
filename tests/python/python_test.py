#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Uses the Python package, alone and as real Triton's cache manager.

usage: python_test.py PROGRAM [WORDS-OF-A-SENTENCE]

Prints TAP; the exit status is 1 if a test failed.
"""
import os
import sys

sys.dont_write_bytecode = True
import machine  # noqa: E402,F401  pylint: disable=unused-import
import scene  # noqa: E402  (from ../run)
import package  # noqa: E402,F401  pylint: disable=unused-import
import warmth  # noqa: E402,F401  pylint: disable=unused-import
import starts  # noqa: E402,F401  pylint: disable=unused-import
import outages  # noqa: E402,F401  pylint: disable=unused-import
import graphs  # noqa: E402,F401  pylint: disable=unused-import
import notes  # noqa: E402,F401  pylint: disable=unused-import
import artifacts  # noqa: E402,F401  pylint: disable=unused-import

if __name__ == "__main__":
    sys.exit(scene.main(os.path.realpath(sys.argv[1]),
                        sys.argv[2] if len(sys.argv) > 2 else ""))
