; SPDX-License-Identifier: Apache-2.0
;
; Turns a sum of products of four bytes and four bytes into one instruction of
; sm_61 and later. All rules are exact: a product has 16 bits, and the sum wraps in
; 32 bits in any order. The bytes of a word, lowest first, may be extracted in any
; way that LLVM writes: as elements of a vector (also of a longer one), by shifts,
; masks or truncations. rule.h describes the language.

declare i32 @llvm.nvvm.idp4a.s.s(i32, i32, i32) #1
declare i32 @llvm.nvvm.idp4a.s.u(i32, i32, i32) #1
declare i32 @llvm.nvvm.idp4a.u.s(i32, i32, i32) #1
declare i32 @llvm.nvvm.idp4a.u.u(i32, i32, i32) #1

declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>) #1
declare i32 @llvm.vector.reduce.add.v8i32(<8 x i32>) #1
declare i32 @llvm.vector.reduce.add.v16i32(<16 x i32>) #1
declare i32 @llvm.vector.reduce.add.v32i32(<32 x i32>) #1

; Byte I of a word, sign-extended (signedI) or zero-extended (unsignedI).
declare i32 @signed0(i32)
declare i32 @unsigned0(i32)
declare i32 @signed1(i32)
declare i32 @unsigned1(i32)
declare i32 @signed2(i32)
declare i32 @unsigned2(i32)
declare i32 @signed3(i32)
declare i32 @unsigned3(i32)

define i32 @signed0.either.element(i32 %w) {
  %v = bitcast i32 %w to <4 x i8>
  %b = extractelement <4 x i8> %v, i64 0
  %r = sext i8 %b to i32
  ret i32 %r
}

define i32 @signed0.either.trunc(i32 %w) {
  %b = trunc i32 %w to i8
  %r = sext i8 %b to i32
  ret i32 %r
}

define i32 @unsigned0.either.element(i32 %w) {
  %v = bitcast i32 %w to <4 x i8>
  %b = extractelement <4 x i8> %v, i64 0
  %r = zext i8 %b to i32
  ret i32 %r
}

define i32 @unsigned0.either.trunc(i32 %w) {
  %b = trunc i32 %w to i8
  %r = zext i8 %b to i32
  ret i32 %r
}

define i32 @signed0.either.shift(i32 %w) {
  %s = shl i32 %w, 24
  %r = ashr i32 %s, 24
  ret i32 %r
}

define i32 @unsigned0.either.mask(i32 %w) {
  %r = and i32 %w, 255
  ret i32 %r
}

define i32 @signed1.either.element(i32 %w) {
  %v = bitcast i32 %w to <4 x i8>
  %b = extractelement <4 x i8> %v, i64 1
  %r = sext i8 %b to i32
  ret i32 %r
}

define i32 @signed1.either.trunc(i32 %w) {
  %s = lshr i32 %w, 8
  %b = trunc i32 %s to i8
  %r = sext i8 %b to i32
  ret i32 %r
}

define i32 @unsigned1.either.element(i32 %w) {
  %v = bitcast i32 %w to <4 x i8>
  %b = extractelement <4 x i8> %v, i64 1
  %r = zext i8 %b to i32
  ret i32 %r
}

define i32 @unsigned1.either.trunc(i32 %w) {
  %s = lshr i32 %w, 8
  %b = trunc i32 %s to i8
  %r = zext i8 %b to i32
  ret i32 %r
}

define i32 @signed1.either.shift(i32 %w) {
  %s = shl i32 %w, 16
  %r = ashr i32 %s, 24
  ret i32 %r
}

define i32 @unsigned1.either.mask(i32 %w) {
  %s = lshr i32 %w, 8
  %r = and i32 %s, 255
  ret i32 %r
}

define i32 @signed2.either.element(i32 %w) {
  %v = bitcast i32 %w to <4 x i8>
  %b = extractelement <4 x i8> %v, i64 2
  %r = sext i8 %b to i32
  ret i32 %r
}

define i32 @signed2.either.trunc(i32 %w) {
  %s = lshr i32 %w, 16
  %b = trunc i32 %s to i8
  %r = sext i8 %b to i32
  ret i32 %r
}

define i32 @unsigned2.either.element(i32 %w) {
  %v = bitcast i32 %w to <4 x i8>
  %b = extractelement <4 x i8> %v, i64 2
  %r = zext i8 %b to i32
  ret i32 %r
}

define i32 @unsigned2.either.trunc(i32 %w) {
  %s = lshr i32 %w, 16
  %b = trunc i32 %s to i8
  %r = zext i8 %b to i32
  ret i32 %r
}

define i32 @signed2.either.shift(i32 %w) {
  %s = shl i32 %w, 8
  %r = ashr i32 %s, 24
  ret i32 %r
}

