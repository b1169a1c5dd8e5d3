#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Hold the program of a tar against the test of the command line under an older
# glibc than any Debian that is still served has. By hand: its source has to be
# there.
#
#     old_glibc.sh TAR BUILD ROOT
#
# TAR is one of ./bootstrap wheels, ROOT an unpacked Debian that portable.sh made
# (build/portable/bullseye-x86_64.tar), which is changed, BUILD the folder where
# glibc, 2.28 for example, was built for the prefix /opt/glibc. A new gcc builds
# it so, with GNU's linker, and breaks its scanf() at -O2:
#
#     ../glibc-2.28/configure --prefix=/opt/glibc --disable-werror \
#         CC='gcc -U_FORTIFY_SOURCE -fuse-ld=bfd' CFLAGS='-O2 -fcommon'
#     make -k
#     rm stdio-common/*scanf*.os
#     make -k lib CFLAGS='-O1 -fno-strict-aliasing -fwrapv -fno-tree-dse'
#
# Only the program uses it: its name of the loader is changed in the file. Needs
# root.
set -eu

tar=$1 build=$2 root=$3
source=$(cd "$(dirname "$0")/../.." && pwd -P)
place=$root/opt/glibc/lib
program=$root/usr/local/bin/tkbundle

mkdir -p "$place" "$root/tkbundle/tests" "$root/usr/local"
cp -L "$build/elf/ld.so" "$place/ld.so"
cp -L "$build/elf/ld.so" "$place/ld-linux-x86-64.so.2"
for library in libc.so.6 nptl/libpthread.so.0 dlfcn/libdl.so.2 \
	nss/libnss_files.so.2; do
	cp -L "$build/${library%.*}" "$place/${library##*/}"
done
tar -xzf "$tar" -C "$root/usr/local" --no-same-owner
python3 - "$program" <<'END'
import sys

OLD, NEW = b"/lib64/ld-linux-x86-64.so.2\0", b"/opt/glibc/lib/ld.so"
with open(sys.argv[1], "rb") as file:
    data = file.read()
assert data.count(OLD) == 1
with open(sys.argv[1], "wb") as file:
    file.write(data.replace(OLD, NEW.ljust(len(OLD), b"\0")))
END
cp -r "$source/tests/cli" "$root/tkbundle/tests"
cp -r "$source/fixtures" "$root/tkbundle"

# shellcheck disable=SC2016  # the inner shell expands it
unshare --mount --pid --fork --kill-child -- sh -c '
	mount --make-rprivate / && mount --rbind /dev "$1/dev" &&
		mount -t proc proc "$1/proc" &&
		mount -t tmpfs -o mode=1777 tmpfs "$1/tmp" &&
		exec chroot "$1" /usr/bin/env -i HOME=/root LC_ALL=C \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin \
			sh /tkbundle/tests/cli/run.sh /usr/local/bin/tkbundle' \
	sh "$root"
