# SPDX-License-Identifier: Apache-2.0
cache cache
add='*fp32:16, *fp32:16, *fp32:16, i32:16, 1024'
try tkbundle launcher cache 5DJU --signature "$add" -o nowhere/add
mkdir out
tkbundle launcher cache 5DJU --signature "$add" -o out/add
before=$(cat out/*)
# A file that is there is replaced, and not before both are complete.
tkbundle launcher cache 5DJU --signature "$add" -o out/add
[ "$before" = "$(cat out/*)" ] && echo "the same files"
chmod u-w out
try powerless tkbundle launcher cache 5DJU --signature "$add" -o out/other
chmod u+w out
try tkbundle launcher cache 5DJU --signature "$add" -o out/
try tkbundle launcher cache 5DJU --signature "$add" -o 'out/a"b'
ls out