define i32 @unsigned2.either.mask(i32 %w) {
  %s = lshr i32 %w, 16
  %r = and i32 %s, 255
  ret i32 %r
}

define i32 @signed3.either.element(i32 %w) {
  %v = bitcast i32 %w to <4 x i8>
  %b = extractelement <4 x i8> %v, i64 3
  %r = sext i8 %b to i32
  ret i32 %r
}

define i32 @signed3.either.trunc(i32 %w) {
  %s = lshr i32 %w, 24
  %b = trunc i32 %s to i8
  %r = sext i8 %b to i32
  ret i32 %r
}

define i32 @unsigned3.either.element(i32 %w) {
  %v = bitcast i32 %w to <4 x i8>
  %b = extractelement <4 x i8> %v, i64 3
  %r = zext i8 %b to i32
  ret i32 %r
}

define i32 @unsigned3.either.trunc(i32 %w) {
  %s = lshr i32 %w, 24
  %b = trunc i32 %s to i8
  %r = zext i8 %b to i32
  ret i32 %r
}

define i32 @signed3.either.shift(i32 %w) {
  %r = ashr i32 %w, 24
  ret i32 %r
}

define i32 @unsigned3.either.shift(i32 %w) {
  %r = lshr i32 %w, 24
  ret i32 %r
}

; Four products of bytes of two words.

define i32 @dp4a.s.s.pattern(i32 %a, i32 %b, i32 %rest) #0 {
  %a0 = call i32 @signed0(i32 %a)
  %b0 = call i32 @signed0(i32 %b)
  %p0 = mul i32 %a0, %b0
  %a1 = call i32 @signed1(i32 %a)
  %b1 = call i32 @signed1(i32 %b)
  %p1 = mul i32 %a1, %b1
  %a2 = call i32 @signed2(i32 %a)
  %b2 = call i32 @signed2(i32 %b)
  %p2 = mul i32 %a2, %b2
  %a3 = call i32 @signed3(i32 %a)
  %b3 = call i32 @signed3(i32 %b)
  %p3 = mul i32 %a3, %b3
  %s0 = add i32 %rest, %p0
  %s1 = add i32 %s0, %p1
  %s2 = add i32 %s1, %p2
  %s3 = add i32 %s2, %p3
  ret i32 %s3
}

define i32 @dp4a.s.s.replacement(i32 %a, i32 %b, i32 %rest) {
  %r = call i32 @llvm.nvvm.idp4a.s.s(i32 %a, i32 %b, i32 %rest)
  ret i32 %r
}

define i32 @dp4a.s.u.pattern(i32 %a, i32 %b, i32 %rest) #0 {
  %a0 = call i32 @signed0(i32 %a)
  %b0 = call i32 @unsigned0(i32 %b)
  %p0 = mul i32 %a0, %b0
  %a1 = call i32 @signed1(i32 %a)
  %b1 = call i32 @unsigned1(i32 %b)
  %p1 = mul i32 %a1, %b1
  %a2 = call i32 @signed2(i32 %a)
  %b2 = call i32 @unsigned2(i32 %b)
  %p2 = mul i32 %a2, %b2
  %a3 = call i32 @signed3(i32 %a)
  %b3 = call i32 @unsigned3(i32 %b)
  %p3 = mul i32 %a3, %b3
  %s0 = add i32 %rest, %p0
  %s1 = add i32 %s0, %p1
  %s2 = add i32 %s1, %p2
  %s3 = add i32 %s2, %p3
  ret i32 %s3
}

define i32 @dp4a.s.u.replacement(i32 %a, i32 %b, i32 %rest) {
  %r = call i32 @llvm.nvvm.idp4a.s.u(i32 %a, i32 %b, i32 %rest)
  ret i32 %r
}

define i32 @dp4a.u.u.pattern(i32 %a, i32 %b, i32 %rest) #0 {
  %a0 = call i32 @unsigned0(i32 %a)
  %b0 = call i32 @unsigned0(i32 %b)
  %p0 = mul i32 %a0, %b0
  %a1 = call i32 @unsigned1(i32 %a)
  %b1 = call i32 @unsigned1(i32 %b)
  %p1 = mul i32 %a1, %b1
  %a2 = call i32 @unsigned2(i32 %a)
  %b2 = call i32 @unsigned2(i32 %b)
  %p2 = mul i32 %a2, %b2
  %a3 = call i32 @unsigned3(i32 %a)
  %b3 = call i32 @unsigned3(i32 %b)
  %p3 = mul i32 %a3, %b3
  %s0 = add i32 %rest, %p0
  %s1 = add i32 %s0, %p1
  %s2 = add i32 %s1, %p2
  %s3 = add i32 %s2, %p3
  ret i32 %s3
}

define i32 @dp4a.u.u.replacement(i32 %a, i32 %b, i32 %rest) {
  %r = call i32 @llvm.nvvm.idp4a.u.u(i32 %a, i32 %b, i32 %rest)
  ret i32 %r
}

