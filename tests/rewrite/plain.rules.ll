define i32 @eight.pattern(i32 %x) #0 {
  %r = mul i32 %x, 8
  ret i32 %r
}
define i32 @eight.replacement(i32 %x) {
  %r = shl i32 %x, 3
  ret i32 %r
}
define i32 @absorb.pattern(i32 %x, i32 %y) #0 {
  %o = or i32 %x, %y
  %r = and i32 %o, %x
  ret i32 %r
}
define i32 @absorb.replacement(i32 %x, i32 %y) {
  ret i32 %x
}
define i32 @back.pattern(i32 %x, i32 %y) #0 {
  %s = add i32 %x, %y
  %r = sub i32 %s, %y
  ret i32 %r
}
define i32 @back.replacement(i32 %x, i32 %y) {
  ret i32 %x
}
define i1 @greater.pattern(i32 %x) #0 {
  %s = sub i32 %x, 1
  %r = icmp ugt i32 %x, %s
  ret i1 %r
}
define i1 @greater.replacement(i32 %x) {
  %r = icmp ne i32 %x, 0
  ret i1 %r
}
define i8 @element.pattern(<2 x i8> %v, i8 %x) #0 {
  %w = insertelement <2 x i8> %v, i8 %x, i32 1
  %r = extractelement <2 x i8> %w, i32 1
  ret i8 %r
}
define i8 @element.replacement(<2 x i8> %v, i8 %x) {
  ret i8 %x
}
define i32 @shifted.pattern(i32 %x) #0 {
  %s = shl i32 %x, 3
  %r = lshr i32 %s, 3
  ret i32 %r
}
define i32 @shifted.replacement(i32 %x) {
  %r = and i32 %x, 536870911
  ret i32 %r
}
attributes #0 = { "tkb.rule"="exact" }
