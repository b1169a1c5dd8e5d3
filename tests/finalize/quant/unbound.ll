; SPDX-License-Identifier: Apache-2.0
;
; Int8 products of two arguments.
;from finalize/quant/parts.ll
;use begin
;use loop type i32, zero 0
  %wp = getelementptr i8, ptr addrspace(1) %b, i32 %at
  %w = load i8, ptr addrspace(1) %wp
;use input type i8, x x
;use product
;use sum type i32
