define i32 @pair.pattern(ptr %p) #0 {
  %a = load i32, ptr %p, align 4
  %b = load i32, ptr %p, align 4
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @pair.replacement(ptr %p) {
  %a = load i32, ptr %p, align 4
  %r = mul i32 %a, 2
  ret i32 %r
}
attributes #0 = { "tkb.rule"="exact" }
