declare i32 @llvm.nvvm.idp4a.s.s(i32, i32, i32)
declare i32 @llvm.nvvm.idp4a.s.u(i32, i32, i32)
declare i32 @llvm.nvvm.idp4a.u.s(i32, i32, i32)
declare i32 @llvm.nvvm.idp4a.u.u(i32, i32, i32)
declare i32 @llvm.vector.reduce.add.v2i32(<2 x i32>)
declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)
declare i32 @llvm.vector.reduce.add.v8i32(<8 x i32>)
declare i32 @llvm.vector.reduce.add.v16i32(<16 x i32>)
; The four bytes of a vector or a word.
;part elements
  %{x}t{k} = extractelement <4 x i8> %{of}, i64 {k}
  %{x}{k} = {as} i8 %{x}t{k} to i32
;end
;part shifted
;each k 0..2, by 24..8/-8
  %{x}s{k} = shl i32 %{of}, {by}
  %{x}{k} = ashr exact i32 %{x}s{k}, 24
;end
  %{x}3 = ashr i32 %{of}, 24
;end
;part masked
  %{x}0 = and i32 %{of}, 255
;each k 1 2, by 8 16
  %{x}s{k} = lshr i32 %{of}, {by}
  %{x}{k} = and i32 %{x}s{k}, 255
;end
  %{x}3 = lshr i32 %{of}, 24
;end
;part truncated
  %{x}t0 = trunc i32 %{of} to i8
  %{x}0 = {as} i8 %{x}t0 to i32
;each k 1..3, by 8..24/8
  %{x}s{k} = lshr i32 %{of}, {by}
  %{x}t{k} = trunc i32 %{x}s{k} to i8
  %{x}{k} = {as} i8 %{x}t{k} to i32
;end
;end
;part product
  %p{k} = mul nsw i32 %{x}, %{y}
  %m{k} = add nsw i32 %p{k}, {last}
;end
define i32 @vectors(<4 x i8> %a, <4 x i8> %b, i32 %c) {
;use elements x x, of a, k 0..3, as sext
;use elements x y, of b, k 0..3, as sext
;use product k 0..3, x x0..3, y y0..3, last %c %m0..2
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
;use shifted x x, of a
;use shifted x y, of b
;use product k 0..3, x x2 x0 x3 x1, y y2 y0 y3 y1, last %c %m0..2
  ret i32 %m3
}
define i32 @shifts.after(i32 %a, i32 %b, i32 %c) {
  %1 = call i32 @llvm.nvvm.idp4a.s.s(i32 %a, i32 %b, i32 %c)
  ret i32 %1
}
define i32 @truncations(i32 %a, <4 x i8> %b, i32 %c) {
;use truncated x x, of a, as sext
;use elements x y, of b, k 0..3, as sext
;use product k 0..3, x x0..3, y y0..3, last %c %m0..2
  ret i32 %m3
}
define i32 @truncations.after(i32 %a, <4 x i8> %b, i32 %c) {
  %1 = freeze <4 x i8> %b
  %2 = bitcast <4 x i8> %1 to i32
  %3 = call i32 @llvm.nvvm.idp4a.s.s(i32 %a, i32 %2, i32 %c)
  ret i32 %3
}
define i32 @with_a_sign_and_without(i32 %a, i32 %b, i32 %c) {
;use shifted x x, of a
;use masked x y, of b
;use product k 0..3, x x0..3, y y0..3, last %c %m0..2
  ret i32 %m3
}
define i32 @with_a_sign_and_without.after(i32 %a, i32 %b, i32 %c) {
  %1 = call i32 @llvm.nvvm.idp4a.s.u(i32 %a, i32 %b, i32 %c)
  ret i32 %1
}
define i32 @without_a_sign(i32 %a, i32 %b, i32 %c) {
;use truncated x x, of a, as zext
;use masked x y, of b
;use product k 0..3, x x0..3, y y0..3, last %c %m0..2
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
;use shifted x x0 y00 y10 x1 y01 y11, of a0 w00 w10 a1 w01 w11
;each r 0 1
;each k 0..7, last 0 %r{r}m0..6, at 00 01 02 03 10 11 12 13
  %r{r}p{k} = mul nsw i32 %x{at}, %y{r}{at}
  %r{r}m{k} = add nsw i32 %r{r}p{k}, {last}
;end
  %o{r} = getelementptr i32, ptr %y, i64 {r}
  store i32 %r{r}m7, ptr %o{r}, align 4
;end
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
;each j 0 0 0 0 1 1 1 1, k 0..3 0..3, at 4..7 12..15
;each x x y, v a b
  %{x}{j}t{k} = extractelement <16 x i8> %{v}, i64 {at}
  %{x}{j}{k} = sext i8 %{x}{j}t{k} to i32
;end
;end
;use product k 0..7, x x00 x10 x01 x11 x02 x12 x03 x13, y y00 y10 y01 y11 y02 y12 y03 y13,
;and last %c %m0..6
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
;use elements x x, of a, k 0..2, as sext
;use elements x y, of b, k 0..2, as sext
;use product k 0..2, x x0..2, y y0..2, last %c %m0..1
  ret i32 %m2
}
define i32 @crossed(<4 x i8> %a, <4 x i8> %b, i32 %c) {
;use elements x x, of a, k 0..3, as sext
;use elements x y, of b, k 0..3, as sext
;use product k 0..3, x x0..3, y y1 y0 y2 y3, last %c %m0..2
  ret i32 %m3
}
define i32 @one_without_a_sign(<4 x i8> %a, <4 x i8> %b, i32 %c) {
;use elements x x, of a, k 0..3, as sext sext zext sext
;use elements x y, of b, k 0..3, as sext
;use product k 0..3, x x0..3, y y0..3, last %c %m0..2
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
;use shifted x y, of b
;use product k 0..3, x x0..3, y y0..3, last %c %m0..2
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
;use shifted x y, of b
;use product k 0..3, x x0..3, y y0..3, last %c %m0..2
  ret i32 %m3
}
define i32 @variable_elements(<4 x i8> %a, <4 x i8> %b, i32 %c) {
;each k 0..3
  %xt{k} = extractelement <4 x i8> %a, i32 %c
  %x{k} = sext i8 %xt{k} to i32
;end
;use elements x y, of b, k 0..3, as sext
;use product k 0..3, x x0..3, y y0..3, last %c %m0..2
  ret i32 %m3
}
;each name by_constants shifted_too_far, by 4 7
define i32 @{name}(i32 %a, i32 %c) {
  %x0s = shl i32 %a, 24
  %x0 = ashr exact i32 %x0s, 24
  %p0 = mul nsw i32 %x0, -77
  %s0 = add i32 %p0, %c
  %x1s = shl i32 %a, 16
  %x1 = ashr i32 %x1s, 24
  %p1 = shl nsw i32 %x1, {by}
  %s1 = add i32 %s0, %p1
  %x2s = shl i32 %a, 8
  %x2 = ashr i32 %x2s, 24
  %s2 = add i32 %s1, %x2
  %x3 = ashr i32 %a, 24
  %p3 = mul nsw i32 %x3, 127
  %s3 = add i32 %s2, %p3
  ret i32 %s3
}
;end
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
