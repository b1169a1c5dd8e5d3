#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a folder of the built program that runs on a machine without its
# libraries, given a C library that is as new as this one's.
#
#   carry.sh BUILD_DIR OUT_DIR
#
# OUT_DIR gets `tkbundle`, a script, and what that needs; it is made anew.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: carry.sh BUILD_DIR OUT_DIR" >&2
    exit 2
fi

out=$2
program=$(find "$1" -type f -name tkbundle -perm -u+x -print -quit)
if [ -z "$program" ]; then
    echo "carry.sh: no program 'tkbundle' in '$1'" >&2
    exit 1
fi

rm -rf "${out:?}/bin" "${out:?}/lib" "$out/tkbundle"
mkdir -p "$out/bin" "$out/lib"
cp "$program" "$out/bin/tkbundle"

# Lines as "	libzstd.so.1 => /lib/x86_64-linux-gnu/libzstd.so.1 (0x7f...)".
ldd "$program" | sed -n 's/^[[:space:]]*\([^ ]*\) => \(\/[^ ]*\) .*/\1 \2/p' |
while read -r name path; do
    case $name in
    libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.*) ;;
    *) cp -L "$path" "$out/lib/$name" ;;
    esac
done
chmod u+w "$out"/lib/*
strip --strip-unneeded "$out/bin/tkbundle" "$out"/lib/*

cat >"$out/tkbundle" <<'WRAPPER'
#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$here/bin/tkbundle" "$@"
WRAPPER
chmod +x "$out/tkbundle"
"$out/tkbundle" --version
du -sk "$out"
