# SPDX-License-Identifier: Apache-2.0
cache cache
cp -R cache moved
tkbundle collect cache -o a.tkb >/dev/null
tkbundle emit a.tkb "emitted (1) to/here" >/dev/null
try tkbundle diff cache moved
try tkbundle diff cache "emitted (1) to/here"