; Vectors of bytes, multiplied and added up.

define i32 @dp4a.s.s.vector4.pattern(<4 x i8> %a, <4 x i8> %b, i32 %rest) #0 {
  %x = sext <4 x i8> %a to <4 x i32>
  %y = sext <4 x i8> %b to <4 x i32>
  %p = mul <4 x i32> %x, %y
  %t = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.s.s.vector4.replacement(<4 x i8> %a, <4 x i8> %b, i32 %rest) {
  %u0 = bitcast <4 x i8> %a to i32
  %v0 = bitcast <4 x i8> %b to i32
  %r0 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u0, i32 %v0, i32 %rest)
  ret i32 %r0
}

define i32 @dp4a.s.u.vector4.pattern(<4 x i8> %a, <4 x i8> %b, i32 %rest) #0 {
  %x = sext <4 x i8> %a to <4 x i32>
  %y = zext <4 x i8> %b to <4 x i32>
  %p = mul <4 x i32> %x, %y
  %t = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.s.u.vector4.replacement(<4 x i8> %a, <4 x i8> %b, i32 %rest) {
  %u0 = bitcast <4 x i8> %a to i32
  %v0 = bitcast <4 x i8> %b to i32
  %r0 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u0, i32 %v0, i32 %rest)
  ret i32 %r0
}

define i32 @dp4a.u.u.vector4.pattern(<4 x i8> %a, <4 x i8> %b, i32 %rest) #0 {
  %x = zext <4 x i8> %a to <4 x i32>
  %y = zext <4 x i8> %b to <4 x i32>
  %p = mul <4 x i32> %x, %y
  %t = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.u.u.vector4.replacement(<4 x i8> %a, <4 x i8> %b, i32 %rest) {
  %u0 = bitcast <4 x i8> %a to i32
  %v0 = bitcast <4 x i8> %b to i32
  %r0 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u0, i32 %v0, i32 %rest)
  ret i32 %r0
}

define i32 @dp4a.s.s.vector8.pattern(<8 x i8> %a, <8 x i8> %b, i32 %rest) #0 {
  %x = sext <8 x i8> %a to <8 x i32>
  %y = sext <8 x i8> %b to <8 x i32>
  %p = mul <8 x i32> %x, %y
  %t = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.s.s.vector8.replacement(<8 x i8> %a, <8 x i8> %b, i32 %rest) {
  %u = bitcast <8 x i8> %a to <2 x i32>
  %v = bitcast <8 x i8> %b to <2 x i32>
  %u0 = extractelement <2 x i32> %u, i64 0
  %v0 = extractelement <2 x i32> %v, i64 0
  %u1 = extractelement <2 x i32> %u, i64 1
  %v1 = extractelement <2 x i32> %v, i64 1
  %r0 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u1, i32 %v1, i32 %r0)
  ret i32 %r1
}

define i32 @dp4a.s.u.vector8.pattern(<8 x i8> %a, <8 x i8> %b, i32 %rest) #0 {
  %x = sext <8 x i8> %a to <8 x i32>
  %y = zext <8 x i8> %b to <8 x i32>
  %p = mul <8 x i32> %x, %y
  %t = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.s.u.vector8.replacement(<8 x i8> %a, <8 x i8> %b, i32 %rest) {
  %u = bitcast <8 x i8> %a to <2 x i32>
  %v = bitcast <8 x i8> %b to <2 x i32>
  %u0 = extractelement <2 x i32> %u, i64 0
  %v0 = extractelement <2 x i32> %v, i64 0
  %u1 = extractelement <2 x i32> %u, i64 1
  %v1 = extractelement <2 x i32> %v, i64 1
  %r0 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u1, i32 %v1, i32 %r0)
  ret i32 %r1
}

define i32 @dp4a.u.u.vector8.pattern(<8 x i8> %a, <8 x i8> %b, i32 %rest) #0 {
  %x = zext <8 x i8> %a to <8 x i32>
  %y = zext <8 x i8> %b to <8 x i32>
  %p = mul <8 x i32> %x, %y
  %t = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.u.u.vector8.replacement(<8 x i8> %a, <8 x i8> %b, i32 %rest) {
  %u = bitcast <8 x i8> %a to <2 x i32>
  %v = bitcast <8 x i8> %b to <2 x i32>
  %u0 = extractelement <2 x i32> %u, i64 0
  %v0 = extractelement <2 x i32> %v, i64 0
  %u1 = extractelement <2 x i32> %u, i64 1
  %v1 = extractelement <2 x i32> %v, i64 1
  %r0 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u1, i32 %v1, i32 %r0)
  ret i32 %r1
}

