; SPDX-License-Identifier: Apache-2.0
;
; Nothing is quantized.
;from finalize/quant/parts.ll
;use begin
;use loop type float, zero 0.0
  %wp = getelementptr float, ptr addrspace(1) %b, i32 %k
  %w = load float, ptr addrspace(1) %wp
;use input type float, x x
  %p = fmul float %x, %w
  %new = fadd float %sum, %p
;use sum type float
