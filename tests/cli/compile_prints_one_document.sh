# SPDX-License-Identifier: Apache-2.0
. "$here/compiling.inc"
kernels .
echo junk >junk.ptx
{
	try_line 'tkbundle compile add.ptx ./add.ptx junk.ptx matmul.ptx --target cuda:90 --cache root --json 2>/dev/null | json'
	try_line 'tkbundle compile add.ptx --target cuda:90 --ptxas /nowhere --cache root --json 2>/dev/null | json'
	try_line 'tkbundle compile add.ptx --target cuda:90 --emit ptx -o new.ptx --json | json'
} | sed 's/\(ptxas fatal *: \)[^"]*/\1.../' | mask
