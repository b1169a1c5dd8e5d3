# SPDX-License-Identifier: Apache-2.0
. "$here/compiling.inc"
kernels .
try tkbundle compile add.ptx --target cuda:90 --emit cubin -o add.cubin
head -c 4 add.cubin | tail -c 3
echo
tkbundle compile add.ptx --target cuda:90 --emit cubin -o - | cmp - add.cubin
try tkbundle compile add.ptx --target cuda:90 --emit llir -o no.ll
try tkbundle compile add.ptx --target cuda:90 --emit ptx -o full/add.ptx
ls
need_llvm add.llir
try tkbundle compile add.llir --target cuda:90 --emit ptx -o new.ptx
grep -o 'entry add_kernel' new.ptx
try tkbundle compile add.llir --target cuda:90 --finalize --emit llir -o new.ll
grep -o 'define.* @add_kernel' new.ll
try tkbundle compile new.ll --target cuda:90 --emit ptx -o newer.ptx
grep -o 'entry add_kernel' newer.ptx
