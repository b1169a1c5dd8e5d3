; Triton's add kernel, in short: it has had its O3, and gets all by pointer.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #0

define ptx_kernel void @add(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %n) {
  %t = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %in = icmp slt i32 %t, %n
  br i1 %in, label %yes, label %no

yes:                                              ; preds = %0
  %i = zext nneg i32 %t to i64
  %p = getelementptr float, ptr addrspace(1) %a, i64 %i
  %x = load float, ptr addrspace(1) %p, align 4
  %q = getelementptr float, ptr addrspace(1) %b, i64 %i
  %y = tail call float asm sideeffect "mov.b32 $0, $1;", "=f,f"(float %x) #1
  store float %y, ptr addrspace(1) %q, align 4
  br label %no

no:                                               ; preds = %yes, %0
  ret void
}

attributes #0 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #1 = { nounwind }
