; SPDX-License-Identifier: Apache-2.0
;
; Nothing is quantized.

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
  %sum = phi float [ 0.0, %begin ], [ %new, %loop ]
  %at = add i32 %first, %k
  %wp = getelementptr float, ptr addrspace(1) %b, i32 %k
  %w = load float, ptr addrspace(1) %wp
  %xp = getelementptr float, ptr addrspace(1) %a, i32 %k
  %x = load float, ptr addrspace(1) %xp
  %p = fmul float %x, %w
  %new = fadd float %sum, %p
  %next = add nuw nsw i32 %k, 1
  %end = icmp eq i32 %next, 16
  br i1 %end, label %done, label %loop
done:
  %to = getelementptr i32, ptr addrspace(1) %c, i32 %row
  store float %new, ptr addrspace(1) %to
  ret void
}
