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
try tkbundle compile add.ptx --target cuda:80,cuda:90 --emit ptx -o all/
ls all | sed 's/^[A-Z2-7]*/KEY/'
tkbundle compile add.ptx --target cuda:90 --emit ptx -o add.ptx/ 2>&1 |
	sed 's|/[A-Z2-7]*\.ptx|/KEY.ptx|'
mkdir tools
printf '#!/bin/sh\necho "$1 $2"\nhead -c 4 "$3" | tail -c 3\n' >tools/nvdisasm
chmod +x tools/nvdisasm
export TRITON_NVDISASM_PATH="$PWD/tools/nvdisasm"
try tkbundle compile add.ptx --target cuda:90 --emit sass -o -
echo
TRITON_NVDISASM_PATH="$PWD/no" tkbundle compile add.ptx --target cuda:90 --emit sass -o add.sass 2>&1 |
	head -n 1 | mask
[ ! -e add.sass ] || echo "half a file is there"
try tkbundle compile add.ptx --target cuda:90 --emit ttgir -o no.ttgir
try tkbundle compile kernels.json --target cuda:90 --emit ptx -o no.ptx
need_llvm add.llir
try tkbundle compile add.llir --target cuda:90 --emit ptx -o new.ptx
grep -o 'entry add_kernel' new.ptx
try tkbundle compile add.llir --target cuda:90 --finalize --emit llir -o new.ll
grep -o 'define.* @add_kernel' new.ll
try tkbundle compile new.ll --target cuda:90 --emit ptx -o newer.ptx
grep -o 'entry add_kernel' newer.ptx
