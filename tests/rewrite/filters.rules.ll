define i32 @rem.pattern(i32 %x, i32 "tkb.power-of-two" %c) #0 {
  %r = urem i32 %x, %c
  ret i32 %r
}
define i32 @rem.replacement(i32 %x, i32 %c) {
  %m = sub i32 %c, 1
  %r = and i32 %x, %m
  ret i32 %r
}
define i32 @quarter.pattern(i32 "tkb.non-negative" %x) #0 {
  %r = sdiv i32 %x, 4
  ret i32 %r
}
define i32 @quarter.replacement(i32 %x) {
  %r = lshr i32 %x, 2
  ret i32 %r
}
define i32 @low.pattern(i32 "tkb.range"="0,15" %x) #0 {
  %r = and i32 %x, 15
  ret i32 %r
}
define i32 @low.replacement(i32 %x) {
  ret i32 %x
}
define i32 @signs.pattern(i32 "tkb.range"="-256,255" %x) #0 {
  %s = shl i32 %x, 23
  %r = ashr i32 %s, 23
  ret i32 %r
}
define i32 @signs.replacement(i32 %x) {
  ret i32 %x
}
define i32 @fixed.pattern(i32 %x, i32 "tkb.constant" %c) #0 {
  %s = xor i32 %x, %c
  %r = xor i32 %s, %c
  ret i32 %r
}
define i32 @fixed.replacement(i32 %x, i32 %c) {
  ret i32 %x
}
define float @scale.pattern(float %x, float "tkb.magnitude"="0.5,2.0" %c) #0 {
  %n = fneg float %x
  %r = fmul float %n, %c
  ret float %r
}
define float @scale.replacement(float %x, float %c) {
  %n = fneg float %c
  %r = fmul float %x, %n
  ret float %r
}
define float @inverse.pattern(float %x, float "tkb.constant" %c, float "tkb.reciprocal-of"="1" %d) #1 {
  %p = fmul reassoc float %x, %c
  %r = fmul reassoc float %p, %d
  ret float %r
}
define float @inverse.replacement(float %x, float %c, float %d) {
  ret float %x
}
define i32 @once.pattern(i32 %x, i32 "tkb.constant" "tkb.range"="1,1" %c) #0 {
  %r = mul i32 %x, %c
  ret i32 %r
}
define i32 @once.replacement(i32 %x, i32 %c) {
  ret i32 %x
}
attributes #0 = { "tkb.rule"="exact" }
attributes #1 = { "tkb.rule"="fast" }
