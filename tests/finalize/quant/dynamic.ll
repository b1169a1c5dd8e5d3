; SPDX-License-Identifier: Apache-2.0
;
; Int8 products with weights of the module; each row has a scale in memory.
;from finalize/quant/parts.ll
;use weights
;use begin
  %s = load float, ptr addrspace(1) %rp
;use loop type i32, zero 0
;use weight
;use input type i8, x x
;use product
;use scaled
