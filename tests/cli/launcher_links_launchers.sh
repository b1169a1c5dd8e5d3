# SPDX-License-Identifier: Apache-2.0
fixture triton-3.6.0-h100 h
root=h/.triton/cache
three='*fp32:16, *fp32:16, *fp32:16'
tkbundle launcher $root WEOK --signature "$three, i32, 256" -o add
tkbundle launcher $root KRJX --signature "$three, i32:16, 256" -o add
tkbundle launcher $root SF67 --signature "$three, i32:16, 1024" -o add
try tkbundle launcher --link add.*.h -o add
cat add.h add.c
try tkbundle launcher --link add.c -o b
try tkbundle launcher --link none.h -o b
try tkbundle launcher --link add.*.h add.5*.h -o b
ls
