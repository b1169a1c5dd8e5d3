declare void @use(i32)
define i32 @nothing_else(i32 %a, i32 %b, i32 %c) {
  %p = mul i32 %b, %a
  %q = mul i32 %a, %c
  %r = add i32 %p, %q
  ret i32 %r
}
define i32 @nothing_else.after(i32 %a, i32 %b, i32 %c) {
  %1 = add i32 %b, %c
  %2 = mul i32 %a, %1
  ret i32 %2
}
define i32 @one_is_needed(i32 %a, i32 %b, i32 %c) {
  %p = mul i32 %a, %b
  %q = mul i32 %a, %c
  %r = add i32 %p, %q
  call void @use(i32 %p)
  ret i32 %r
}
define i32 @one_is_needed.after(i32 %a, i32 %b, i32 %c) {
  %p = mul i32 %a, %b
  %1 = add i32 %b, %c
  %2 = mul i32 %a, %1
  call void @use(i32 %p)
  ret i32 %2
}
define i32 @both_are_needed(i32 %a, i32 %b, i32 %c) {
  %p = mul i32 %a, %b
  %q = mul i32 %a, %c
  %r = add i32 %p, %q
  call void @use(i32 %p)
  call void @use(i32 %q)
  ret i32 %r
}
define i32 @twice(i32 %a) {
  %r = shl i32 %a, 1
  ret i32 %r
}
define i32 @twice.after(i32 %a) {
  %1 = freeze i32 %a
  %2 = add i32 %1, %1
  ret i32 %2
}
define i32 @the_root_is_needed(i32 %a, i32 %b, i32 %c) {
  %p = mul i32 %a, %b
  %q = mul i32 %a, %c
  %r = add i32 %p, %q
  call void @use(i32 %r)
  %t = mul i32 %r, %r
  ret i32 %t
}
define i32 @the_root_is_needed.after(i32 %a, i32 %b, i32 %c) {
  %1 = add i32 %b, %c
  %2 = mul i32 %a, %1
  call void @use(i32 %2)
  %t = mul i32 %2, %2
  ret i32 %t
}
define i32 @the_same_twice(i32 %a, i32 %b) {
  %p = mul i32 %a, %b
  %r = add i32 %p, %p
  ret i32 %r
}
define i32 @the_same_twice.after(i32 %a, i32 %b) {
  %1 = freeze i32 %b
  %2 = add i32 %1, %1
  %3 = mul i32 %a, %2
  ret i32 %3
}
