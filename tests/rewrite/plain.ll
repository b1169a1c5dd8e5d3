define i32 @eight(i32 %a) {
  %r = mul i32 %a, 8
  ret i32 %r
}
define i32 @eight.after(i32 %a) {
  %1 = shl i32 %a, 3
  ret i32 %1
}
define i32 @eight_in_front(i32 %a) {
  %r = mul nsw i32 8, %a
  ret i32 %r
}
define i32 @eight_in_front.after(i32 %a) {
  %1 = shl i32 %a, 3
  ret i32 %1
}
define i32 @nine(i32 %a) {
  %r = mul i32 %a, 9
  ret i32 %r
}
define i64 @wide(i64 %a) {
  %r = mul i64 %a, 8
  ret i64 %r
}
define i32 @added(i32 %a) {
  %r = add i32 %a, 8
  ret i32 %r
}
;each n 1..4, a a b a b, b b a b a, c o o a a, d a a o o
define i32 @absorb_{n}(i32 %a, i32 %b) {
  %o = or i32 %{a}, %{b}
  %r = and i32 %{c}, %{d}
  ret i32 %r
}
define i32 @absorb_{n}.after(i32 %a, i32 %b) {
  ret i32 %a
}
;end
define i32 @absorbs_another(i32 %a, i32 %b, i32 %c) {
  %o = or i32 %a, %b
  %r = and i32 %o, %c
  ret i32 %r
}
define i32 @back(i32 %a, i32 %b) {
  %s = add i32 %b, %a
  %r = sub i32 %s, %b
  ret i32 %r
}
define i32 @back.after(i32 %a, i32 %b) {
  ret i32 %a
}
define i32 @back_by_another(i32 %a, i32 %b, i32 %c) {
  %s = add i32 %a, %b
  %r = sub i32 %s, %c
  ret i32 %r
}
define i32 @sub_is_not_commutative(i32 %a, i32 %b) {
  %s = add i32 %a, %b
  %r = sub i32 %b, %s
  ret i32 %r
}
define i1 @greater(i32 %a) {
  %s = sub i32 %a, 1
  %r = icmp ugt i32 %a, %s
  ret i1 %r
}
define i1 @greater.after(i32 %a) {
  %1 = icmp ne i32 %a, 0
  ret i1 %1
}
define i1 @less_the_other_way(i32 %a) {
  %s = sub i32 %a, 1
  %r = icmp ult i32 %s, %a
  ret i1 %r
}
define i1 @less_the_other_way.after(i32 %a) {
  %1 = icmp ne i32 %a, 0
  ret i1 %1
}
define i1 @greater_the_other_way(i32 %a) {
  %s = sub i32 %a, 1
  %r = icmp ugt i32 %s, %a
  ret i1 %r
}
define i1 @greater_with_a_sign(i32 %a) {
  %s = sub i32 %a, 1
  %r = icmp sgt i32 %a, %s
  ret i1 %r
}
define i8 @element(<2 x i8> %v, i8 %a) {
  %w = insertelement <2 x i8> %v, i8 %a, i64 1
  %r = extractelement <2 x i8> %w, i8 1
  ret i8 %r
}
define i8 @element.after(<2 x i8> %v, i8 %a) {
  ret i8 %a
}
define i8 @other_element(<2 x i8> %v, i8 %a) {
  %w = insertelement <2 x i8> %v, i8 %a, i64 1
  %r = extractelement <2 x i8> %w, i64 0
  ret i8 %r
}
define i32 @in_another_block(i32 %a, i32 %b) {
  %o = or i32 %a, %b
  br label %next
next:
  %r = and i32 %o, %a
  ret i32 %r
}
define i32 @again_and_again(i32 %a, i32 %b) {
  %o = or i32 %a, %b
  %p = and i32 %o, %a
  %s = add i32 %p, %b
  %t = sub i32 %s, %b
  %r = mul i32 %t, 8
  ret i32 %r
}
define i32 @again_and_again.after(i32 %a, i32 %b) {
  %1 = shl i32 %a, 3
  ret i32 %1
}
define i32 @only_after_another(i32 %a) {
  %s = mul i32 %a, 8
  %r = lshr i32 %s, 3
  ret i32 %r
}
define i32 @only_after_another.after(i32 %a) {
  %1 = and i32 %a, 536870911
  ret i32 %1
}
