#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that caches of engines are carried, by the profiles that come with tkbundle.

usage: engines_test.py PROGRAM [WORDS-OF-A-SENTENCE]

Prints TAP; the exit status is 1 if a test failed.
"""
import os
import sys

sys.dont_write_bytecode = True
import machines  # noqa: E402,F401  pylint: disable=unused-import
import scene  # noqa: E402  (from ../run)
import moving  # noqa: E402,F401  pylint: disable=unused-import
import publishing  # noqa: E402,F401  pylint: disable=unused-import
import hiding  # noqa: E402,F401  pylint: disable=unused-import
import building  # noqa: E402,F401  pylint: disable=unused-import
import flashinfer  # noqa: E402,F401  pylint: disable=unused-import
import deepgemm  # noqa: E402,F401  pylint: disable=unused-import
import gathering  # noqa: E402,F401  pylint: disable=unused-import
import profiles  # noqa: E402,F401  pylint: disable=unused-import
import running  # noqa: E402,F401  pylint: disable=unused-import
import again  # noqa: E402,F401  pylint: disable=unused-import
import versions  # noqa: E402,F401  pylint: disable=unused-import
import tuning  # noqa: E402,F401  pylint: disable=unused-import
import slow  # noqa: E402,F401  pylint: disable=unused-import
import looking  # noqa: E402,F401  pylint: disable=unused-import
import keeping  # noqa: E402,F401  pylint: disable=unused-import
import ranks  # noqa: E402,F401  pylint: disable=unused-import
import shapes  # noqa: E402,F401  pylint: disable=unused-import
import attacks  # noqa: E402,F401  pylint: disable=unused-import

if __name__ == "__main__":
    sys.exit(scene.main(os.path.realpath(sys.argv[1]),
                        sys.argv[2] if len(sys.argv) > 2 else ""))
