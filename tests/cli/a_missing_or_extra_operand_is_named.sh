# SPDX-License-Identifier: Apache-2.0
for verb in emit ls show verify; do
	try tkbundle $verb ''
done
try tkbundle emit
try tkbundle show
try tkbundle show a.tkb
try tkbundle collect one two -o a.tkb
try tkbundle emit one two three
try tkbundle ls one two
try tkbundle show one two three
