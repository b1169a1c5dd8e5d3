; SPDX-License-Identifier: Apache-2.0
;
; Merges the constants of a dequantized value that is multiplied or divided by
; another constant. The result is rounded once, not twice. So the rules are
; `fast`, and both operations must allow reassociation. The limits on the
; constants' magnitudes keep the product and the quotient in the range of a float.
; rule.h describes the language.

; i8, sitofp

define float @dequantize.signed.multiply.pattern(i8 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w) #0 {
  %f = sitofp i8 %q to float
  %d = fmul reassoc float %f, %s
  %r = fmul reassoc float %d, %w
  ret float %r
}

define float @dequantize.signed.multiply.replacement(i8 %q, float %s, float %w) {
  %f = sitofp i8 %q to float
  %c = fmul float %s, %w
  %r = fmul float %f, %c
  ret float %r
}

define float @dequantize.signed.divide.pattern(i8 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w) #0 {
  %f = sitofp i8 %q to float
  %d = fmul reassoc float %f, %s
  %r = fdiv reassoc arcp float %d, %w
  ret float %r
}

define float @dequantize.signed.divide.replacement(i8 %q, float %s, float %w) {
  %f = sitofp i8 %q to float
  %c = fdiv float %s, %w
  %r = fmul float %f, %c
  ret float %r
}

; i8, sitofp, minus a zero point

define float @dequantize.signed.zero.multiply.pattern(i8 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w, float "tkb.constant" %z) #0 {
  %f = sitofp i8 %q to float
  %x = fsub reassoc float %f, %z
  %d = fmul reassoc float %x, %s
  %r = fmul reassoc float %d, %w
  ret float %r
}

define float @dequantize.signed.zero.multiply.replacement(i8 %q, float %s, float %w, float %z) {
  %f = sitofp i8 %q to float
  %x = fsub float %f, %z
  %c = fmul float %s, %w
  %r = fmul float %x, %c
  ret float %r
}

define float @dequantize.signed.zero.divide.pattern(i8 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w, float "tkb.constant" %z) #0 {
  %f = sitofp i8 %q to float
  %x = fsub reassoc float %f, %z
  %d = fmul reassoc float %x, %s
  %r = fdiv reassoc arcp float %d, %w
  ret float %r
}

define float @dequantize.signed.zero.divide.replacement(i8 %q, float %s, float %w, float %z) {
  %f = sitofp i8 %q to float
  %x = fsub float %f, %z
  %c = fdiv float %s, %w
  %r = fmul float %x, %c
  ret float %r
}

; i8, uitofp

define float @dequantize.unsigned.multiply.pattern(i8 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w) #0 {
  %f = uitofp i8 %q to float
  %d = fmul reassoc float %f, %s
  %r = fmul reassoc float %d, %w
  ret float %r
}

define float @dequantize.unsigned.multiply.replacement(i8 %q, float %s, float %w) {
  %f = uitofp i8 %q to float
  %c = fmul float %s, %w
  %r = fmul float %f, %c
  ret float %r
}

define float @dequantize.unsigned.divide.pattern(i8 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w) #0 {
  %f = uitofp i8 %q to float
  %d = fmul reassoc float %f, %s
  %r = fdiv reassoc arcp float %d, %w
  ret float %r
}

define float @dequantize.unsigned.divide.replacement(i8 %q, float %s, float %w) {
  %f = uitofp i8 %q to float
  %c = fdiv float %s, %w
  %r = fmul float %f, %c
  ret float %r
}

; i8, uitofp, minus a zero point

define float @dequantize.unsigned.zero.multiply.pattern(i8 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w, float "tkb.constant" %z) #0 {
  %f = uitofp i8 %q to float
  %x = fsub reassoc float %f, %z
  %d = fmul reassoc float %x, %s
  %r = fmul reassoc float %d, %w
  ret float %r
}

define float @dequantize.unsigned.zero.multiply.replacement(i8 %q, float %s, float %w, float %z) {
  %f = uitofp i8 %q to float
  %x = fsub float %f, %z
  %c = fmul float %s, %w
  %r = fmul float %x, %c
  ret float %r
}

define float @dequantize.unsigned.zero.divide.pattern(i8 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w, float "tkb.constant" %z) #0 {
  %f = uitofp i8 %q to float
  %x = fsub reassoc float %f, %z
  %d = fmul reassoc float %x, %s
  %r = fdiv reassoc arcp float %d, %w
  ret float %r
}

