; SPDX-License-Identifier: Apache-2.0
;
; Int8 products of two arguments.

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @kernel(ptr addrspace(1) align 16 %a, ptr addrspace(1) align 16 %b, ptr addrspace(1) align 16 %c, ptr addrspace(1) %d, i32 %n, i64 %m) {
begin:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = and i32 %thread, 3
  %first = mul i32 %row, 16
  %rp = getelementptr float, ptr addrspace(1) %b, i32 %row
  br label %loop
loop:
  %k = phi i32 [ 0, %begin ], [ %next, %loop ]
  %sum = phi i32 [ 0, %begin ], [ %new, %loop ]
  %at = add i32 %first, %k
  %wp = getelementptr i8, ptr addrspace(1) %b, i32 %at
  %w = load i8, ptr addrspace(1) %wp
  %xp = getelementptr i8, ptr addrspace(1) %a, i32 %k
  %x = load i8, ptr addrspace(1) %xp
  %wi = sext i8 %w to i32
  %xi = sext i8 %x to i32
  %p = mul i32 %wi, %xi
  %new = add i32 %sum, %p
  %next = add nuw nsw i32 %k, 1
  %end = icmp eq i32 %next, 16
  br i1 %end, label %done, label %loop
done:
  %to = getelementptr i32, ptr addrspace(1) %c, i32 %row
  store i32 %new, ptr addrspace(1) %to
  ret void
}
