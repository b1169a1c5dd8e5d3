#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a folder of the built programs that run on a machine without their
# libraries, given a C library that is as new as this one's.
#
#   carry.sh BUILD_DIR OUT_DIR [slim]
#
# OUT_DIR gets `tkbundle`, a script, the programs, and the libraries that they
# need, packed: unpack.sh OUT_DIR puts those where they belong; and random kernels
# for oracle.sh, packed too, where the tests were built. It is made anew. With
# `slim`, LLVM and the kernels stay here: Triton's kernels are compiled there, IR
# is not. Needs patchelf and xz.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: carry.sh BUILD_DIR OUT_DIR [slim]" >&2
    exit 2
fi
compiles=tkbundle-compile
[ "${3:-}" != slim ] || compiles=

build=$1
out=$2
if [ ! -x "$build/tkbundle" ]; then
    echo "carry.sh: no program 'tkbundle' in '$build'" >&2
    exit 1
fi

rm -rf "${out:?}"
mkdir -p "$out/bin" "$out/lib"
cp "$build/tkbundle" "$(dirname "$0")"/../../tools/tkbundle-compile/*triton*.py \
    "$out/bin/"
if [ -n "$compiles" ] && [ -x "$build/tkbundle-compile" ]; then
    cp "$build/tkbundle-compile" "$out/bin/"
fi

# Lines as "	libzstd.so.1 => /lib/x86_64-linux-gnu/libzstd.so.1 (0x7f...)".
# The program loads the library for remotes from beside the other one.
for program in tkbundle $compiles libtkbundle-remote.so.1; do
    [ ! -x "$build/$program" ] || ldd "$build/$program"
done | sed -n 's/^[[:space:]]*\([^ ]*\) => \(\/[^ ]*\) .*/\1 \2/p' |
while read -r name path; do
    case $name in
    libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.*) ;;
    *) cp -L "$path" "$out/lib/$name" ;;
    esac
done
cp -L "$build/libtkbundle-remote.so.1" "$out/lib/"
chmod u+w "$out"/lib/*
strip --strip-unneeded "$out"/lib/*
# Where Python loads them, no program says where their libraries are.
patchelf --force-rpath --set-rpath "\$ORIGIN" "$out"/lib/libtkbundle*.so.1
# The rpath is the programs' alone: what they start has the machine's libraries.
for program in "$out"/bin/tkbundle "$out"/bin/tkbundle-compile; do
    [ -x "$program" ] || continue
    strip --strip-unneeded "$program"
    patchelf --force-rpath --set-rpath "\$ORIGIN/../lib" "$program"
done
cat >"$out/tkbundle" <<'WRAPPER'
#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/bin/tkbundle" "$@"
WRAPPER
chmod +x "$out/tkbundle"
"$out/tkbundle" --version
tar -cf - -C "$out/lib" . | xz -T0 -6 >"$out/lib.tar.xz"
rm -r "${out:?}/lib"
if [ -n "$compiles" ] && [ -x "$build/tests/oracle_test" ]; then
    mkdir "$out/oracle"
    TKB_ORACLE_KERNELS=$(cd "$out/oracle" && pwd) TKB_ORACLE_KERNEL_COUNT=200 \
        "$build/tests/oracle_test" 'oracle: writes_kernels*'
    tar -cf - -C "$out" oracle | xz -6 >"$out/oracle.tar.xz"
    rm -r "${out:?}/oracle"
fi
du -sk "$out"
