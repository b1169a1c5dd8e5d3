define i32 @factor.pattern(i32 %x, i32 %y, i32 %z) #0 {
  %a = mul i32 %x, %y
  %b = mul i32 %x, %z
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @factor.replacement(i32 %x, i32 %y, i32 %z) {
  %s = add i32 %y, %z
  %r = mul i32 %x, %s
  ret i32 %r
}
define i32 @twice.pattern(i32 %x) #0 {
  %r = shl i32 %x, 1
  ret i32 %r
}
define i32 @twice.replacement(i32 %x) {
  %r = add i32 %x, %x
  ret i32 %r
}
attributes #0 = { "tkb.rule"="exact" }
