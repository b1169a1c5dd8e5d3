; SPDX-License-Identifier: Apache-2.0
;
; Int8 weights of the module become floats.
;from finalize/quant/parts.ll
;use weights
;use begin
  %s = load float, ptr addrspace(1) %rp
;use loop type float, zero 0.0
;use weight
;use input type float, x x
  %wf = sitofp i8 %w to float
  %ws = fmul float %wf, %s
  %p = fmul float %x, %ws
  %new = fadd float %sum, %p
;use sum type float
