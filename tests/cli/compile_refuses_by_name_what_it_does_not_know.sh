# SPDX-License-Identifier: Apache-2.0
. "$here/compiling.inc"
kernels .
{
	for target in cuda:91 cuda cuda:90a 90 hip:gfx942 cuda:90,cuda:1; do
		try tkbundle compile add.ptx --cache root --target $target
	done
	try tkbundle compile add.ptx --cache root
	try tkbundle compile --target cuda:90
	try tkbundle compile add.source --target cuda:90
	try tkbundle compile add.ptx --target cuda:90 --cache root --name div
	try tkbundle compile add.ptx --target cuda:90 --cache root --ptxas-option --fast
	try tkbundle compile add.ptx --target cuda:90 --cache root --cubin-with ld
	try tkbundle compile add.ptx --target cuda:90 --cache root --num-warps 3
	try tkbundle compile add.ptx --target cuda:90 --cache root --without dce
	try tkbundle compile add.llir --target cuda:90 --cache root --finalize --without wash
	try tkbundle compile add.llir --target cuda:90 --cache root --finalize --rules no.ll
	try tkbundle compile add.ptx --target cuda:90 --cache root --finalize --without wash
	try tkbundle compile add.llir add.ptx --target cuda:90 --cache root --finalize
	try tkbundle compile add.ptx --target cuda:90 --cache root --signature '*fp32'
	try tkbundle compile add.ptx --target cuda:90 --cache root --metadata no.json
	try tkbundle compile add.ptx --target cuda:90 --cache root --metadata add.ptx
	try tkbundle compile add.llir --target cuda:90 --cache root --libdevice no.bc
	try tkbundle compile add.ptx --target cuda:90 --cache root --libdevice no.bc
	try tkbundle compile add.ptx --target cuda:90 --cache root --log no/log
	try tkbundle compile add.ptx --target cuda:90 --cache root -o add.cubin
	try tkbundle compile add.ptx --target cuda:90 --emit cubin
	try tkbundle compile add.ptx --target cuda:90 --emit asm -o -
	try tkbundle compile add.ptx matmul.ptx --target cuda:90 --emit cubin -o -
	try tkbundle compile add.ptx --target cuda:90 --emit cubin -o - --cache root
	try tkbundle compile add.ptx --target cuda:90 --emit cubin -o - --json
	try tkbundle compile add.ptx --target cuda:90 --emit ptx -o add.out --ptxas-option -O1
	try tkbundle compile add.ptx --target cuda:90 --emit llir -o add.out
	ls root 2>&1 || true
} | sed 's/\(ptxas fatal *: \).*/\1.../; s/^\(2> to repeat it: \).*/\1.../' | mask
