; SPDX-License-Identifier: Apache-2.0
;
; What the modules of this folder have in common: a row of products for each thread.

;part weights
@w = internal addrspace(1) constant [64 x i8] [i8 -127, i8 -90, i8 -53, i8 -16, i8 21, i8 58, i8 95, i8 -123, i8 -86, i8 -49, i8 -12, i8 25, i8 62, i8 99, i8 -119, i8 -82, i8 -34, i8 3, i8 40, i8 77, i8 114, i8 -104, i8 -67, i8 -30, i8 7, i8 44, i8 81, i8 118, i8 -100, i8 -63, i8 -26, i8 11, i8 59, i8 96, i8 -122, i8 -85, i8 -48, i8 -11, i8 26, i8 63, i8 100, i8 -118, i8 -81, i8 -44, i8 -7, i8 30, i8 67, i8 104, i8 -103, i8 -66, i8 -29, i8 8, i8 45, i8 82, i8 119, i8 -99, i8 -62, i8 -25, i8 12, i8 49, i8 86, i8 123, i8 -95, i8 -58], align 16
;end
;part scales
@s = internal addrspace(1) constant [4 x float] [float 0.125, float 0.5, float 2.0, float 3.0], align 16
;end
;part begin
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @kernel(ptr addrspace(1) align 16 %a, ptr addrspace(1) align 16 %b, ptr addrspace(1) align 16 %c, ptr addrspace(1) %d, i32 %n, i64 %m) {
begin:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = and i32 %thread, 3
  %first = mul i32 %row, 16
  %rp = getelementptr float, ptr addrspace(1) %b, i32 %row
;end
;part loop
  br label %loop
loop:
  %k = phi i32 [ 0, %begin ], [ %next, %loop ]
  %sum = phi {type} [ {zero}, %begin ], [ %new, %loop ]
  %at = add i32 %first, %k
;end
;part weight
  %wp = getelementptr i8, ptr addrspace(1) @w, i32 %at
  %w = load i8, ptr addrspace(1) %wp
;end
;part input
  %xp = getelementptr {type}, ptr addrspace(1) %a, i32 %k
  %{x} = load {type}, ptr addrspace(1) %xp
;end
;part quantized
  %high = call float @llvm.minnum.f32(float %q, float 127.0)
  %low = call float @llvm.maxnum.f32(float %high, float -128.0)
  %near = call float @llvm.rint.f32(float %low)
  %x = fptosi float %near to i8
;end
;part product
  %wi = sext i8 %w to i32
  %xi = sext i8 %x to i32
  %p = mul i32 %wi, %xi
  %new = add i32 %sum, %p
;end
;part scaled
  %next = add nuw nsw i32 %k, 1
  %end = icmp eq i32 %next, 16
  br i1 %end, label %done, label %loop
done:
  %to = getelementptr i32, ptr addrspace(1) %c, i32 %row
  %f = sitofp i32 %new to float
  %y = fmul float %f, %s
  store float %y, ptr addrspace(1) %to
  ret void
}
;end
;part sum
  %next = add nuw nsw i32 %k, 1
  %end = icmp eq i32 %next, 16
  br i1 %end, label %done, label %loop
done:
  %to = getelementptr i32, ptr addrspace(1) %c, i32 %row
  store {type} %new, ptr addrspace(1) %to
  ret void
}
;end
