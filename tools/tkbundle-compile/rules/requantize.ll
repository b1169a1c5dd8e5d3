; SPDX-License-Identifier: Apache-2.0
;
; Quantizing after dequantizing with the same scale gives the original value.
; rule.h describes the language.
;
; Proof that the rules without `fast` are exact: Let q be an integer of at most
; 2^20, and s a constant with a magnitude from 1.2e-38 to 1e30. q converts to a
; float without rounding. q * s does not overflow. It is not denormal, since s is
; not, so it is not flushed. So its error is a factor of at most 1 + 2^-24. The
; division, correctly rounded or by div.full, which is off by at most 2 ulp, adds
; 2^-22. The quotient differs from q by less than 2^20 * (2^-22 + 2^-24) < 0.32: the
; nearest integer is q, whichever way halves are rounded. With a reciprocal t
; instead of 1/s, s * t differs from 1 by at most 2^-12, q is at most 2^10, and the
; product differs from q by at most 0.26. 0 stays +0, because s and t have the same
; sign. There is no infinity and no NaN: an integer cannot be one, and the range of
; constants excludes them. An unknown scale may be 0, an infinity or NaN: only a
; `fast` rule may ignore that.
;
; Zero points: q is the difference (value - zero), wherever it is computed.

declare float @llvm.rint.f32(float) #2
declare float @llvm.nearbyint.f32(float) #2
declare float @llvm.roundeven.f32(float) #2
declare float @llvm.round.f32(float) #2
declare float @llvm.nvvm.round.f(float) #2
declare float @llvm.nvvm.round.ftz.f(float) #2
declare float @__nv_rintf(float) #2
declare float @__nv_nearbyintf(float) #2
declare float @llvm.nvvm.div.full(float, float) #2
declare float @llvm.nvvm.div.full.ftz(float, float) #2
declare float @llvm.minnum.f32(float, float) #2
declare float @llvm.maxnum.f32(float, float) #2
declare float @llvm.minimum.f32(float, float) #2
declare float @llvm.maximum.f32(float, float) #2
declare float @llvm.nvvm.fmin.f(float, float) #2
declare float @llvm.nvvm.fmax.f(float, float) #2
declare i8 @llvm.smax.i8(i8, i8) #2
declare <4 x float> @llvm.minnum.v4f32(<4 x float>, <4 x float>) #2
declare <4 x float> @llvm.maxnum.v4f32(<4 x float>, <4 x float>) #2

; The nearest integer.
declare float @nearest(float)

define float @nearest.either.rint(float %x) {
  %r = call float @llvm.rint.f32(float %x)
  ret float %r
}

define float @nearest.either.nearbyint(float %x) {
  %r = call float @llvm.nearbyint.f32(float %x)
  ret float %r
}

define float @nearest.either.roundeven(float %x) {
  %r = call float @llvm.roundeven.f32(float %x)
  ret float %r
}

define float @nearest.either.round(float %x) {
  %r = call float @llvm.round.f32(float %x)
  ret float %r
}

define float @nearest.either.nvvm(float %x) {
  %r = call float @llvm.nvvm.round.f(float %x)
  ret float %r
}

define float @nearest.either.nvvm.ftz(float %x) {
  %r = call float @llvm.nvvm.round.ftz.f(float %x)
  ret float %r
}

define float @nearest.either.libdevice(float %x) {
  %r = call float @__nv_rintf(float %x)
  ret float %r
}

define float @nearest.either.libdevice.nearby(float %x) {
  %r = call float @__nv_nearbyintf(float %x)
  ret float %r
}

declare float @quotient(float, float)

define float @quotient.either.fdiv(float %x, float %y) {
  %r = fdiv float %x, %y
  ret float %r
}

define float @quotient.either.full(float %x, float %y) {
  %r = call float @llvm.nvvm.div.full(float %x, float %y)
  ret float %r
}

