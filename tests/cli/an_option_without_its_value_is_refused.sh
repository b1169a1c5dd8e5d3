# SPDX-License-Identifier: Apache-2.0
for option in -o --output --key --device --profile -j --jobs; do
	try tkbundle collect $option
done
for option in --device --target --layout; do
	try tkbundle emit a.tkb $option
done
for option in --file --stage; do
	try tkbundle show a.tkb KEY $option
done
try tkbundle collect --output=
try tkbundle show a.tkb KEY --file=