define i32 @dp4a.s.s.vector16.pattern(<16 x i8> %a, <16 x i8> %b, i32 %rest) #0 {
  %x = sext <16 x i8> %a to <16 x i32>
  %y = sext <16 x i8> %b to <16 x i32>
  %p = mul <16 x i32> %x, %y
  %t = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.s.s.vector16.replacement(<16 x i8> %a, <16 x i8> %b, i32 %rest) {
  %u = bitcast <16 x i8> %a to <4 x i32>
  %v = bitcast <16 x i8> %b to <4 x i32>
  %u0 = extractelement <4 x i32> %u, i64 0
  %v0 = extractelement <4 x i32> %v, i64 0
  %u1 = extractelement <4 x i32> %u, i64 1
  %v1 = extractelement <4 x i32> %v, i64 1
  %u2 = extractelement <4 x i32> %u, i64 2
  %v2 = extractelement <4 x i32> %v, i64 2
  %u3 = extractelement <4 x i32> %u, i64 3
  %v3 = extractelement <4 x i32> %v, i64 3
  %r0 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u1, i32 %v1, i32 %r0)
  %r2 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u2, i32 %v2, i32 %r1)
  %r3 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u3, i32 %v3, i32 %r2)
  ret i32 %r3
}

define i32 @dp4a.s.u.vector16.pattern(<16 x i8> %a, <16 x i8> %b, i32 %rest) #0 {
  %x = sext <16 x i8> %a to <16 x i32>
  %y = zext <16 x i8> %b to <16 x i32>
  %p = mul <16 x i32> %x, %y
  %t = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.s.u.vector16.replacement(<16 x i8> %a, <16 x i8> %b, i32 %rest) {
  %u = bitcast <16 x i8> %a to <4 x i32>
  %v = bitcast <16 x i8> %b to <4 x i32>
  %u0 = extractelement <4 x i32> %u, i64 0
  %v0 = extractelement <4 x i32> %v, i64 0
  %u1 = extractelement <4 x i32> %u, i64 1
  %v1 = extractelement <4 x i32> %v, i64 1
  %u2 = extractelement <4 x i32> %u, i64 2
  %v2 = extractelement <4 x i32> %v, i64 2
  %u3 = extractelement <4 x i32> %u, i64 3
  %v3 = extractelement <4 x i32> %v, i64 3
  %r0 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u1, i32 %v1, i32 %r0)
  %r2 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u2, i32 %v2, i32 %r1)
  %r3 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u3, i32 %v3, i32 %r2)
  ret i32 %r3
}

define i32 @dp4a.u.u.vector16.pattern(<16 x i8> %a, <16 x i8> %b, i32 %rest) #0 {
  %x = zext <16 x i8> %a to <16 x i32>
  %y = zext <16 x i8> %b to <16 x i32>
  %p = mul <16 x i32> %x, %y
  %t = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.u.u.vector16.replacement(<16 x i8> %a, <16 x i8> %b, i32 %rest) {
  %u = bitcast <16 x i8> %a to <4 x i32>
  %v = bitcast <16 x i8> %b to <4 x i32>
  %u0 = extractelement <4 x i32> %u, i64 0
  %v0 = extractelement <4 x i32> %v, i64 0
  %u1 = extractelement <4 x i32> %u, i64 1
  %v1 = extractelement <4 x i32> %v, i64 1
  %u2 = extractelement <4 x i32> %u, i64 2
  %v2 = extractelement <4 x i32> %v, i64 2
  %u3 = extractelement <4 x i32> %u, i64 3
  %v3 = extractelement <4 x i32> %v, i64 3
  %r0 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u1, i32 %v1, i32 %r0)
  %r2 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u2, i32 %v2, i32 %r1)
  %r3 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u3, i32 %v3, i32 %r2)
  ret i32 %r3
}

define i32 @dp4a.s.s.vector32.pattern(<32 x i8> %a, <32 x i8> %b, i32 %rest) #0 {
  %x = sext <32 x i8> %a to <32 x i32>
  %y = sext <32 x i8> %b to <32 x i32>
  %p = mul <32 x i32> %x, %y
  %t = call i32 @llvm.vector.reduce.add.v32i32(<32 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.s.s.vector32.replacement(<32 x i8> %a, <32 x i8> %b, i32 %rest) {
  %u = bitcast <32 x i8> %a to <8 x i32>
  %v = bitcast <32 x i8> %b to <8 x i32>
  %u0 = extractelement <8 x i32> %u, i64 0
  %v0 = extractelement <8 x i32> %v, i64 0
  %u1 = extractelement <8 x i32> %u, i64 1
  %v1 = extractelement <8 x i32> %v, i64 1
  %u2 = extractelement <8 x i32> %u, i64 2
  %v2 = extractelement <8 x i32> %v, i64 2
  %u3 = extractelement <8 x i32> %u, i64 3
  %v3 = extractelement <8 x i32> %v, i64 3
  %u4 = extractelement <8 x i32> %u, i64 4
  %v4 = extractelement <8 x i32> %v, i64 4
  %u5 = extractelement <8 x i32> %u, i64 5
  %v5 = extractelement <8 x i32> %v, i64 5
  %u6 = extractelement <8 x i32> %u, i64 6
  %v6 = extractelement <8 x i32> %v, i64 6
  %u7 = extractelement <8 x i32> %u, i64 7
  %v7 = extractelement <8 x i32> %v, i64 7
  %r0 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u1, i32 %v1, i32 %r0)
  %r2 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u2, i32 %v2, i32 %r1)
  %r3 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u3, i32 %v3, i32 %r2)
  %r4 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u4, i32 %v4, i32 %r3)
  %r5 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u5, i32 %v5, i32 %r4)
  %r6 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u6, i32 %v6, i32 %r5)
  %r7 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u7, i32 %v7, i32 %r6)
  ret i32 %r7
}

