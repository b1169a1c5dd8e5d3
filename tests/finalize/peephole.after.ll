define i32 @f(i32 %x) {
  %a = shl i32 %x, 3
  %d = add i32 %a, 11
  %e = and i32 %d, -7
  ret i32 %e
}