define float @quotient.either.full.ftz(float %x, float %y) {
  %r = call float @llvm.nvvm.div.full.ftz(float %x, float %y)
  ret float %r
}

declare float @least(float, float)
declare float @greatest(float, float)

define float @least.either.num(float %x, float %y) {
  %r = call float @llvm.minnum.f32(float %x, float %y)
  ret float %r
}

define float @greatest.either.num(float %x, float %y) {
  %r = call float @llvm.maxnum.f32(float %x, float %y)
  ret float %r
}

define float @least.either.imum(float %x, float %y) {
  %r = call float @llvm.minimum.f32(float %x, float %y)
  ret float %r
}

define float @greatest.either.imum(float %x, float %y) {
  %r = call float @llvm.maximum.f32(float %x, float %y)
  ret float %r
}

define float @least.either.nvvm(float %x, float %y) {
  %r = call float @llvm.nvvm.fmin.f(float %x, float %y)
  ret float %r
}

define float @greatest.either.nvvm(float %x, float %y) {
  %r = call float @llvm.nvvm.fmax.f(float %x, float %y)
  ret float %r
}

; Bytes, with a sign.

define float @requantize.signed.pattern(i8 %q, float "tkb.magnitude"="1.2e-38,1e30" %s) #0 {
  %f = sitofp i8 %q to float
  %d = fmul float %f, %s
  %e = call float @quotient(float %d, float %s)
  %r = call float @nearest(float %e)
  ret float %r
}

define float @requantize.signed.replacement(i8 %q, float %s) {
  %f = sitofp i8 %q to float
  ret float %f
}

; Bytes, without a sign.

define float @requantize.unsigned.pattern(i8 %q, float "tkb.magnitude"="1.2e-38,1e30" %s) #0 {
  %f = uitofp i8 %q to float
  %d = fmul float %f, %s
  %e = call float @quotient(float %d, float %s)
  %r = call float @nearest(float %e)
  ret float %r
}

define float @requantize.unsigned.replacement(i8 %q, float %s) {
  %f = uitofp i8 %q to float
  ret float %f
}

; Words that are known to be small, with a sign.

define float @requantize.word.pattern(i32 "tkb.range"="-1048576,1048576" %q, float "tkb.magnitude"="1.2e-38,1e30" %s) #0 {
  %f = sitofp i32 %q to float
  %d = fmul float %f, %s
  %e = call float @quotient(float %d, float %s)
  %r = call float @nearest(float %e)
  ret float %r
}

define float @requantize.word.replacement(i32 %q, float %s) {
  %f = sitofp i32 %q to float
  ret float %f
}

define float @requantize.signed.reciprocal.pattern(i8 %q, float "tkb.magnitude"="1.2e-38,1e30" %s, float "tkb.magnitude"="1e-30,1e37" "tkb.reciprocal-of"="1" %t) #0 {
  %f = sitofp i8 %q to float
  %d = fmul float %f, %s
  %e = fmul float %d, %t
  %r = call float @nearest(float %e)
  ret float %r
}

define float @requantize.signed.reciprocal.replacement(i8 %q, float %s, float %t) {
  %f = sitofp i8 %q to float
  ret float %f
}

define float @requantize.unsigned.reciprocal.pattern(i8 %q, float "tkb.magnitude"="1.2e-38,1e30" %s, float "tkb.magnitude"="1e-30,1e37" "tkb.reciprocal-of"="1" %t) #0 {
  %f = uitofp i8 %q to float
  %d = fmul float %f, %s
  %e = fmul float %d, %t
  %r = call float @nearest(float %e)
  ret float %r
}

define float @requantize.unsigned.reciprocal.replacement(i8 %q, float %s, float %t) {
  %f = uitofp i8 %q to float
  ret float %f
}

; Words minus a zero point, with a reciprocal.

