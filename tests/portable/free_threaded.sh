#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Hold the package against its tests in a Python without a lock of its interpreter.
# By hand: no Debian has such a Python, and to build it takes some minutes.
#
#     free_threaded.sh SOURCE FOLDER PROGRAM
#
# SOURCE is Python's, 3.13 or newer, as `apt-get source --download-only python3.13`
# fetches and tar unpacks it; it is built there, for FOLDER. PROGRAM is
# build/release/tkbundle. What takes Triton runs in build/venv, as in other tests.
set -eu

mkdir -p "$2"
source=$(cd "$(dirname "$0")/../.." && pwd -P)
python=$(cd "$2" && pwd -P)/bin/python3
if ! [ -x "$python" ]; then
	(cd "$1" && ./configure -q --disable-gil --prefix="${python%/bin/*}" \
		--without-ensurepip --disable-test-modules &&
		make -s -j "$(nproc)" && make -s install) >&2
fi
"$python" -c 'import sys; sys.exit(sys._is_gil_enabled())'
exec "$python" "$source/tests/run/scenes.py" python "$(realpath "$3")"
