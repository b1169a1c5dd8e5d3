# SPDX-License-Identifier: Apache-2.0
fixture triton-3.6.0-h100 unpacked
mv unpacked/.triton/cache a
cp -R a b
for cubin in b/*/*.cubin; do
	damage "$cubin" 2000
done
tkbundle collect a -o a.tkb >/dev/null
tkbundle collect b -o b.tkb >/dev/null
try tkbundle diff a.tkb b.tkb
tkbundle diff a.tkb b.tkb >wanted || true
tkbundle diff a b | cmp - wanted
tkbundle diff a b.tkb | cmp - wanted
tkbundle diff a.tkb b | cmp - wanted
TMPDIR=$PWD tkbundle diff a.tkb b.tkb | cmp - wanted
ls
try_line 'TMPDIR=$PWD/nowhere tkbundle diff a.tkb b.tkb >part'
head -n 3 part
