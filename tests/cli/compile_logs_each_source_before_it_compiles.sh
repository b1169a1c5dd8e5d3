# SPDX-License-Identifier: Apache-2.0
. "$here/compiling.inc"
kernels .
echo junk >junk.ptx
{
	try tkbundle compile add.ptx junk.ptx --target cuda:90 --cache root \
		--log sources >/dev/null
	grep -n '^====\|^junk\|entry' sources
	echo "none of a hit:"
	try tkbundle compile add.ptx --target cuda:90 --cache root --log sources
	cat sources
	need_llvm add.llir
	tkbundle compile add.llir --target cuda:90 --emit ptx -o new.ptx \
		--print-after-all 2>&1 | grep -c '^; \*\*\* IR Dump After\|^# \*\*\* IR Dump After' |
		sed 's/[0-9]\{2,\}/many/'
} | sed 's/\(ptxas fatal *: \).*/\1.../; s/^\(2> to repeat it: \).*/\1.../' | mask
