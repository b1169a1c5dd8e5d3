target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@w = internal addrspace(1) constant [32 x i8] c"abcdefghijklmnopqrstuvwxyz012345", align 16

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define ptx_kernel void @kernel(ptr addrspace(1) %out) {
begin:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = shl nsw i32 %block, 2
  %row = add nsw i32 %first, %thread
  %at = sext i32 %row to i64
  %p0 = getelementptr i8, ptr addrspace(1) @w, i64 %at
  %p1 = getelementptr i8, ptr addrspace(1) %p0, i64 8
  %p2 = getelementptr i8, ptr addrspace(1) %p0, i64 16
  %p3 = getelementptr i8, ptr addrspace(1) %p0, i64 24
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  %word = bitcast <4 x i8> %v3 to i32
  %to = getelementptr i32, ptr addrspace(1) %out, i64 %at
  store i32 %word, ptr addrspace(1) %to, align 4
  ret void
}
