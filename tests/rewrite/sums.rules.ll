define i32 @pair.pattern(i32 %x, i32 %y, i32 %rest) #0 {
  %a = mul i32 %x, %x
  %b = mul i32 %y, %y
  %s = add i32 %a, %b
  %r = add i32 %rest, %s
  ret i32 %r
}
define i32 @pair.replacement(i32 %x, i32 %y, i32 %rest) {
  %n = call i32 @norm(i32 %x, i32 %y, i32 %rest)
  ret i32 %n
}
declare i32 @norm(i32, i32, i32) #1
attributes #0 = { "tkb.rule"="exact" "tkb.terms"="any" }
attributes #1 = { nounwind willreturn memory(none) }
