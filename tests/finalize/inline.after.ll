define i32 @f(i32 %x) {
  %y.i = mul i32 %x, 7
  %b = add i32 %y.i, 1
  ret i32 %b
}