define i32 @dp4a.s.u.vector32.pattern(<32 x i8> %a, <32 x i8> %b, i32 %rest) #0 {
  %x = sext <32 x i8> %a to <32 x i32>
  %y = zext <32 x i8> %b to <32 x i32>
  %p = mul <32 x i32> %x, %y
  %t = call i32 @llvm.vector.reduce.add.v32i32(<32 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.s.u.vector32.replacement(<32 x i8> %a, <32 x i8> %b, i32 %rest) {
  %u = bitcast <32 x i8> %a to <8 x i32>
  %v = bitcast <32 x i8> %b to <8 x i32>
  %u0 = extractelement <8 x i32> %u, i64 0
  %v0 = extractelement <8 x i32> %v, i64 0
  %u1 = extractelement <8 x i32> %u, i64 1
  %v1 = extractelement <8 x i32> %v, i64 1
  %u2 = extractelement <8 x i32> %u, i64 2
  %v2 = extractelement <8 x i32> %v, i64 2
  %u3 = extractelement <8 x i32> %u, i64 3
  %v3 = extractelement <8 x i32> %v, i64 3
  %u4 = extractelement <8 x i32> %u, i64 4
  %v4 = extractelement <8 x i32> %v, i64 4
  %u5 = extractelement <8 x i32> %u, i64 5
  %v5 = extractelement <8 x i32> %v, i64 5
  %u6 = extractelement <8 x i32> %u, i64 6
  %v6 = extractelement <8 x i32> %v, i64 6
  %u7 = extractelement <8 x i32> %u, i64 7
  %v7 = extractelement <8 x i32> %v, i64 7
  %r0 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u1, i32 %v1, i32 %r0)
  %r2 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u2, i32 %v2, i32 %r1)
  %r3 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u3, i32 %v3, i32 %r2)
  %r4 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u4, i32 %v4, i32 %r3)
  %r5 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u5, i32 %v5, i32 %r4)
  %r6 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u6, i32 %v6, i32 %r5)
  %r7 = call i32 @llvm.nvvm.idp4a.s.u(i32 %u7, i32 %v7, i32 %r6)
  ret i32 %r7
}

define i32 @dp4a.u.u.vector32.pattern(<32 x i8> %a, <32 x i8> %b, i32 %rest) #0 {
  %x = zext <32 x i8> %a to <32 x i32>
  %y = zext <32 x i8> %b to <32 x i32>
  %p = mul <32 x i32> %x, %y
  %t = call i32 @llvm.vector.reduce.add.v32i32(<32 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.u.u.vector32.replacement(<32 x i8> %a, <32 x i8> %b, i32 %rest) {
  %u = bitcast <32 x i8> %a to <8 x i32>
  %v = bitcast <32 x i8> %b to <8 x i32>
  %u0 = extractelement <8 x i32> %u, i64 0
  %v0 = extractelement <8 x i32> %v, i64 0
  %u1 = extractelement <8 x i32> %u, i64 1
  %v1 = extractelement <8 x i32> %v, i64 1
  %u2 = extractelement <8 x i32> %u, i64 2
  %v2 = extractelement <8 x i32> %v, i64 2
  %u3 = extractelement <8 x i32> %u, i64 3
  %v3 = extractelement <8 x i32> %v, i64 3
  %u4 = extractelement <8 x i32> %u, i64 4
  %v4 = extractelement <8 x i32> %v, i64 4
  %u5 = extractelement <8 x i32> %u, i64 5
  %v5 = extractelement <8 x i32> %v, i64 5
  %u6 = extractelement <8 x i32> %u, i64 6
  %v6 = extractelement <8 x i32> %v, i64 6
  %u7 = extractelement <8 x i32> %u, i64 7
  %v7 = extractelement <8 x i32> %v, i64 7
  %r0 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u1, i32 %v1, i32 %r0)
  %r2 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u2, i32 %v2, i32 %r1)
  %r3 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u3, i32 %v3, i32 %r2)
  %r4 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u4, i32 %v4, i32 %r3)
  %r5 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u5, i32 %v5, i32 %r4)
  %r6 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u6, i32 %v6, i32 %r5)
  %r7 = call i32 @llvm.nvvm.idp4a.u.u(i32 %u7, i32 %v7, i32 %r6)
  ret i32 %r7
}

