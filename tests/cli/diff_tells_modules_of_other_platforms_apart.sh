# SPDX-License-Identifier: Apache-2.0
fixture triton-3.6.0-h100 unpacked
mkdir a
mv unpacked/.triton/cache/XU* unpacked/.triton/cache/O6* a
cp -R a b
# A byte of an ELF header: for AArch64, not for x86-64.
printf '\267' | dd of="$(echo b/XU*/*.so)" bs=1 seek=18 conv=notrunc 2>/dev/null
try tkbundle diff a b
tkbundle collect a -o a.tkb >/dev/null
tkbundle diff --json b a.tkb >document || true
json <document | grep -e '"key"' -e '"platform"'
