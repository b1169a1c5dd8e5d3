define internal i32 @helper(i32 %x) {
  %y = mul i32 %x, 7
  ret i32 %y
}

define i32 @f(i32 %x) {
  %a = call i32 @helper(i32 %x)
  %b = add i32 %a, 1
  ret i32 %b
}