; Bytes of a word times constant bytes: the constants become a word.

define i32 @dp4a.s.s.constants.pattern(i32 %a, i32 "tkb.constant" "tkb.range"="-128,127" %c0, i32 "tkb.constant" "tkb.range"="-128,127" %c1, i32 "tkb.constant" "tkb.range"="-128,127" %c2, i32 "tkb.constant" "tkb.range"="-128,127" %c3, i32 %rest) #0 {
  %a0 = call i32 @signed0(i32 %a)
  %p0 = mul i32 %a0, %c0
  %a1 = call i32 @signed1(i32 %a)
  %p1 = mul i32 %a1, %c1
  %a2 = call i32 @signed2(i32 %a)
  %p2 = mul i32 %a2, %c2
  %a3 = call i32 @signed3(i32 %a)
  %p3 = mul i32 %a3, %c3
  %s0 = add i32 %rest, %p0
  %s1 = add i32 %s0, %p1
  %s2 = add i32 %s1, %p2
  %s3 = add i32 %s2, %p3
  ret i32 %s3
}

define i32 @dp4a.s.s.constants.replacement(i32 %a, i32 %c0, i32 %c1, i32 %c2, i32 %c3, i32 %rest) {
  %b0 = and i32 %c0, 255
  %m1 = and i32 %c1, 255
  %t1 = shl i32 %m1, 8
  %b1 = or i32 %b0, %t1
  %m2 = and i32 %c2, 255
  %t2 = shl i32 %m2, 16
  %b2 = or i32 %b1, %t2
  %m3 = and i32 %c3, 255
  %t3 = shl i32 %m3, 24
  %b3 = or i32 %b2, %t3
  %r = call i32 @llvm.nvvm.idp4a.s.s(i32 %a, i32 %b3, i32 %rest)
  ret i32 %r
}

define i32 @dp4a.u.s.constants.pattern(i32 %a, i32 "tkb.constant" "tkb.range"="-128,127" %c0, i32 "tkb.constant" "tkb.range"="-128,127" %c1, i32 "tkb.constant" "tkb.range"="-128,127" %c2, i32 "tkb.constant" "tkb.range"="-128,127" %c3, i32 %rest) #0 {
  %a0 = call i32 @unsigned0(i32 %a)
  %p0 = mul i32 %a0, %c0
  %a1 = call i32 @unsigned1(i32 %a)
  %p1 = mul i32 %a1, %c1
  %a2 = call i32 @unsigned2(i32 %a)
  %p2 = mul i32 %a2, %c2
  %a3 = call i32 @unsigned3(i32 %a)
  %p3 = mul i32 %a3, %c3
  %s0 = add i32 %rest, %p0
  %s1 = add i32 %s0, %p1
  %s2 = add i32 %s1, %p2
  %s3 = add i32 %s2, %p3
  ret i32 %s3
}

define i32 @dp4a.u.s.constants.replacement(i32 %a, i32 %c0, i32 %c1, i32 %c2, i32 %c3, i32 %rest) {
  %b0 = and i32 %c0, 255
  %m1 = and i32 %c1, 255
  %t1 = shl i32 %m1, 8
  %b1 = or i32 %b0, %t1
  %m2 = and i32 %c2, 255
  %t2 = shl i32 %m2, 16
  %b2 = or i32 %b1, %t2
  %m3 = and i32 %c3, 255
  %t3 = shl i32 %m3, 24
  %b3 = or i32 %b2, %t3
  %r = call i32 @llvm.nvvm.idp4a.u.s(i32 %a, i32 %b3, i32 %rest)
  ret i32 %r
}

; Vectors of bytes times constant bytes.

define i32 @dp4a.s.s.constants4.pattern(<4 x i8> %a, <4 x i32> "tkb.constant" "tkb.range"="-128,127" %c, i32 %rest) #0 {
  %x = sext <4 x i8> %a to <4 x i32>
  %p = mul <4 x i32> %x, %c
  %t = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.s.s.constants4.replacement(<4 x i8> %a, <4 x i32> %c, i32 %rest) {
  %b = trunc <4 x i32> %c to <4 x i8>
  %u0 = bitcast <4 x i8> %a to i32
  %v0 = bitcast <4 x i8> %b to i32
  %r0 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u0, i32 %v0, i32 %rest)
  ret i32 %r0
}

