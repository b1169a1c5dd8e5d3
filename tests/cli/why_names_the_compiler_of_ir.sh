# SPDX-License-Identifier: Apache-2.0
. "$here/compiling.inc"
kernels .
# Versions differ where tests run, and so do keys.
hide() {
	sed -e 's/[A-Z2-7]\{52\}/KEY/g; s/[A-Z2-7]\{12\}/KEY/g' \
		-e 's/\(ptxas=\|LLVM: \)[0-9][0-9.]*\(, build [0-9a-f]*\)*/\1N/' \
		-e 's/(a hash): [0-9a-f]\{16\}/(a hash): N/'
}
need_llvm softmax.llir
compile() {
	tkbundle compile "$@" --target cuda:90 >words
}
compile softmax.llir --cache a
compile softmax.llir --cache b --finalize --without fuse
{
	try tkbundle why softmax_kernel a b
	# Another LLVM, as if another tkbundle had made it.
	compile softmax.llir --cache c --optimize
	cp -R a d && rm -r d/.tkbundle d/*
	cp -R c/[A-Z2-7]* d/ && mkdir d/.tkbundle
	sed 's/llvm=[^;]*/llvm=99.0/; s/--optimize/none/' c/.tkbundle/makers \
		>d/.tkbundle/makers
	try tkbundle why softmax_kernel a d
	sed 's/worker=[0-9a-f]*/worker=0123/; s/--optimize/none/' c/.tkbundle/makers \
		>d/.tkbundle/makers
	try tkbundle why softmax_kernel a d
} | hide
