# SPDX-License-Identifier: Apache-2.0
. "$here/compiling.inc"
kernels .
echo junk >junk.ptx
: >empty.ptx
mkdir folder.ptx
{
	try tkbundle compile add.ptx junk.ptx matmul.ptx --target cuda:90 --cache root
	try tkbundle compile add.ptx junk.ptx matmul.ptx --target cuda:90 \
		--cache root --keep-going -j 1
	try tkbundle compile junk.ptx --target cuda:90 --cache root
	try tkbundle compile no.ptx --target cuda:90 --cache root
	try tkbundle compile empty.ptx folder.ptx no.ptx junk.ptx ./junk.ptx \
		--target cuda:90 --cache root --keep-going
	try tkbundle compile add.ptx --target cuda:80,cuda:90 --cache root --keep-going
} | sed 's/\(ptxas fatal *: \).*/\1.../; s/ ptxas .* error *: .*/ .../;
	s/^\(2> to repeat it: \).*/\1.../' | mask
