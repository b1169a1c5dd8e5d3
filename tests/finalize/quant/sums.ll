; SPDX-License-Identifier: Apache-2.0
;
; Int8 products with weights of the module; the sums stay integers.
;from finalize/quant/parts.ll
;use weights
;use begin
;use loop type i32, zero 0
;use weight
;use input type i8, x x
;use product
;use sum type i32
