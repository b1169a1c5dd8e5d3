; SPDX-License-Identifier: Apache-2.0
;
; The same, and the kernel quantizes its inputs itself, by a scale in memory.
;from finalize/quant/parts.ll
;use weights
declare float @llvm.rint.f32(float)
declare float @llvm.minnum.f32(float, float)
declare float @llvm.maxnum.f32(float, float)
;use begin
  %s = load float, ptr addrspace(1) %rp
;use loop type i32, zero 0
;use weight
;use input type float, x xf
  %q = fdiv float %xf, %s
;use quantized
;use product
;use scaled
