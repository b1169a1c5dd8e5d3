# SPDX-License-Identifier: Apache-2.0
. "$here/compiling.inc"
kernels .
# Versions differ where tests run, and so do keys.
hide() {
	sed -e 's/[A-Z2-7]\{52\}/KEY/g; s/[A-Z2-7]\{12\}/KEY/g' \
		-e 's/\(ptxas=\|LLVM: \)[0-9][0-9.]*/\1N/' \
		-e 's/worker=[0-9a-f]*/worker=N/'
}
compile() {
	tkbundle compile "$@" --target cuda:90 >words
}
{
	compile add.ptx --cache a
	compile add.ptx --cache b --ptxas-option=-O1
	try tkbundle why add_kernel a b
	sed 's/sm_90a*/sm_80/' add.ptx >old.ptx
	cp add.json old.json
	compile old.ptx --cache c
	try tkbundle why add_kernel a c
	# What a push takes along, a pull notes.
	tkbundle push one a --remote remote >words
	tkbundle push two b --remote remote >words
	try tkbundle why add_kernel one two --remote remote
	# Without notes nothing of it is known.
	rm b/.tkbundle/makers
	try tkbundle why add_kernel a b
	cat a/.tkbundle/makers
} | hide
