#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pushes caches as images that can be mounted, to a real registry, and looks at them
with other programs.

usage: images_test.py PROGRAM [WORDS-OF-A-SENTENCE]

Prints TAP; the exit status is 1 if a test failed.
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)),
                                "..", "run"))
import scene  # noqa: E402  (from ../run)
import fetching  # noqa: E402,F401  pylint: disable=unused-import
import signing  # noqa: E402,F401  pylint: disable=unused-import
import pushing  # noqa: E402,F401  pylint: disable=unused-import

if __name__ == "__main__":
    sys.exit(scene.main(os.path.realpath(sys.argv[1]),
                        sys.argv[2] if len(sys.argv) > 2 else ""))
