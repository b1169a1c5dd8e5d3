target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@llvm.used = appending global [1 x ptr] [ptr @kernel], section "llvm.metadata"

define ptx_kernel void @kernel(ptr addrspace(1) noalias readonly align 16 %w, ptr addrspace(1) writeonly align 4 %out, i32 %n, float %scale, i64 %0, ptr %plain, ptr addrspace(4) %constant) #0 !reqntid !0 {
entry:
  %p = getelementptr i8, ptr addrspace(1) %w, i64 %0
  %b = load i8, ptr addrspace(1) %p, align 1
  %a = call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %w, i1 true)
  %c = load i16, ptr %plain, align 2
  %d = load float, ptr addrspace(4) %constant, align 4
  %x = sext i8 %b to i32
  %y = add i32 %x, %n
  %z = add i32 %y, %a
  br label %next

next:
  %s = sext i16 %c to i32
  %t = add i32 %z, %s
  %f = sitofp i32 %t to float
  %g = fmul float %f, %scale
  %h = fmul float %g, %d
  store float %h, ptr addrspace(1) %out, align 4
  ret void
}

attributes #0 = { nounwind }

!0 = !{i32 128}
