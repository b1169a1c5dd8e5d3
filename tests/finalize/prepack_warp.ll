target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@w = internal addrspace(1) constant [32 x i32] [i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31], align 16

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @kernel(ptr addrspace(1) %out) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %column = and i32 %thread, 3
  %rest = lshr i32 %thread, 2
  %row = and i32 %rest, 3
  %start = shl nuw nsw i32 %row, 3
  %index = or disjoint i32 %start, %column
  %at = zext nneg i32 %index to i64
  %p0 = getelementptr i32, ptr addrspace(1) @w, i64 %at
  %p1 = getelementptr i32, ptr addrspace(1) %p0, i64 4
  %a = load i32, ptr addrspace(1) %p0, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %b = load i32, ptr addrspace(1) %p1, align 4
  %sum = add i32 %a, %b
  store i32 %sum, ptr addrspace(1) %out, align 4
  ret void
}