define float @requantize.word.reciprocal.pattern(i32 "tkb.range"="-1024,1024" %q, float "tkb.magnitude"="1.2e-38,1e30" %s, float "tkb.magnitude"="1e-30,1e37" "tkb.reciprocal-of"="1" %t) #0 {
  %f = sitofp i32 %q to float
  %d = fmul float %f, %s
  %e = fmul float %d, %t
  %r = call float @nearest(float %e)
  ret float %r
}

define float @requantize.word.reciprocal.replacement(i32 %q, float %s, float %t) {
  %f = sitofp i32 %q to float
  ret float %f
}

; Clamping a byte to the ends of its type does nothing; clamping to -127 and 127
; only changes -128.

define i8 @requantize.signed.ends.greatest.least.pattern(i8 %q) #0 {
  %f = sitofp i8 %q to float
  %a = call float @greatest(float %f, float -128.0)
  %b = call float @least(float %a, float 127.0)
  %r = fptosi float %b to i8
  ret i8 %r
}

define i8 @requantize.signed.ends.greatest.least.replacement(i8 %q) {
  ret i8 %q
}

define i8 @requantize.signed.ends.least.greatest.pattern(i8 %q) #0 {
  %f = sitofp i8 %q to float
  %a = call float @least(float %f, float 127.0)
  %b = call float @greatest(float %a, float -128.0)
  %r = fptosi float %b to i8
  ret i8 %r
}

define i8 @requantize.signed.ends.least.greatest.replacement(i8 %q) {
  ret i8 %q
}

define i8 @requantize.signed.even.greatest.least.pattern(i8 %q) #0 {
  %f = sitofp i8 %q to float
  %a = call float @greatest(float %f, float -127.0)
  %b = call float @least(float %a, float 127.0)
  %r = fptosi float %b to i8
  ret i8 %r
}

define i8 @requantize.signed.even.greatest.least.replacement(i8 %q) {
  %r = call i8 @llvm.smax.i8(i8 %q, i8 -127)
  ret i8 %r
}

define i8 @requantize.signed.even.least.greatest.pattern(i8 %q) #0 {
  %f = sitofp i8 %q to float
  %a = call float @least(float %f, float 127.0)
  %b = call float @greatest(float %a, float -127.0)
  %r = fptosi float %b to i8
  ret i8 %r
}

define i8 @requantize.signed.even.least.greatest.replacement(i8 %q) {
  %r = call i8 @llvm.smax.i8(i8 %q, i8 -127)
  ret i8 %r
}

define i8 @requantize.unsigned.ends.greatest.least.pattern(i8 %q) #0 {
  %f = uitofp i8 %q to float
  %a = call float @greatest(float %f, float 0.0)
  %b = call float @least(float %a, float 255.0)
  %r = fptoui float %b to i8
  ret i8 %r
}

define i8 @requantize.unsigned.ends.greatest.least.replacement(i8 %q) {
  ret i8 %q
}

define i8 @requantize.unsigned.ends.least.greatest.pattern(i8 %q) #0 {
  %f = uitofp i8 %q to float
  %a = call float @least(float %f, float 255.0)
  %b = call float @greatest(float %a, float 0.0)
  %r = fptoui float %b to i8
  ret i8 %r
}

define i8 @requantize.unsigned.ends.least.greatest.replacement(i8 %q) {
  ret i8 %q
}

; The same for four bytes at once: a vector, or floats that are assembled into one.

define <4 x i8> @requantize.vector4.pattern(<4 x i8> %q) #0 {
  %f = sitofp <4 x i8> %q to <4 x float>
  %a = call <4 x float> @llvm.maxnum.v4f32(<4 x float> %f, <4 x float> splat (float -128.0))
  %b = call <4 x float> @llvm.minnum.v4f32(<4 x float> %a, <4 x float> splat (float 127.0))
  %r = fptosi <4 x float> %b to <4 x i8>
  ret <4 x i8> %r
}

define <4 x i8> @requantize.vector4.replacement(<4 x i8> %q) {
  ret <4 x i8> %q
}

