declare i32 @low(i32)
define i32 @low.either.mask(i32 %x) {
  %r = and i32 %x, 65535
  ret i32 %r
}
define i32 @low.either.trunc(i32 %x) {
  %t = trunc i32 %x to i16
  %r = zext i16 %t to i32
  ret i32 %r
}
define i32 @low.either.element(i32 %x) {
  %v = bitcast i32 %x to <2 x i16>
  %t = extractelement <2 x i16> %v, i64 0
  %r = zext i16 %t to i32
  ret i32 %r
}
declare i32 @high(i32)
define i32 @high.either.shift(i32 %x) {
  %r = lshr i32 %x, 16
  ret i32 %r
}
define i32 @high.either.element(i32 %x) {
  %v = bitcast i32 %x to <2 x i16>
  %t = extractelement <2 x i16> %v, i64 1
  %r = zext i16 %t to i32
  ret i32 %r
}
define i32 @join.pattern(i32 %x) #0 {
  %l = call i32 @low(i32 %x)
  %h = call i32 @high(i32 %x)
  %s = shl i32 %h, 16
  %r = or i32 %s, %l
  ret i32 %r
}
define i32 @join.replacement(i32 %x) {
  ret i32 %x
}
define i16 @pick.pattern(i32 %x) #0 {
  %v = bitcast i32 %x to <2 x i16>
  %a = extractelement <2 x i16> %v, i64 0
  %b = extractelement <2 x i16> %v, i64 1
  %r = add i16 %a, %b
  ret i16 %r
}
define i16 @pick.replacement(i32 %x) {
  %t = mul i32 %x, 65537
  %s = lshr i32 %t, 16
  %r = trunc i32 %s to i16
  ret i16 %r
}
attributes #0 = { "tkb.rule"="exact" }
