; SPDX-License-Identifier: Apache-2.0
;
; The same, and the kernel quantizes its inputs itself, by a constant.
;from finalize/quant/parts.ll
;use weights
;use scales
declare float @llvm.rint.f32(float)
declare float @llvm.minnum.f32(float, float)
declare float @llvm.maxnum.f32(float, float)
;use begin
  %sp = getelementptr float, ptr addrspace(1) @s, i32 %row
  %s = load float, ptr addrspace(1) %sp
;use loop type i32, zero 0
;use weight
;use input type float, x xf
  %q = fmul float %xf, 0.5
;use quantized
;use product
;use scaled
