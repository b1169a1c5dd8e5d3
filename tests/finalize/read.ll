target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@w = internal addrspace(1) constant [64 x i8] c"abcdefghijklmnopqrstuvwxyz012345abcdefghijklmnopqrstuvwxyz012345", align 16

define ptx_kernel void @kernel(ptr addrspace(1) %out, i64 %i, i1 %is, i32 %else) {
begin:
  %p = getelementptr i8, ptr addrspace(1) @w, i64 %i
  %always = call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %p, i1 true)
  %pair = call { i32, i32 } asm sideeffect "ld.global.L1::evict_last.v2.b32 { $0, $1 }, [ $2 + 8 ];", "=r,=r,l"(ptr addrspace(1) %p)
  %never = call i32 asm sideeffect "mov.u32 $0, $1;\0A\09@$3 ld.global.b32 { $0 }, [ $2 + 0 ];", "=r,r,l,b"(i32 %else, ptr addrspace(1) %p, i1 false)
  %sometimes = call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %p, i1 %is)
  %second = extractvalue { i32, i32 } %pair, 1
  %a = add i32 %always, %second
  %b = add i32 %a, %never
  %c = add i32 %b, %sometimes
  store i32 %c, ptr addrspace(1) %out, align 4
  ret void
}
