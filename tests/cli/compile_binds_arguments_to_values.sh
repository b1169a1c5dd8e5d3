# SPDX-License-Identifier: Apache-2.0
. "$here/compiling.inc"
cat >scale.ll <<'END'
target triple = "nvptx64-nvidia-cuda"
define ptx_kernel void @scale(ptr addrspace(1) %w, ptr addrspace(1) %out, i32 %n, float %by) {
  %w0 = load i8, ptr addrspace(1) %w
  %a = sext i8 %w0 to i32
  %b = add i32 %a, %n
  %c = sitofp i32 %b to float
  %d = fmul float %c, %by
  store float %d, ptr addrspace(1) %out
  ret void
}
define ptx_kernel void @other(i32 %n) {
  ret void
}
END
need_llvm scale.ll
mkdir call
printf '\002\001' >call/w.bin
echo '{"n": 3, "by": 0.5, "w": {"file": "w.bin", "type": "i8[2]"}}' >call/call.json
echo '{"n": "3"}' >call/text.json
echo '[3]' >call/list.json
echo '{"n": 3, "n": 4}' >call/twice.json
echo '{"tkbundle_bound": {"by": "0.5"}}' >before.json
{
	bind() {
		try tkbundle compile scale.ll --target cuda:90 --cache root "$@"
	}
	bind --finalize --keep scale --bind n=3 --bind by=0.5 --bind 'w=@call/w.bin:i8[2]'
	bind --finalize --keep scale --bind-from call/call.json
	cat root/*/scale.json | tr ',' '\n' | sed -n '/bound/,/sha256/p'
	tkbundle compile scale.ll --target cuda:90 --finalize --keep scale \
		--bind-from call/call.json --emit llir -o - 2>&1 |
		grep -E 'define|store|@other'
	bind --finalize --keep scale --bind nctaid.x=16 --bind nctaid.y=1
	grep -ho '"nctaid[^}]*' root/*/scale.json
	bind --finalize --bind n=3
	bind --finalize --keep none --bind n=3
	bind --finalize --keep scale --without bind --bind n=3
	for value in n n= =3 m=3 n=x n=@w.bin w=@call/w.bin w=@none:i8[2] 'w=@call/w.bin:i8[3]' \
		'w=@call/w.bin:x[2]' w=3 'out=@call/w.bin:i8[2]' nctaid.x=0; do
		bind --finalize --keep scale --bind "$value"
	done
	for file in none text list twice; do
		bind --finalize --keep scale --bind-from call/$file.json
	done
	bind --finalize --keep scale --metadata before.json --bind n=3 |
		grep -Ev '^2> (ptxas| +0 bytes)'
	bind --bind n=3
	ls root | wc -l
} | sed 's/^\(2> to repeat it: \).*/\1.../' | mask
