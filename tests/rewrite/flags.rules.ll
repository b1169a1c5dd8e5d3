define i32 @undo.pattern(i32 %x, i32 %y) #0 {
  %p = mul nsw i32 %x, %y
  %r = sdiv i32 %p, %y
  ret i32 %r
}
define i32 @undo.replacement(i32 %x, i32 %y) {
  ret i32 %x
}
define i32 @even.pattern(i32 %x) #0 {
  %p = lshr exact i32 %x, 1
  %r = shl i32 %p, 1
  ret i32 %r
}
define i32 @even.replacement(i32 %x) {
  ret i32 %x
}
define float @never.pattern(float %x) #0 {
  %c = fcmp nnan uno float %x, 0.0
  %r = select i1 %c, float 0.0, float %x
  ret float %r
}
define float @never.replacement(float %x) {
  ret float %x
}
define float @scales.pattern(float %x, float "tkb.constant" %c, float "tkb.constant" %d) #1 {
  %p = fmul reassoc float %x, %c
  %r = fmul reassoc float %p, %d
  ret float %r
}
define float @scales.replacement(float %x, float %c, float %d) {
  %p = fmul float %c, %d
  %r = fmul float %x, %p
  ret float %r
}
attributes #0 = { "tkb.rule"="exact" }
attributes #1 = { "tkb.rule"="fast" }