define float @dequantize.unsigned.zero.divide.replacement(i8 %q, float %s, float %w, float %z) {
  %f = uitofp i8 %q to float
  %x = fsub float %f, %z
  %c = fdiv float %s, %w
  %r = fmul float %x, %c
  ret float %r
}

; i16, sitofp

define float @dequantize.short.multiply.pattern(i16 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w) #0 {
  %f = sitofp i16 %q to float
  %d = fmul reassoc float %f, %s
  %r = fmul reassoc float %d, %w
  ret float %r
}

define float @dequantize.short.multiply.replacement(i16 %q, float %s, float %w) {
  %f = sitofp i16 %q to float
  %c = fmul float %s, %w
  %r = fmul float %f, %c
  ret float %r
}

define float @dequantize.short.divide.pattern(i16 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w) #0 {
  %f = sitofp i16 %q to float
  %d = fmul reassoc float %f, %s
  %r = fdiv reassoc arcp float %d, %w
  ret float %r
}

define float @dequantize.short.divide.replacement(i16 %q, float %s, float %w) {
  %f = sitofp i16 %q to float
  %c = fdiv float %s, %w
  %r = fmul float %f, %c
  ret float %r
}

; i16, sitofp, minus a zero point

define float @dequantize.short.zero.multiply.pattern(i16 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w, float "tkb.constant" %z) #0 {
  %f = sitofp i16 %q to float
  %x = fsub reassoc float %f, %z
  %d = fmul reassoc float %x, %s
  %r = fmul reassoc float %d, %w
  ret float %r
}

define float @dequantize.short.zero.multiply.replacement(i16 %q, float %s, float %w, float %z) {
  %f = sitofp i16 %q to float
  %x = fsub float %f, %z
  %c = fmul float %s, %w
  %r = fmul float %x, %c
  ret float %r
}

define float @dequantize.short.zero.divide.pattern(i16 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w, float "tkb.constant" %z) #0 {
  %f = sitofp i16 %q to float
  %x = fsub reassoc float %f, %z
  %d = fmul reassoc float %x, %s
  %r = fdiv reassoc arcp float %d, %w
  ret float %r
}

define float @dequantize.short.zero.divide.replacement(i16 %q, float %s, float %w, float %z) {
  %f = sitofp i16 %q to float
  %x = fsub float %f, %z
  %c = fdiv float %s, %w
  %r = fmul float %x, %c
  ret float %r
}

; i32, sitofp

define float @dequantize.word.multiply.pattern(i32 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w) #0 {
  %f = sitofp i32 %q to float
  %d = fmul reassoc float %f, %s
  %r = fmul reassoc float %d, %w
  ret float %r
}

define float @dequantize.word.multiply.replacement(i32 %q, float %s, float %w) {
  %f = sitofp i32 %q to float
  %c = fmul float %s, %w
  %r = fmul float %f, %c
  ret float %r
}

define float @dequantize.word.divide.pattern(i32 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w) #0 {
  %f = sitofp i32 %q to float
  %d = fmul reassoc float %f, %s
  %r = fdiv reassoc arcp float %d, %w
  ret float %r
}

define float @dequantize.word.divide.replacement(i32 %q, float %s, float %w) {
  %f = sitofp i32 %q to float
  %c = fdiv float %s, %w
  %r = fmul float %f, %c
  ret float %r
}

; i32, sitofp, minus a zero point

define float @dequantize.word.zero.multiply.pattern(i32 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w, float "tkb.constant" %z) #0 {
  %f = sitofp i32 %q to float
  %x = fsub reassoc float %f, %z
  %d = fmul reassoc float %x, %s
  %r = fmul reassoc float %d, %w
  ret float %r
}

define float @dequantize.word.zero.multiply.replacement(i32 %q, float %s, float %w, float %z) {
  %f = sitofp i32 %q to float
  %x = fsub float %f, %z
  %c = fmul float %s, %w
  %r = fmul float %x, %c
  ret float %r
}

define float @dequantize.word.zero.divide.pattern(i32 %q, float "tkb.magnitude"="1e-15,1e15" %s, float "tkb.magnitude"="1e-15,1e15" %w, float "tkb.constant" %z) #0 {
  %f = sitofp i32 %q to float
  %x = fsub reassoc float %f, %z
  %d = fmul reassoc float %x, %s
  %r = fdiv reassoc arcp float %d, %w
  ret float %r
}

define float @dequantize.word.zero.divide.replacement(i32 %q, float %s, float %w, float %z) {
  %f = sitofp i32 %q to float
  %x = fsub float %f, %z
  %c = fdiv float %s, %w
  %r = fmul float %x, %c
  ret float %r
}

attributes #0 = { "tkb.rule"="fast" }
