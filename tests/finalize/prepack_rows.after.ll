target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@w.packed = internal addrspace(1) constant [8 x i32] [i32 2037475681, i32 2054318690, i32 812870499, i32 829713508, i32 846556517, i32 863399526, i32 880242535, i32 897085544], align 16

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define ptx_kernel void @kernel(ptr addrspace(1) %out) {
begin:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = shl nsw i32 %block, 2
  %row = add nsw i32 %first, %thread
  %at = sext i32 %row to i64
  %0 = sext i32 %thread to i64
  %1 = sext i32 %block to i64
  %2 = mul i64 %1, 4
  %3 = add i64 %0, %2
  %4 = getelementptr inbounds i32, ptr addrspace(1) @w.packed, i64 %3
  %5 = load <4 x i8>, ptr addrspace(1) %4, align 4
  %word = bitcast <4 x i8> %5 to i32
  %to = getelementptr i32, ptr addrspace(1) %out, i64 %at
  store i32 %word, ptr addrspace(1) %to, align 4
  ret void
}
