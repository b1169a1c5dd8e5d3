declare i32 @llvm.nvvm.idp4a.s.s(i32, i32, i32)
declare i32 @llvm.nvvm.idp4a.s.u(i32, i32, i32)
declare i32 @llvm.nvvm.idp4a.u.s(i32, i32, i32)
declare i32 @llvm.nvvm.idp4a.u.u(i32, i32, i32)
declare i32 @llvm.vector.reduce.add.v2i32(<2 x i32>)
declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)
declare i32 @llvm.vector.reduce.add.v8i32(<8 x i32>)
declare i32 @llvm.vector.reduce.add.v16i32(<16 x i32>)
define i32 @vectors(<4 x i8> %a, <4 x i8> %b, i32 %c) {
  %xt0 = extractelement <4 x i8> %a, i64 0
  %x0 = sext i8 %xt0 to i32
  %xt1 = extractelement <4 x i8> %a, i64 1
  %x1 = sext i8 %xt1 to i32
  %xt2 = extractelement <4 x i8> %a, i64 2
  %x2 = sext i8 %xt2 to i32
  %xt3 = extractelement <4 x i8> %a, i64 3
  %x3 = sext i8 %xt3 to i32
  %yt0 = extractelement <4 x i8> %b, i64 0
  %y0 = sext i8 %yt0 to i32
  %yt1 = extractelement <4 x i8> %b, i64 1
  %y1 = sext i8 %yt1 to i32
  %yt2 = extractelement <4 x i8> %b, i64 2
  %y2 = sext i8 %yt2 to i32
  %yt3 = extractelement <4 x i8> %b, i64 3
  %y3 = sext i8 %yt3 to i32
  %p0 = mul nsw i32 %x0, %y0
  %m0 = add nsw i32 %p0, %c
  %p1 = mul nsw i32 %x1, %y1
  %m1 = add nsw i32 %p1, %m0
  %p2 = mul nsw i32 %x2, %y2
  %m2 = add nsw i32 %p2, %m1
  %p3 = mul nsw i32 %x3, %y3
  %m3 = add nsw i32 %p3, %m2
  ret i32 %m3
}
define i32 @vectors.after(<4 x i8> %a, <4 x i8> %b, i32 %c) {
  %1 = freeze <4 x i8> %a
  %2 = bitcast <4 x i8> %1 to i32
  %3 = freeze <4 x i8> %b
  %4 = bitcast <4 x i8> %3 to i32
  %5 = call i32 @llvm.nvvm.idp4a.s.s(i32 %2, i32 %4, i32 %c)
  ret i32 %5
}
define i32 @shifts(i32 %a, i32 %b, i32 %c) {
  %xs0 = shl i32 %a, 24
  %x0 = ashr exact i32 %xs0, 24
  %xs1 = shl i32 %a, 16
  %x1 = ashr exact i32 %xs1, 24
  %xs2 = shl i32 %a, 8
  %x2 = ashr exact i32 %xs2, 24
  %x3 = ashr i32 %a, 24
  %ys0 = shl i32 %b, 24
  %y0 = ashr exact i32 %ys0, 24
  %ys1 = shl i32 %b, 16
  %y1 = ashr exact i32 %ys1, 24
  %ys2 = shl i32 %b, 8
  %y2 = ashr exact i32 %ys2, 24
  %y3 = ashr i32 %b, 24
  %p0 = mul nsw i32 %x2, %y2
  %m0 = add nsw i32 %p0, %c
  %p1 = mul nsw i32 %x0, %y0
  %m1 = add nsw i32 %p1, %m0
  %p2 = mul nsw i32 %x3, %y3
  %m2 = add nsw i32 %p2, %m1
  %p3 = mul nsw i32 %x1, %y1
  %m3 = add nsw i32 %p3, %m2
  ret i32 %m3
}
define i32 @shifts.after(i32 %a, i32 %b, i32 %c) {
  %1 = call i32 @llvm.nvvm.idp4a.s.s(i32 %a, i32 %b, i32 %c)
  ret i32 %1
}
define i32 @truncations(i32 %a, <4 x i8> %b, i32 %c) {
  %xt0 = trunc i32 %a to i8
  %x0 = sext i8 %xt0 to i32
  %xs1 = lshr i32 %a, 8
  %xt1 = trunc i32 %xs1 to i8
  %x1 = sext i8 %xt1 to i32
  %xs2 = lshr i32 %a, 16
  %xt2 = trunc i32 %xs2 to i8
  %x2 = sext i8 %xt2 to i32
  %xs3 = lshr i32 %a, 24
  %xt3 = trunc i32 %xs3 to i8
  %x3 = sext i8 %xt3 to i32
  %yt0 = extractelement <4 x i8> %b, i64 0
  %y0 = sext i8 %yt0 to i32
  %yt1 = extractelement <4 x i8> %b, i64 1
  %y1 = sext i8 %yt1 to i32
  %yt2 = extractelement <4 x i8> %b, i64 2
  %y2 = sext i8 %yt2 to i32
  %yt3 = extractelement <4 x i8> %b, i64 3
  %y3 = sext i8 %yt3 to i32
  %p0 = mul nsw i32 %x0, %y0
  %m0 = add nsw i32 %p0, %c
  %p1 = mul nsw i32 %x1, %y1
  %m1 = add nsw i32 %p1, %m0
  %p2 = mul nsw i32 %x2, %y2
  %m2 = add nsw i32 %p2, %m1
  %p3 = mul nsw i32 %x3, %y3
  %m3 = add nsw i32 %p3, %m2
  ret i32 %m3
}
define i32 @truncations.after(i32 %a, <4 x i8> %b, i32 %c) {
  %1 = freeze <4 x i8> %b
  %2 = bitcast <4 x i8> %1 to i32
  %3 = call i32 @llvm.nvvm.idp4a.s.s(i32 %a, i32 %2, i32 %c)
  ret i32 %3
}
define i32 @with_a_sign_and_without(i32 %a, i32 %b, i32 %c) {
  %xs0 = shl i32 %a, 24
  %x0 = ashr exact i32 %xs0, 24
  %xs1 = shl i32 %a, 16
  %x1 = ashr exact i32 %xs1, 24
  %xs2 = shl i32 %a, 8
  %x2 = ashr exact i32 %xs2, 24
  %x3 = ashr i32 %a, 24
  %y0 = and i32 %b, 255
  %ys1 = lshr i32 %b, 8
  %y1 = and i32 %ys1, 255
  %ys2 = lshr i32 %b, 16
  %y2 = and i32 %ys2, 255
  %y3 = lshr i32 %b, 24
  %p0 = mul nsw i32 %x0, %y0
  %m0 = add nsw i32 %p0, %c
  %p1 = mul nsw i32 %x1, %y1
  %m1 = add nsw i32 %p1, %m0
  %p2 = mul nsw i32 %x2, %y2
  %m2 = add nsw i32 %p2, %m1
  %p3 = mul nsw i32 %x3, %y3
  %m3 = add nsw i32 %p3, %m2
  ret i32 %m3
}
define i32 @with_a_sign_and_without.after(i32 %a, i32 %b, i32 %c) {
  %1 = call i32 @llvm.nvvm.idp4a.s.u(i32 %a, i32 %b, i32 %c)
  ret i32 %1
}
define i32 @without_a_sign(i32 %a, i32 %b, i32 %c) {
  %xt0 = trunc i32 %a to i8
  %x0 = zext i8 %xt0 to i32
  %xs1 = lshr i32 %a, 8
  %xt1 = trunc i32 %xs1 to i8
  %x1 = zext i8 %xt1 to i32
  %xs2 = lshr i32 %a, 16
  %xt2 = trunc i32 %xs2 to i8
  %x2 = zext i8 %xt2 to i32
  %xs3 = lshr i32 %a, 24
  %xt3 = trunc i32 %xs3 to i8
  %x3 = zext i8 %xt3 to i32
  %y0 = and i32 %b, 255
  %ys1 = lshr i32 %b, 8
  %y1 = and i32 %ys1, 255
  %ys2 = lshr i32 %b, 16
  %y2 = and i32 %ys2, 255
  %y3 = lshr i32 %b, 24
  %p0 = mul nsw i32 %x0, %y0
  %m0 = add nsw i32 %p0, %c
  %p1 = mul nsw i32 %x1, %y1
  %m1 = add nsw i32 %p1, %m0
  %p2 = mul nsw i32 %x2, %y2
  %m2 = add nsw i32 %p2, %m1
  %p3 = mul nsw i32 %x3, %y3
  %m3 = add nsw i32 %p3, %m2
  ret i32 %m3
}
define i32 @without_a_sign.after(i32 %a, i32 %b, i32 %c) {
  %1 = call i32 @llvm.nvvm.idp4a.u.u(i32 %a, i32 %b, i32 %c)
  ret i32 %1
}
define void @two_rows(ptr %x, ptr %w, ptr %y) {
  %a0 = load i32, ptr %x, align 4
  %ap = getelementptr i8, ptr %x, i64 4
  %a1 = load i32, ptr %ap, align 4
  %wp00 = getelementptr i8, ptr %w, i64 0
  %w00 = load i32, ptr %wp00, align 4
  %wp01 = getelementptr i8, ptr %w, i64 4
  %w01 = load i32, ptr %wp01, align 4
  %wp10 = getelementptr i8, ptr %w, i64 8
  %w10 = load i32, ptr %wp10, align 4
  %wp11 = getelementptr i8, ptr %w, i64 12
  %w11 = load i32, ptr %wp11, align 4
  %x0s0 = shl i32 %a0, 24
  %x00 = ashr exact i32 %x0s0, 24
  %x0s1 = shl i32 %a0, 16
  %x01 = ashr exact i32 %x0s1, 24
  %x0s2 = shl i32 %a0, 8
  %x02 = ashr exact i32 %x0s2, 24
  %x03 = ashr i32 %a0, 24
  %y00s0 = shl i32 %w00, 24
  %y000 = ashr exact i32 %y00s0, 24
  %y00s1 = shl i32 %w00, 16
  %y001 = ashr exact i32 %y00s1, 24
  %y00s2 = shl i32 %w00, 8
  %y002 = ashr exact i32 %y00s2, 24
  %y003 = ashr i32 %w00, 24
  %y10s0 = shl i32 %w10, 24
  %y100 = ashr exact i32 %y10s0, 24
  %y10s1 = shl i32 %w10, 16
  %y101 = ashr exact i32 %y10s1, 24
  %y10s2 = shl i32 %w10, 8
  %y102 = ashr exact i32 %y10s2, 24
  %y103 = ashr i32 %w10, 24
  %x1s0 = shl i32 %a1, 24
  %x10 = ashr exact i32 %x1s0, 24
  %x1s1 = shl i32 %a1, 16
  %x11 = ashr exact i32 %x1s1, 24
  %x1s2 = shl i32 %a1, 8
  %x12 = ashr exact i32 %x1s2, 24
  %x13 = ashr i32 %a1, 24
  %y01s0 = shl i32 %w01, 24
  %y010 = ashr exact i32 %y01s0, 24
  %y01s1 = shl i32 %w01, 16
  %y011 = ashr exact i32 %y01s1, 24
  %y01s2 = shl i32 %w01, 8
  %y012 = ashr exact i32 %y01s2, 24
  %y013 = ashr i32 %w01, 24
  %y11s0 = shl i32 %w11, 24
  %y110 = ashr exact i32 %y11s0, 24
  %y11s1 = shl i32 %w11, 16
  %y111 = ashr exact i32 %y11s1, 24
  %y11s2 = shl i32 %w11, 8
  %y112 = ashr exact i32 %y11s2, 24
  %y113 = ashr i32 %w11, 24
  %r0p0 = mul nsw i32 %x00, %y000
  %r0m0 = add nsw i32 %r0p0, 0
  %r0p1 = mul nsw i32 %x01, %y001
  %r0m1 = add nsw i32 %r0p1, %r0m0
  %r0p2 = mul nsw i32 %x02, %y002
  %r0m2 = add nsw i32 %r0p2, %r0m1
  %r0p3 = mul nsw i32 %x03, %y003
  %r0m3 = add nsw i32 %r0p3, %r0m2
  %r0p4 = mul nsw i32 %x10, %y010
  %r0m4 = add nsw i32 %r0p4, %r0m3
  %r0p5 = mul nsw i32 %x11, %y011
  %r0m5 = add nsw i32 %r0p5, %r0m4
  %r0p6 = mul nsw i32 %x12, %y012
  %r0m6 = add nsw i32 %r0p6, %r0m5
  %r0p7 = mul nsw i32 %x13, %y013
  %r0m7 = add nsw i32 %r0p7, %r0m6
  %o0 = getelementptr i32, ptr %y, i64 0
  store i32 %r0m7, ptr %o0, align 4
  %r1p0 = mul nsw i32 %x00, %y100
  %r1m0 = add nsw i32 %r1p0, 0
  %r1p1 = mul nsw i32 %x01, %y101
  %r1m1 = add nsw i32 %r1p1, %r1m0
  %r1p2 = mul nsw i32 %x02, %y102
  %r1m2 = add nsw i32 %r1p2, %r1m1
  %r1p3 = mul nsw i32 %x03, %y103
  %r1m3 = add nsw i32 %r1p3, %r1m2
  %r1p4 = mul nsw i32 %x10, %y110
  %r1m4 = add nsw i32 %r1p4, %r1m3
  %r1p5 = mul nsw i32 %x11, %y111
  %r1m5 = add nsw i32 %r1p5, %r1m4
  %r1p6 = mul nsw i32 %x12, %y112
  %r1m6 = add nsw i32 %r1p6, %r1m5
  %r1p7 = mul nsw i32 %x13, %y113
  %r1m7 = add nsw i32 %r1p7, %r1m6
  %o1 = getelementptr i32, ptr %y, i64 1
  store i32 %r1m7, ptr %o1, align 4
  ret void
}
define void @two_rows.after(ptr %x, ptr %w, ptr %y) {
  %a0 = load i32, ptr %x, align 4
  %ap = getelementptr i8, ptr %x, i64 4
  %a1 = load i32, ptr %ap, align 4
  %wp00 = getelementptr i8, ptr %w, i64 0
  %w00 = load i32, ptr %wp00, align 4
  %wp01 = getelementptr i8, ptr %w, i64 4
  %w01 = load i32, ptr %wp01, align 4
  %wp10 = getelementptr i8, ptr %w, i64 8
  %w10 = load i32, ptr %wp10, align 4
  %wp11 = getelementptr i8, ptr %w, i64 12
  %w11 = load i32, ptr %wp11, align 4
  %1 = call i32 @llvm.nvvm.idp4a.s.s(i32 %a0, i32 %w00, i32 0)
  %2 = call i32 @llvm.nvvm.idp4a.s.s(i32 %a1, i32 %w01, i32 %1)
  %o0 = getelementptr i32, ptr %y, i64 0
  store i32 %2, ptr %o0, align 4
  %3 = call i32 @llvm.nvvm.idp4a.s.s(i32 %a0, i32 %w10, i32 0)
  %4 = call i32 @llvm.nvvm.idp4a.s.s(i32 %a1, i32 %w11, i32 %3)
  %o1 = getelementptr i32, ptr %y, i64 1
  store i32 %4, ptr %o1, align 4
  ret void
}
define i32 @parts_of_vectors(<16 x i8> %a, <16 x i8> %b, i32 %c) {
  %x0t0 = extractelement <16 x i8> %a, i64 4
  %x00 = sext i8 %x0t0 to i32
  %y0t0 = extractelement <16 x i8> %b, i64 4
  %y00 = sext i8 %y0t0 to i32
  %x0t1 = extractelement <16 x i8> %a, i64 5
  %x01 = sext i8 %x0t1 to i32
  %y0t1 = extractelement <16 x i8> %b, i64 5
  %y01 = sext i8 %y0t1 to i32
  %x0t2 = extractelement <16 x i8> %a, i64 6
  %x02 = sext i8 %x0t2 to i32
  %y0t2 = extractelement <16 x i8> %b, i64 6
  %y02 = sext i8 %y0t2 to i32
  %x0t3 = extractelement <16 x i8> %a, i64 7
  %x03 = sext i8 %x0t3 to i32
  %y0t3 = extractelement <16 x i8> %b, i64 7
  %y03 = sext i8 %y0t3 to i32
  %x1t0 = extractelement <16 x i8> %a, i64 12
  %x10 = sext i8 %x1t0 to i32
  %y1t0 = extractelement <16 x i8> %b, i64 12
  %y10 = sext i8 %y1t0 to i32
  %x1t1 = extractelement <16 x i8> %a, i64 13
  %x11 = sext i8 %x1t1 to i32
  %y1t1 = extractelement <16 x i8> %b, i64 13
  %y11 = sext i8 %y1t1 to i32
  %x1t2 = extractelement <16 x i8> %a, i64 14
  %x12 = sext i8 %x1t2 to i32
  %y1t2 = extractelement <16 x i8> %b, i64 14
  %y12 = sext i8 %y1t2 to i32
  %x1t3 = extractelement <16 x i8> %a, i64 15
  %x13 = sext i8 %x1t3 to i32
  %y1t3 = extractelement <16 x i8> %b, i64 15
  %y13 = sext i8 %y1t3 to i32
  %p0 = mul nsw i32 %x00, %y00
  %m0 = add nsw i32 %p0, %c
  %p1 = mul nsw i32 %x10, %y10
  %m1 = add nsw i32 %p1, %m0
  %p2 = mul nsw i32 %x01, %y01
  %m2 = add nsw i32 %p2, %m1
  %p3 = mul nsw i32 %x11, %y11
  %m3 = add nsw i32 %p3, %m2
  %p4 = mul nsw i32 %x02, %y02
  %m4 = add nsw i32 %p4, %m3
  %p5 = mul nsw i32 %x12, %y12
  %m5 = add nsw i32 %p5, %m4
  %p6 = mul nsw i32 %x03, %y03
  %m6 = add nsw i32 %p6, %m5
  %p7 = mul nsw i32 %x13, %y13
  %m7 = add nsw i32 %p7, %m6
  ret i32 %m7
}
define i32 @parts_of_vectors.after(<16 x i8> %a, <16 x i8> %b, i32 %c) {
  %1 = shufflevector <16 x i8> %a, <16 x i8> poison, <4 x i32> <i32 12, i32 13, i32 14, i32 15>
  %2 = freeze <4 x i8> %1
  %3 = bitcast <4 x i8> %2 to i32
  %4 = shufflevector <16 x i8> %b, <16 x i8> poison, <4 x i32> <i32 12, i32 13, i32 14, i32 15>
  %5 = freeze <4 x i8> %4
  %6 = bitcast <4 x i8> %5 to i32
  %7 = shufflevector <16 x i8> %a, <16 x i8> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %8 = freeze <4 x i8> %7
  %9 = bitcast <4 x i8> %8 to i32
  %10 = shufflevector <16 x i8> %b, <16 x i8> poison, <4 x i32> <i32 4, i32 5, i32 6, i32 7>
  %11 = freeze <4 x i8> %10
  %12 = bitcast <4 x i8> %11 to i32
  %13 = call i32 @llvm.nvvm.idp4a.s.s(i32 %9, i32 %12, i32 %c)
  %14 = call i32 @llvm.nvvm.idp4a.s.s(i32 %3, i32 %6, i32 %13)
  ret i32 %14
}
define i32 @vector4(<4 x i8> %a, <4 x i8> %b) {
  %x = sext <4 x i8> %a to <4 x i32>
  %y = sext <4 x i8> %b to <4 x i32>
  %p = mul nsw <4 x i32> %y, %x
  %r = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %p)
  ret i32 %r
}
define i32 @vector4.after(<4 x i8> %a, <4 x i8> %b) {
  %1 = bitcast <4 x i8> %b to i32
  %2 = bitcast <4 x i8> %a to i32
  %3 = call i32 @llvm.nvvm.idp4a.s.s(i32 %1, i32 %2, i32 0)
  ret i32 %3
}
define i32 @vector8(<8 x i8> %a, <8 x i8> %b, i32 %c) {
  %x = zext <8 x i8> %a to <8 x i32>
  %y = sext <8 x i8> %b to <8 x i32>
  %p = mul nsw <8 x i32> %y, %x
  %r = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %p)
  %s = add i32 %c, %r
  ret i32 %s
}
define i32 @vector8.after(<8 x i8> %a, <8 x i8> %b, i32 %c) {
  %1 = bitcast <8 x i8> %b to <2 x i32>
  %2 = bitcast <8 x i8> %a to <2 x i32>
  %3 = extractelement <2 x i32> %1, i64 0
  %4 = extractelement <2 x i32> %2, i64 0
  %5 = extractelement <2 x i32> %1, i64 1
  %6 = extractelement <2 x i32> %2, i64 1
  %7 = call i32 @llvm.nvvm.idp4a.s.u(i32 %3, i32 %4, i32 %c)
  %8 = call i32 @llvm.nvvm.idp4a.s.u(i32 %5, i32 %6, i32 %7)
  ret i32 %8
}
define i32 @vector16(<16 x i8> %a, <16 x i8> %b, i32 %c, i32 %d) {
  %x = zext <16 x i8> %a to <16 x i32>
  %y = zext <16 x i8> %b to <16 x i32>
  %p = mul nsw <16 x i32> %y, %x
  %r = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %p)
  %s = add i32 %r, %c
  %t = add i32 %s, %d
  ret i32 %t
}
define i32 @vector16.after(<16 x i8> %a, <16 x i8> %b, i32 %c, i32 %d) {
  %1 = bitcast <16 x i8> %b to <4 x i32>
  %2 = bitcast <16 x i8> %a to <4 x i32>
  %3 = extractelement <4 x i32> %1, i64 0
  %4 = extractelement <4 x i32> %2, i64 0
  %5 = extractelement <4 x i32> %1, i64 1
  %6 = extractelement <4 x i32> %2, i64 1
  %7 = extractelement <4 x i32> %1, i64 2
  %8 = extractelement <4 x i32> %2, i64 2
  %9 = extractelement <4 x i32> %1, i64 3
  %10 = extractelement <4 x i32> %2, i64 3
  %11 = add i32 %c, %d
  %12 = call i32 @llvm.nvvm.idp4a.u.u(i32 %3, i32 %4, i32 %11)
  %13 = call i32 @llvm.nvvm.idp4a.u.u(i32 %5, i32 %6, i32 %12)
  %14 = call i32 @llvm.nvvm.idp4a.u.u(i32 %7, i32 %8, i32 %13)
  %15 = call i32 @llvm.nvvm.idp4a.u.u(i32 %9, i32 %10, i32 %14)
  ret i32 %15
}
define i32 @vector2(<2 x i8> %a, <2 x i8> %b) {
  %x = sext <2 x i8> %a to <2 x i32>
  %y = sext <2 x i8> %b to <2 x i32>
  %p = mul nsw <2 x i32> %y, %x
  %r = call i32 @llvm.vector.reduce.add.v2i32(<2 x i32> %p)
  ret i32 %r
}
define i32 @only_three(<4 x i8> %a, <4 x i8> %b, i32 %c) {
  %xt0 = extractelement <4 x i8> %a, i64 0
  %x0 = sext i8 %xt0 to i32
  %xt1 = extractelement <4 x i8> %a, i64 1
  %x1 = sext i8 %xt1 to i32
  %xt2 = extractelement <4 x i8> %a, i64 2
  %x2 = sext i8 %xt2 to i32
  %yt0 = extractelement <4 x i8> %b, i64 0
  %y0 = sext i8 %yt0 to i32
  %yt1 = extractelement <4 x i8> %b, i64 1
  %y1 = sext i8 %yt1 to i32
  %yt2 = extractelement <4 x i8> %b, i64 2
  %y2 = sext i8 %yt2 to i32
  %p0 = mul nsw i32 %x0, %y0
  %m0 = add nsw i32 %p0, %c
  %p1 = mul nsw i32 %x1, %y1
  %m1 = add nsw i32 %p1, %m0
  %p2 = mul nsw i32 %x2, %y2
  %m2 = add nsw i32 %p2, %m1
  ret i32 %m2
}
define i32 @crossed(<4 x i8> %a, <4 x i8> %b, i32 %c) {
  %xt0 = extractelement <4 x i8> %a, i64 0
  %x0 = sext i8 %xt0 to i32
  %xt1 = extractelement <4 x i8> %a, i64 1
  %x1 = sext i8 %xt1 to i32
  %xt2 = extractelement <4 x i8> %a, i64 2
  %x2 = sext i8 %xt2 to i32
  %xt3 = extractelement <4 x i8> %a, i64 3
  %x3 = sext i8 %xt3 to i32
  %yt0 = extractelement <4 x i8> %b, i64 0
  %y0 = sext i8 %yt0 to i32
  %yt1 = extractelement <4 x i8> %b, i64 1
  %y1 = sext i8 %yt1 to i32
  %yt2 = extractelement <4 x i8> %b, i64 2
  %y2 = sext i8 %yt2 to i32
  %yt3 = extractelement <4 x i8> %b, i64 3
  %y3 = sext i8 %yt3 to i32
  %p0 = mul nsw i32 %x0, %y1
  %m0 = add nsw i32 %p0, %c
  %p1 = mul nsw i32 %x1, %y0
  %m1 = add nsw i32 %p1, %m0
  %p2 = mul nsw i32 %x2, %y2
  %m2 = add nsw i32 %p2, %m1
  %p3 = mul nsw i32 %x3, %y3
  %m3 = add nsw i32 %p3, %m2
  ret i32 %m3
}
define i32 @one_without_a_sign(<4 x i8> %a, <4 x i8> %b, i32 %c) {
  %xt0 = extractelement <4 x i8> %a, i64 0
  %x0 = sext i8 %xt0 to i32
  %xt1 = extractelement <4 x i8> %a, i64 1
  %x1 = sext i8 %xt1 to i32
  %xt2 = extractelement <4 x i8> %a, i64 2
  %x2 = zext i8 %xt2 to i32
  %xt3 = extractelement <4 x i8> %a, i64 3
  %x3 = sext i8 %xt3 to i32
  %yt0 = extractelement <4 x i8> %b, i64 0
  %y0 = sext i8 %yt0 to i32
  %yt1 = extractelement <4 x i8> %b, i64 1
  %y1 = sext i8 %yt1 to i32
  %yt2 = extractelement <4 x i8> %b, i64 2
  %y2 = sext i8 %yt2 to i32
  %yt3 = extractelement <4 x i8> %b, i64 3
  %y3 = sext i8 %yt3 to i32
  %p0 = mul nsw i32 %x0, %y0
  %m0 = add nsw i32 %p0, %c
  %p1 = mul nsw i32 %x1, %y1
  %m1 = add nsw i32 %p1, %m0
  %p2 = mul nsw i32 %x2, %y2
  %m2 = add nsw i32 %p2, %m1
  %p3 = mul nsw i32 %x3, %y3
  %m3 = add nsw i32 %p3, %m2
  ret i32 %m3
}
define i32 @of_three_words(i32 %a, i32 %b, i32 %c, i32 %d) {
  %xs0 = shl i32 %d, 24
  %x0 = ashr exact i32 %xs0, 24
  %xs1 = shl i32 %a, 16
  %x1 = ashr exact i32 %xs1, 24
  %xs2 = shl i32 %a, 8
  %x2 = ashr exact i32 %xs2, 24
  %x3 = ashr i32 %a, 24
  %ys0 = shl i32 %b, 24
  %y0 = ashr exact i32 %ys0, 24
  %ys1 = shl i32 %b, 16
  %y1 = ashr exact i32 %ys1, 24
  %ys2 = shl i32 %b, 8
  %y2 = ashr exact i32 %ys2, 24
  %y3 = ashr i32 %b, 24
  %p0 = mul nsw i32 %x0, %y0
  %m0 = add nsw i32 %p0, %c
  %p1 = mul nsw i32 %x1, %y1
  %m1 = add nsw i32 %p1, %m0
  %p2 = mul nsw i32 %x2, %y2
  %m2 = add nsw i32 %p2, %m1
  %p3 = mul nsw i32 %x3, %y3
  %m3 = add nsw i32 %p3, %m2
  ret i32 %m3
}
define i32 @other_shifts(i32 %a, i32 %b, i32 %c) {
  %xs0 = shl i32 %a, 23
  %x0 = ashr i32 %xs0, 24
  %xs1 = shl i32 %a, 16
  %x1 = ashr i32 %xs1, 24
  %xs2 = shl i32 %a, 9
  %x2 = ashr i32 %xs2, 24
  %xs3 = shl i32 %a, 2
  %x3 = ashr i32 %xs3, 24
  %ys0 = shl i32 %b, 24
  %y0 = ashr exact i32 %ys0, 24
  %ys1 = shl i32 %b, 16
  %y1 = ashr exact i32 %ys1, 24
  %ys2 = shl i32 %b, 8
  %y2 = ashr exact i32 %ys2, 24
  %y3 = ashr i32 %b, 24
  %p0 = mul nsw i32 %x0, %y0
  %m0 = add nsw i32 %p0, %c
  %p1 = mul nsw i32 %x1, %y1
  %m1 = add nsw i32 %p1, %m0
  %p2 = mul nsw i32 %x2, %y2
  %m2 = add nsw i32 %p2, %m1
  %p3 = mul nsw i32 %x3, %y3
  %m3 = add nsw i32 %p3, %m2
  ret i32 %m3
}
define i32 @variable_elements(<4 x i8> %a, <4 x i8> %b, i32 %c) {
  %xt0 = extractelement <4 x i8> %a, i32 %c
  %x0 = sext i8 %xt0 to i32
  %xt1 = extractelement <4 x i8> %a, i32 %c
  %x1 = sext i8 %xt1 to i32
  %xt2 = extractelement <4 x i8> %a, i32 %c
  %x2 = sext i8 %xt2 to i32
  %xt3 = extractelement <4 x i8> %a, i32 %c
  %x3 = sext i8 %xt3 to i32
  %yt0 = extractelement <4 x i8> %b, i64 0
  %y0 = sext i8 %yt0 to i32
  %yt1 = extractelement <4 x i8> %b, i64 1
  %y1 = sext i8 %yt1 to i32
  %yt2 = extractelement <4 x i8> %b, i64 2
  %y2 = sext i8 %yt2 to i32
  %yt3 = extractelement <4 x i8> %b, i64 3
  %y3 = sext i8 %yt3 to i32
  %p0 = mul nsw i32 %x0, %y0
  %m0 = add nsw i32 %p0, %c
  %p1 = mul nsw i32 %x1, %y1
  %m1 = add nsw i32 %p1, %m0
  %p2 = mul nsw i32 %x2, %y2
  %m2 = add nsw i32 %p2, %m1
  %p3 = mul nsw i32 %x3, %y3
  %m3 = add nsw i32 %p3, %m2
  ret i32 %m3
}
define i32 @by_constants(i32 %a, i32 %c) {
  %x0s = shl i32 %a, 24
  %x0 = ashr exact i32 %x0s, 24
  %p0 = mul nsw i32 %x0, -77
  %s0 = add i32 %p0, %c
  %x1s = shl i32 %a, 16
  %x1 = ashr i32 %x1s, 24
  %p1 = shl nsw i32 %x1, 4
  %s1 = add i32 %s0, %p1
  %x2s = shl i32 %a, 8
  %x2 = ashr i32 %x2s, 24
  %s2 = add i32 %s1, %x2
  %x3 = ashr i32 %a, 24
  %p3 = mul nsw i32 %x3, 127
  %s3 = add i32 %s2, %p3
  ret i32 %s3
}
define i32 @by_constants.after(i32 %a, i32 %c) {
  %1 = call i32 @llvm.nvvm.idp4a.s.s(i32 %a, i32 2130776243, i32 %c)
  ret i32 %1
}
define i32 @by_a_constant_vector(<8 x i8> %a) {
  %x = zext <8 x i8> %a to <8 x i32>
  %p = mul nsw <8 x i32> %x, <i32 1, i32 -2, i32 3, i32 -128, i32 127, i32 6, i32 7, i32 0>
  %r = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %p)
  ret i32 %r
}
define i32 @by_a_constant_vector.after(<8 x i8> %a) {
  %1 = bitcast <8 x i8> %a to <2 x i32>
  %2 = extractelement <2 x i32> %1, i64 0
  %3 = extractelement <2 x i32> %1, i64 1
  %4 = call i32 @llvm.nvvm.idp4a.u.s(i32 %2, i32 extractelement (<2 x i32> bitcast (<8 x i8> <i8 1, i8 -2, i8 3, i8 -128, i8 127, i8 6, i8 7, i8 0> to <2 x i32>), i64 0), i32 0)
  %5 = call i32 @llvm.nvvm.idp4a.u.s(i32 %3, i32 extractelement (<2 x i32> bitcast (<8 x i8> <i8 1, i8 -2, i8 3, i8 -128, i8 127, i8 6, i8 7, i8 0> to <2 x i32>), i64 1), i32 %4)
  ret i32 %5
}
define i32 @by_a_constant_that_is_no_byte(<8 x i8> %a) {
  %x = zext <8 x i8> %a to <8 x i32>
  %p = mul nsw <8 x i32> %x, <i32 1, i32 -2, i32 3, i32 -128, i32 128, i32 6, i32 7, i32 0>
  %r = call i32 @llvm.vector.reduce.add.v8i32(<8 x i32> %p)
  ret i32 %r
}
define i32 @shifted_too_far(i32 %a, i32 %c) {
  %x0s = shl i32 %a, 24
  %x0 = ashr exact i32 %x0s, 24
  %p0 = mul nsw i32 %x0, -77
  %s0 = add i32 %p0, %c
  %x1s = shl i32 %a, 16
  %x1 = ashr i32 %x1s, 24
  %p1 = shl nsw i32 %x1, 7
  %s1 = add i32 %s0, %p1
  %x2s = shl i32 %a, 8
  %x2 = ashr i32 %x2s, 24
  %s2 = add i32 %s1, %x2
  %x3 = ashr i32 %a, 24
  %p3 = mul nsw i32 %x3, 127
  %s3 = add i32 %s2, %p3
  ret i32 %s3
}
define i32 @shifted_out(i32 %a, i32 %c) {
  %x0s = shl i32 %a, 24
  %x0 = ashr exact i32 %x0s, 24
  %p0 = mul nsw i32 %x0, -77
  %s0 = add i32 %p0, %c
  %x1s = shl i32 %a, 16
  %x1 = ashr i32 %x1s, 24
  %p1 = shl i32 %x1, 40
  %s1 = add i32 %s0, %p1
  %x2s = shl i32 %a, 8
  %x2 = ashr i32 %x2s, 24
  %s2 = add i32 %s1, %x2
  %x3 = ashr i32 %a, 24
  %p3 = mul nsw i32 %x3, 127
  %s3 = add i32 %s2, %p3
  ret i32 %s3
}
