define i32 @mask_and_shift(i32 %a) {
  %l = and i32 %a, 65535
  %h = lshr i32 %a, 16
  %s = shl i32 %h, 16
  %r = or i32 %l, %s
  ret i32 %r
}
define i32 @mask_and_shift.after(i32 %a) {
  ret i32 %a
}
define i32 @trunc_and_shift(i32 %a) {
  %t = trunc i32 %a to i16
  %l = zext i16 %t to i32
  %h = lshr i32 %a, 16
  %s = shl i32 %h, 16
  %r = or disjoint i32 %s, %l
  ret i32 %r
}
define i32 @trunc_and_shift.after(i32 %a) {
  ret i32 %a
}
define i32 @elements_of_bits(i32 %a) {
  %v = bitcast i32 %a to <2 x i16>
  %t = extractelement <2 x i16> %v, i64 0
  %l = zext i16 %t to i32
  %u = extractelement <2 x i16> %v, i64 1
  %h = zext i16 %u to i32
  %s = shl i32 %h, 16
  %r = or i32 %l, %s
  ret i32 %r
}
define i32 @elements_of_bits.after(i32 %a) {
  %v = bitcast i32 %a to <2 x i16>
  ret i32 %a
}
;each name elements elements_of_eight elements_across elements_of_two_parts
;and elements_the_wrong_way another_width,
;and n 2 8 8 8 2 2, t i16 i16 i16 i16 i16 i8, low 0 4 3 4 1 0, high 1 5 4 7 0 1
define i32 @{name}(<{n} x {t}> %v) {
  %t = extractelement <{n} x {t}> %v, i64 {low}
  %l = zext {t} %t to i32
  %u = extractelement <{n} x {t}> %v, i64 {high}
  %h = zext {t} %u to i32
  %s = shl i32 %h, 16
  %r = or i32 %l, %s
  ret i32 %r
}
;end
define i32 @elements.after(<2 x i16> %v) {
  %1 = freeze <2 x i16> %v
  %2 = bitcast <2 x i16> %1 to i32
  ret i32 %2
}
define i32 @element_and_shift(<2 x i16> %v) {
  %a = bitcast <2 x i16> %v to i32
  %t = extractelement <2 x i16> %v, i64 0
  %l = zext i16 %t to i32
  %h = lshr i32 %a, 16
  %s = shl i32 %h, 16
  %r = or i32 %l, %s
  ret i32 %r
}
define i32 @element_and_shift.after(<2 x i16> %v) {
  %a = bitcast <2 x i16> %v to i32
  %1 = freeze <2 x i16> %v
  %2 = bitcast <2 x i16> %1 to i32
  ret i32 %2
}
define i32 @elements_of_eight.after(<8 x i16> %v) {
  %1 = shufflevector <8 x i16> %v, <8 x i16> poison, <2 x i32> <i32 4, i32 5>
  %2 = freeze <2 x i16> %1
  %3 = bitcast <2 x i16> %2 to i32
  ret i32 %3
}
define i32 @twice_the_same(i32 %a) {
  %l = and i32 %a, 65535
  %h = lshr i32 %a, 16
  %s = shl i32 %h, 16
  %r = or i32 %l, %s
  %t = mul i32 %r, %r
  ret i32 %t
}
define i32 @twice_the_same.after(i32 %a) {
  %t = mul i32 %a, %a
  ret i32 %t
}
define i32 @of_two(i32 %a, i32 %b) {
  %l = and i32 %a, 65535
  %h = lshr i32 %b, 16
  %s = shl i32 %h, 16
  %r = or i32 %l, %s
  ret i32 %r
}
define i16 @pick(<2 x i16> %v) {
  %a = extractelement <2 x i16> %v, i64 0
  %b = extractelement <2 x i16> %v, i64 1
  %r = add i16 %b, %a
  ret i16 %r
}
define i16 @pick.after(<2 x i16> %v) {
  %1 = freeze <2 x i16> %v
  %2 = bitcast <2 x i16> %1 to i32
  %3 = mul i32 %2, 65537
  %4 = lshr i32 %3, 16
  %5 = trunc i32 %4 to i16
  ret i16 %5
}
define i16 @pick_of_four(<4 x i16> %v) {
  %a = extractelement <4 x i16> %v, i64 2
  %b = extractelement <4 x i16> %v, i64 3
  %c = extractelement <4 x i16> %v, i64 0
  %d = extractelement <4 x i16> %v, i64 1
  %s = add i16 %a, %b
  %t = add i16 %c, %d
  %r = sub i16 %s, %t
  ret i16 %r
}
define i16 @pick_of_four.after(<4 x i16> %v) {
  %1 = shufflevector <4 x i16> %v, <4 x i16> poison, <2 x i32> <i32 2, i32 3>
  %2 = freeze <2 x i16> %1
  %3 = bitcast <2 x i16> %2 to i32
  %4 = mul i32 %3, 65537
  %5 = lshr i32 %4, 16
  %6 = trunc i32 %5 to i16
  %7 = shufflevector <4 x i16> %v, <4 x i16> poison, <2 x i32> <i32 0, i32 1>
  %8 = freeze <2 x i16> %7
  %9 = bitcast <2 x i16> %8 to i32
  %10 = mul i32 %9, 65537
  %11 = lshr i32 %10, 16
  %12 = trunc i32 %11 to i16
  %r = sub i16 %6, %12
  ret i16 %r
}
