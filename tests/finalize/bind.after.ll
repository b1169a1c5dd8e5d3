target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@llvm.used = appending global [1 x ptr] [ptr @kernel], section "llvm.metadata"
@bound.w = internal addrspace(1) constant [8 x i8] c"\00\01\02\03\04\05\FE\FF", align 256
@bound.plain = internal addrspace(1) constant [1 x i16] [i16 -32767], align 256
@bound.constant = internal addrspace(4) constant [1 x float] [float 1.000000e+00], align 256

define ptx_kernel void @kernel(ptr addrspace(1) writeonly align 4 %out) #0 !reqntid !0 {
entry:
  %p = getelementptr i8, ptr addrspace(1) @bound.w, i64 5
  %b = load i8, ptr addrspace(1) %p, align 1
  %a = call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) @bound.w, i1 true)
  %c = load i16, ptr addrspacecast (ptr addrspace(1) @bound.plain to ptr), align 2
  %d = load float, ptr addrspace(4) @bound.constant, align 4
  %x = sext i8 %b to i32
  %y = add i32 %x, -7
  %z = add i32 %y, %a
  br label %next

next:
  %s = sext i16 %c to i32
  %t = add i32 %z, %s
  %f = sitofp i32 %t to float
  %g = fmul float %f, 1.250000e-01
  %h = fmul float %g, %d
  store float %h, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }

!0 = !{i32 128}