define <4 x i8> @requantize.elements4.pattern(i8 %x, i8 %y, i8 %z, i8 %t) #0 {
  %f0 = sitofp i8 %x to float
  %f1 = sitofp i8 %y to float
  %f2 = sitofp i8 %z to float
  %f3 = sitofp i8 %t to float
  %v0 = insertelement <4 x float> poison, float %f0, i64 0
  %v1 = insertelement <4 x float> %v0, float %f1, i64 1
  %v2 = insertelement <4 x float> %v1, float %f2, i64 2
  %v3 = insertelement <4 x float> %v2, float %f3, i64 3
  %a = call <4 x float> @llvm.maxnum.v4f32(<4 x float> %v3, <4 x float> splat (float -128.0))
  %b = call <4 x float> @llvm.minnum.v4f32(<4 x float> %a, <4 x float> splat (float 127.0))
  %r = fptosi <4 x float> %b to <4 x i8>
  ret <4 x i8> %r
}

define <4 x i8> @requantize.elements4.replacement(i8 %x, i8 %y, i8 %z, i8 %t) {
  %v0 = insertelement <4 x i8> poison, i8 %x, i64 0
  %v1 = insertelement <4 x i8> %v0, i8 %y, i64 1
  %v2 = insertelement <4 x i8> %v1, i8 %z, i64 2
  %v3 = insertelement <4 x i8> %v2, i8 %t, i64 3
  ret <4 x i8> %v3
}

; Words that LLVM assembles as floats and converts back to words.

define <4 x i32> @requantize.words4.pattern(i32 "tkb.range"="-1048576,1048576" %x, i32 "tkb.range"="-1048576,1048576" %y, i32 "tkb.range"="-1048576,1048576" %z, i32 "tkb.range"="-1048576,1048576" %t) #0 {
  %f0 = sitofp i32 %x to float
  %f1 = sitofp i32 %y to float
  %f2 = sitofp i32 %z to float
  %f3 = sitofp i32 %t to float
  %v0 = insertelement <4 x float> poison, float %f0, i64 0
  %v1 = insertelement <4 x float> %v0, float %f1, i64 1
  %v2 = insertelement <4 x float> %v1, float %f2, i64 2
  %v3 = insertelement <4 x float> %v2, float %f3, i64 3
  %r = fptosi <4 x float> %v3 to <4 x i32>
  ret <4 x i32> %r
}

define <4 x i32> @requantize.words4.replacement(i32 %x, i32 %y, i32 %z, i32 %t) {
  %v0 = insertelement <4 x i32> poison, i32 %x, i64 0
  %v1 = insertelement <4 x i32> %v0, i32 %y, i64 1
  %v2 = insertelement <4 x i32> %v1, i32 %z, i64 2
  %v3 = insertelement <4 x i32> %v2, i32 %t, i64 3
  ret <4 x i32> %v3
}

; Any scale: flags in the code promise that it is not 0, an infinity or NaN.

define float @requantize.signed.any.pattern(i8 %q, float %s) #1 {
  %f = sitofp i8 %q to float
  %d = fmul reassoc nnan ninf float %f, %s
  %e = fdiv reassoc nnan ninf float %d, %s
  %r = call float @nearest(float %e)
  ret float %r
}

define float @requantize.signed.any.replacement(i8 %q, float %s) {
  %f = sitofp i8 %q to float
  ret float %f
}

define float @requantize.unsigned.any.pattern(i8 %q, float %s) #1 {
  %f = uitofp i8 %q to float
  %d = fmul reassoc nnan ninf float %f, %s
  %e = fdiv reassoc nnan ninf float %d, %s
  %r = call float @nearest(float %e)
  ret float %r
}

define float @requantize.unsigned.any.replacement(i8 %q, float %s) {
  %f = uitofp i8 %q to float
  ret float %f
}

attributes #0 = { "tkb.rule"="exact" }
attributes #1 = { "tkb.rule"="fast" }
attributes #2 = { nounwind willreturn memory(none) }
