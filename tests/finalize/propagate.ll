define internal i32 @helper(i32 %x, i32 %by) {
  %y = mul i32 %x, %by
  %z = add i32 %by, 3
  %s = add i32 %y, %z
  ret i32 %s
}

define i32 @f(i32 %x) {
  %by = add i32 3, 4
  %a = call i32 @helper(i32 %x, i32 %by)
  ret i32 %a
}
