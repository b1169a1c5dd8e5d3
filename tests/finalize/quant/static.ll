; SPDX-License-Identifier: Apache-2.0
;
; Int8 products with weights and scales of the module.
;from finalize/quant/parts.ll
;use weights
;use scales
;use begin
  %sp = getelementptr float, ptr addrspace(1) @s, i32 %row
  %s = load float, ptr addrspace(1) %sp
;use loop type i32, zero 0
;use weight
;use input type i8, x x
;use product
;use scaled
