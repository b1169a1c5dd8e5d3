# SPDX-License-Identifier: Apache-2.0
cache cache
try tkbundle collect cache -o a.tkb --key 5D --key=W4
tkbundle ls a.tkb
echo
mkdir -p two/5DA two/5DB
cp -r cache/5D* two
try tkbundle collect two -o b.tkb --key 5DJ
try tkbundle collect cache -o c.tkb --key 5D --key ZZ
try tkbundle collect cache -o c.tkb --key ''
rm cache/W4*/*
try tkbundle collect cache -o c.tkb --key 5D --key W4
try test -e c.tkb
