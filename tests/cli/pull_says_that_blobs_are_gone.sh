# SPDX-License-Identifier: Apache-2.0
cache a
mkdir remote
tkbundle push a a --remote remote >words
rm -r remote/cas/*
try tkbundle pull a b --remote remote
try tkbundle run --ref a --remote remote --cache b --push never -- true
