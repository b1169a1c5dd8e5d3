target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@w = internal addrspace(1) constant [64 x i8] c"abcdefghijklmnopqrstuvwxyz012345abcdefghijklmnopqrstuvwxyz012345", align 16

define ptx_kernel void @kernel(ptr addrspace(1) %out, i64 %i, i1 %is, i32 %else) {
begin:
  %p = getelementptr i8, ptr addrspace(1) @w, i64 %i
  %0 = load i32, ptr addrspace(1) %p, align 4, !invariant.load !0
  %1 = getelementptr i8, ptr addrspace(1) %p, i64 8
  %2 = load <2 x i32>, ptr addrspace(1) %1, align 8, !invariant.load !0
  %3 = extractelement <2 x i32> %2, i64 1
  %4 = call i32 asm "mov.u32 $0, 0x0;\0A\09@$2 ld.global.nc.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %p, i1 %is) #0
  %a = add i32 %0, %3
  %b = add i32 %a, %else
  %c = add i32 %b, %4
  store i32 %c, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind willreturn memory(none) }

!0 = !{}
