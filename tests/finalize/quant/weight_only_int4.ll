; SPDX-License-Identifier: Apache-2.0
;
; The same of int4 weights, two of which are in a byte.
;from finalize/quant/parts.ll
;use weights
;use begin
  %s = load float, ptr addrspace(1) %rp
;use loop type float, zero 0.0
  %half = lshr i32 %at, 1
  %wp = getelementptr i8, ptr addrspace(1) @w, i32 %half
  %w = load i8, ptr addrspace(1) %wp
  %wi = zext i8 %w to i32
  %odd = and i32 %at, 1
  %shift = shl i32 %odd, 2
  %moved = lshr i32 %wi, %shift
  %four = and i32 %moved, 15
;use input type float, x x
  %wf = sitofp i32 %four to float
  %ws = fmul float %wf, %s
  %p = fmul float %x, %ws
  %new = fadd float %sum, %p
;use sum type float
