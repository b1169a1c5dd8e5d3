target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@w = internal addrspace(1) constant [64 x i8] c"abcdefghijklmnopqrstuvwxyz012345abcdefghijklmnopqrstuvwxyz012345", align 16
@v = internal addrspace(1) global [4 x i8] zeroinitializer, align 4

define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out, i1 %is) {
begin:
  %either = select i1 %is, ptr addrspace(1) @w, ptr addrspace(1) %in
  %a = call i32 asm sideeffect "ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %in)
  %b = call i32 asm sideeffect "ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %either)
  %c = call i32 asm sideeffect "ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) @v)
  %d = call i32 asm sideeffect "ld.volatile.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) @w)
  %e = call i32 asm sideeffect "ld.global.b32 { $0 }, [ $1 + 0 ]; bar.sync 0;", "=r,l"(ptr addrspace(1) @w)
  %f = call i32 asm sideeffect "@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) @w, i1 true)
  %g = call float asm sideeffect "ld.global.b32 { $0 }, [ $1 + 0 ];", "=f,l"(ptr addrspace(1) @w)
  %h = call i32 asm sideeffect "ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,~{memory}"(ptr addrspace(1) @w)
  %i = fptosi float %g to i32
  %ab = add i32 %a, %b
  %cd = add i32 %c, %d
  %ef = add i32 %e, %f
  %hi = add i32 %h, %i
  %abcd = add i32 %ab, %cd
  %efhi = add i32 %ef, %hi
  %all = add i32 %abcd, %efhi
  store i32 %all, ptr addrspace(1) %out, align 4
  ret void
}
