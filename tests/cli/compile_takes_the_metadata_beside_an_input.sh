# SPDX-License-Identifier: Apache-2.0
. "$here/compiling.inc"
kernels .
facts() {
	for name in shared num_warps arch; do
		grep -ho "\"$name\": [0-9][0-9]*" "$1"/*/matmul_kernel.json
	done
	rm -r "$1"
}
{
	try tkbundle compile matmul.ptx --target cuda:90 --cache root
	facts root
	try_line 'tkbundle compile matmul.ptx --target cuda:90 --cache root --num-warps 16 2>&1 | grep warps'
	mv matmul.json else.json
	try tkbundle compile matmul.ptx --target cuda:90 --cache root
	facts root
	try tkbundle compile matmul.ptx --target cuda:90 --cache root --metadata else.json
	facts root
	echo "of something else:"
	echo '{"shared": 5}' >matmul.json
	try tkbundle compile matmul.ptx --target cuda:90 --cache root
	facts root
} | mask
