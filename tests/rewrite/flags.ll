define i32 @undo(i32 %a, i32 %b) {
  %p = mul nuw nsw i32 %a, %b
  %r = sdiv i32 %p, %b
  ret i32 %r
}
define i32 @undo.after(i32 %a, i32 %b) {
  ret i32 %a
}
define i32 @undo_what_wraps(i32 %a, i32 %b) {
  %p = mul i32 %a, %b
  %r = sdiv i32 %p, %b
  ret i32 %r
}
define i32 @undo_what_does_not_without_a_sign(i32 %a, i32 %b) {
  %p = mul nuw i32 %a, %b
  %r = sdiv i32 %p, %b
  ret i32 %r
}
define i32 @even(i32 %a) {
  %p = lshr exact i32 %a, 1
  %r = shl nuw i32 %p, 1
  ret i32 %r
}
define i32 @even.after(i32 %a) {
  ret i32 %a
}
define i32 @odd(i32 %a) {
  %p = lshr i32 %a, 1
  %r = shl nuw i32 %p, 1
  ret i32 %r
}
define float @never(float %a) {
  %c = fcmp nnan ninf uno float %a, 0.0
  %r = select i1 %c, float 0.0, float %a
  ret float %r
}
define float @never.after(float %a) {
  ret float %a
}
define float @perhaps(float %a) {
  %c = fcmp ninf uno float %a, 0.0
  %r = select i1 %c, float 0.0, float %a
  ret float %r
}
define float @scales(float %a) {
  %p = fmul nnan ninf reassoc contract float %a, 3.0
  %r = fmul nnan ninf nsz reassoc contract float %p, 5.0
  ret float %r
}
define float @scales.after(float %a) {
  %1 = fmul reassoc contract float %a, 1.5e1
  ret float %1
}
define float @scales_half_allowed(float %a) {
  %p = fmul contract float %a, 3.0
  %r = fmul reassoc float %p, 5.0
  ret float %r
}
define float @scales_not_allowed(float %a) {
  %p = fmul float %a, 3.0
  %r = fmul float %p, 5.0
  ret float %r
}