define i32 @dp4a.u.s.constants4.pattern(<4 x i8> %a, <4 x i32> "tkb.constant" "tkb.range"="-128,127" %c, i32 %rest) #0 {
  %x = zext <4 x i8> %a to <4 x i32>
  %p = mul <4 x i32> %x, %c
  %t = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.u.s.constants4.replacement(<4 x i8> %a, <4 x i32> %c, i32 %rest) {
  %b = trunc <4 x i32> %c to <4 x i8>
  %u0 = bitcast <4 x i8> %a to i32
  %v0 = bitcast <4 x i8> %b to i32
  %r0 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u0, i32 %v0, i32 %rest)
  ret i32 %r0
}

define i32 @dp4a.s.s.constants8.pattern(<8 x i8> %a, <8 x i32> "tkb.constant" "tkb.range"="-128,127" %c, i32 %rest) #0 {
  %x = sext <8 x i8> %a to <8 x i32>
  %p = mul <8 x i32> %x, %c
  %t = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.s.s.constants8.replacement(<8 x i8> %a, <8 x i32> %c, i32 %rest) {
  %b = trunc <8 x i32> %c to <8 x i8>
  %u = bitcast <8 x i8> %a to <2 x i32>
  %v = bitcast <8 x i8> %b to <2 x i32>
  %u0 = extractelement <2 x i32> %u, i64 0
  %v0 = extractelement <2 x i32> %v, i64 0
  %u1 = extractelement <2 x i32> %u, i64 1
  %v1 = extractelement <2 x i32> %v, i64 1
  %r0 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u1, i32 %v1, i32 %r0)
  ret i32 %r1
}

define i32 @dp4a.u.s.constants8.pattern(<8 x i8> %a, <8 x i32> "tkb.constant" "tkb.range"="-128,127" %c, i32 %rest) #0 {
  %x = zext <8 x i8> %a to <8 x i32>
  %p = mul <8 x i32> %x, %c
  %t = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.u.s.constants8.replacement(<8 x i8> %a, <8 x i32> %c, i32 %rest) {
  %b = trunc <8 x i32> %c to <8 x i8>
  %u = bitcast <8 x i8> %a to <2 x i32>
  %v = bitcast <8 x i8> %b to <2 x i32>
  %u0 = extractelement <2 x i32> %u, i64 0
  %v0 = extractelement <2 x i32> %v, i64 0
  %u1 = extractelement <2 x i32> %u, i64 1
  %v1 = extractelement <2 x i32> %v, i64 1
  %r0 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u1, i32 %v1, i32 %r0)
  ret i32 %r1
}

define i32 @dp4a.s.s.constants16.pattern(<16 x i8> %a, <16 x i32> "tkb.constant" "tkb.range"="-128,127" %c, i32 %rest) #0 {
  %x = sext <16 x i8> %a to <16 x i32>
  %p = mul <16 x i32> %x, %c
  %t = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.s.s.constants16.replacement(<16 x i8> %a, <16 x i32> %c, i32 %rest) {
  %b = trunc <16 x i32> %c to <16 x i8>
  %u = bitcast <16 x i8> %a to <4 x i32>
  %v = bitcast <16 x i8> %b to <4 x i32>
  %u0 = extractelement <4 x i32> %u, i64 0
  %v0 = extractelement <4 x i32> %v, i64 0
  %u1 = extractelement <4 x i32> %u, i64 1
  %v1 = extractelement <4 x i32> %v, i64 1
  %u2 = extractelement <4 x i32> %u, i64 2
  %v2 = extractelement <4 x i32> %v, i64 2
  %u3 = extractelement <4 x i32> %u, i64 3
  %v3 = extractelement <4 x i32> %v, i64 3
  %r0 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u1, i32 %v1, i32 %r0)
  %r2 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u2, i32 %v2, i32 %r1)
  %r3 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u3, i32 %v3, i32 %r2)
  ret i32 %r3
}

define i32 @dp4a.u.s.constants16.pattern(<16 x i8> %a, <16 x i32> "tkb.constant" "tkb.range"="-128,127" %c, i32 %rest) #0 {
  %x = zext <16 x i8> %a to <16 x i32>
  %p = mul <16 x i32> %x, %c
  %t = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.u.s.constants16.replacement(<16 x i8> %a, <16 x i32> %c, i32 %rest) {
  %b = trunc <16 x i32> %c to <16 x i8>
  %u = bitcast <16 x i8> %a to <4 x i32>
  %v = bitcast <16 x i8> %b to <4 x i32>
  %u0 = extractelement <4 x i32> %u, i64 0
  %v0 = extractelement <4 x i32> %v, i64 0
  %u1 = extractelement <4 x i32> %u, i64 1
  %v1 = extractelement <4 x i32> %v, i64 1
  %u2 = extractelement <4 x i32> %u, i64 2
  %v2 = extractelement <4 x i32> %v, i64 2
  %u3 = extractelement <4 x i32> %u, i64 3
  %v3 = extractelement <4 x i32> %v, i64 3
  %r0 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u1, i32 %v1, i32 %r0)
  %r2 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u2, i32 %v2, i32 %r1)
  %r3 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u3, i32 %v3, i32 %r2)
  ret i32 %r3
}

