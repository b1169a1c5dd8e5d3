# SPDX-License-Identifier: Apache-2.0
cache folder/triton/0
cp -r folder/triton/0 folder/triton/1
cp -r folder/triton/0 folder/triton/7
rm -r folder/triton/7/OH*
try tkbundle collect folder -o all.tkb
tkbundle ls all.tkb
try tkbundle collect folder -o seven.tkb --device 7
tkbundle ls seven.tkb
tkbundle ls --json folder | json | grep -A 3 -e layout -e '"devices"'
