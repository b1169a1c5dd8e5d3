declare i32 @norm(i32, i32, i32) nounwind willreturn memory(none)
declare void @use(i32)
define i32 @as_it_stands(i32 %a, i32 %b, i32 %c) {
  %p = mul i32 %a, %a
  %q = mul i32 %b, %b
  %s = add i32 %p, %q
  %r = add i32 %c, %s
  ret i32 %r
}
define i32 @as_it_stands.after(i32 %a, i32 %b, i32 %c) {
  %1 = call i32 @norm(i32 %a, i32 %b, i32 %c)
  ret i32 %1
}
define i32 @one_by_one(i32 %a, i32 %b, i32 %c) {
  %p = mul i32 %a, %a
  %q = mul i32 %b, %b
  %s = add nsw i32 %p, %c
  %r = add nsw i32 %s, %q
  ret i32 %r
}
define i32 @one_by_one.after(i32 %a, i32 %b, i32 %c) {
  %1 = call i32 @norm(i32 %a, i32 %b, i32 %c)
  ret i32 %1
}
define i32 @nothing_left(i32 %a, i32 %b) {
  %p = mul i32 %a, %a
  %q = mul i32 %b, %b
  %r = add i32 %q, %p
  ret i32 %r
}
define i32 @nothing_left.after(i32 %a, i32 %b) {
  %1 = call i32 @norm(i32 %b, i32 %a, i32 0)
  ret i32 %1
}
define i32 @much_left(i32 %a, i32 %b, i32 %c, i32 %d, i32 %e) {
  %p = mul i32 %a, %a
  %q = mul i32 %b, %b
  %s = add nuw i32 %c, %p
  %t = add i32 %d, %q
  %u = add i32 %s, %e
  %r = add i32 %u, %t
  ret i32 %r
}
define i32 @much_left.after(i32 %a, i32 %b, i32 %c, i32 %d, i32 %e) {
  %1 = add i32 %c, %e
  %2 = add i32 %1, %d
  %3 = call i32 @norm(i32 %a, i32 %b, i32 %2)
  ret i32 %3
}
define i32 @two_pairs(i32 %a, i32 %b, i32 %c, i32 %d) {
  %p = mul i32 %a, %a
  %q = mul i32 %b, %b
  %u = mul i32 %c, %c
  %v = mul i32 %d, %d
  %s = add i32 %p, %q
  %t = add i32 %u, %v
  %r = add i32 %s, %t
  ret i32 %r
}
define i32 @two_pairs.after(i32 %a, i32 %b, i32 %c, i32 %d) {
  %1 = call i32 @norm(i32 %c, i32 %d, i32 0)
  %2 = call i32 @norm(i32 %a, i32 %b, i32 %1)
  ret i32 %2
}
define i32 @a_sum_that_others_need(i32 %a, i32 %b, i32 %c) {
  %p = mul i32 %a, %a
  %q = mul i32 %b, %b
  %s = add i32 %p, %c
  call void @use(i32 %s)
  %r = add i32 %s, %q
  ret i32 %r
}
define i32 @a_square_that_others_need(i32 %a, i32 %b, i32 %c) {
  %p = mul i32 %a, %a
  %q = mul i32 %b, %b
  %s = add i32 %p, %c
  call void @use(i32 %p)
  %r = add i32 %s, %q
  ret i32 %r
}
define i32 @a_square_that_others_need.after(i32 %a, i32 %b, i32 %c) {
  %p = mul i32 %a, %a
  call void @use(i32 %p)
  %1 = call i32 @norm(i32 %a, i32 %b, i32 %c)
  ret i32 %1
}
define i32 @one_square(i32 %a, i32 %b) {
  %p = mul i32 %a, %a
  %r = add i32 %p, %b
  ret i32 %r
}
define i32 @no_square(i32 %a, i32 %b, i32 %c) {
  %p = mul i32 %a, %a
  %q = mul i32 %b, %c
  %r = add i32 %p, %q
  ret i32 %r
}
define i32 @a_difference(i32 %a, i32 %b, i32 %c) {
  %p = mul i32 %a, %a
  %q = mul i32 %b, %b
  %s = sub i32 %c, %p
  %r = add i32 %s, %q
  ret i32 %r
}
define i32 @in_a_loop(i32 %a, i32 %b, i32 %n) {
  br label %loop
loop:
  %sum = phi i32 [ 0, %0 ], [ %t, %loop ]
  %i = phi i32 [ 0, %0 ], [ %j, %loop ]
  %p = mul i32 %i, %i
  %q = mul i32 %a, %a
  %s = add i32 %sum, %p
  %t = add i32 %s, %q
  %j = add i32 %i, 1
  %c = icmp ult i32 %j, %n
  br i1 %c, label %loop, label %end
end:
  ret i32 %t
}
define i32 @in_a_loop.after(i32 %a, i32 %b, i32 %n) {
  br label %loop
loop:
  %sum = phi i32 [ 0, %0 ], [ %1, %loop ]
  %i = phi i32 [ 0, %0 ], [ %j, %loop ]
  %1 = call i32 @norm(i32 %i, i32 %a, i32 %sum)
  %j = add i32 %i, 1
  %c = icmp ult i32 %j, %n
  br i1 %c, label %loop, label %end
end:
  ret i32 %1
}
define i32 @in_two_blocks(i32 %a, i32 %b, i32 %c) {
  %p = mul i32 %a, %a
  %s = add i32 %p, %c
  br label %next
next:
  %q = mul i32 %b, %b
  %r = add i32 %s, %q
  ret i32 %r
}
