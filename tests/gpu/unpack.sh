#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts what carry.sh packed where it belongs; does nothing where that was done.
#
#   unpack.sh PROGRAM_DIR
set -eu

if [ -e "$1/lib.tar.xz" ] && [ ! -e "$1/lib" ]; then
    "${PYTHON:-python3}" -m tarfile -e "$1/lib.tar.xz" "$1/lib"
fi
if [ -e "$1/oracle.tar.xz" ] && [ ! -e "$1/oracle" ]; then
    "${PYTHON:-python3}" -m tarfile -e "$1/oracle.tar.xz" "$1"
fi
