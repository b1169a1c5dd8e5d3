define i32 @f(i32 %x) {
  %a = mul i32 %x, 8
  %b = add i32 %a, 0
  %c = add i32 %b, 5
  %d = add i32 %c, 6
  %e = xor i32 %d, 2
  ret i32 %e
}