define i32 @dp4a.s.s.constants32.pattern(<32 x i8> %a, <32 x i32> "tkb.constant" "tkb.range"="-128,127" %c, i32 %rest) #0 {
  %x = sext <32 x i8> %a to <32 x i32>
  %p = mul <32 x i32> %x, %c
  %t = call i32 @llvm.vector.reduce.add.v32i32(<32 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.s.s.constants32.replacement(<32 x i8> %a, <32 x i32> %c, i32 %rest) {
  %b = trunc <32 x i32> %c to <32 x i8>
  %u = bitcast <32 x i8> %a to <8 x i32>
  %v = bitcast <32 x i8> %b to <8 x i32>
  %u0 = extractelement <8 x i32> %u, i64 0
  %v0 = extractelement <8 x i32> %v, i64 0
  %u1 = extractelement <8 x i32> %u, i64 1
  %v1 = extractelement <8 x i32> %v, i64 1
  %u2 = extractelement <8 x i32> %u, i64 2
  %v2 = extractelement <8 x i32> %v, i64 2
  %u3 = extractelement <8 x i32> %u, i64 3
  %v3 = extractelement <8 x i32> %v, i64 3
  %u4 = extractelement <8 x i32> %u, i64 4
  %v4 = extractelement <8 x i32> %v, i64 4
  %u5 = extractelement <8 x i32> %u, i64 5
  %v5 = extractelement <8 x i32> %v, i64 5
  %u6 = extractelement <8 x i32> %u, i64 6
  %v6 = extractelement <8 x i32> %v, i64 6
  %u7 = extractelement <8 x i32> %u, i64 7
  %v7 = extractelement <8 x i32> %v, i64 7
  %r0 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u1, i32 %v1, i32 %r0)
  %r2 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u2, i32 %v2, i32 %r1)
  %r3 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u3, i32 %v3, i32 %r2)
  %r4 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u4, i32 %v4, i32 %r3)
  %r5 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u5, i32 %v5, i32 %r4)
  %r6 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u6, i32 %v6, i32 %r5)
  %r7 = call i32 @llvm.nvvm.idp4a.s.s(i32 %u7, i32 %v7, i32 %r6)
  ret i32 %r7
}

define i32 @dp4a.u.s.constants32.pattern(<32 x i8> %a, <32 x i32> "tkb.constant" "tkb.range"="-128,127" %c, i32 %rest) #0 {
  %x = zext <32 x i8> %a to <32 x i32>
  %p = mul <32 x i32> %x, %c
  %t = call i32 @llvm.vector.reduce.add.v32i32(<32 x i32> %p)
  %s = add i32 %rest, %t
  ret i32 %s
}

define i32 @dp4a.u.s.constants32.replacement(<32 x i8> %a, <32 x i32> %c, i32 %rest) {
  %b = trunc <32 x i32> %c to <32 x i8>
  %u = bitcast <32 x i8> %a to <8 x i32>
  %v = bitcast <32 x i8> %b to <8 x i32>
  %u0 = extractelement <8 x i32> %u, i64 0
  %v0 = extractelement <8 x i32> %v, i64 0
  %u1 = extractelement <8 x i32> %u, i64 1
  %v1 = extractelement <8 x i32> %v, i64 1
  %u2 = extractelement <8 x i32> %u, i64 2
  %v2 = extractelement <8 x i32> %v, i64 2
  %u3 = extractelement <8 x i32> %u, i64 3
  %v3 = extractelement <8 x i32> %v, i64 3
  %u4 = extractelement <8 x i32> %u, i64 4
  %v4 = extractelement <8 x i32> %v, i64 4
  %u5 = extractelement <8 x i32> %u, i64 5
  %v5 = extractelement <8 x i32> %v, i64 5
  %u6 = extractelement <8 x i32> %u, i64 6
  %v6 = extractelement <8 x i32> %v, i64 6
  %u7 = extractelement <8 x i32> %u, i64 7
  %v7 = extractelement <8 x i32> %v, i64 7
  %r0 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u0, i32 %v0, i32 %rest)
  %r1 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u1, i32 %v1, i32 %r0)
  %r2 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u2, i32 %v2, i32 %r1)
  %r3 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u3, i32 %v3, i32 %r2)
  %r4 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u4, i32 %v4, i32 %r3)
  %r5 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u5, i32 %v5, i32 %r4)
  %r6 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u6, i32 %v6, i32 %r5)
  %r7 = call i32 @llvm.nvvm.idp4a.u.s(i32 %u7, i32 %v7, i32 %r6)
  ret i32 %r7
}

attributes #0 = { "tkb.rule"="exact" "tkb.arch"=">=61" "tkb.terms"="any" }
attributes #1 = { nounwind willreturn memory(none) }
