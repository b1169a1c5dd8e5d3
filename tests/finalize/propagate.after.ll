define internal i32 @helper(i32 %x, i32 %by) {
  %y = mul i32 %x, 7
  %s = add i32 %y, 10
  ret i32 %s
}

define i32 @f(i32 %x) {
  %a = call i32 @helper(i32 %x, i32 7)
  ret i32 %a
}
