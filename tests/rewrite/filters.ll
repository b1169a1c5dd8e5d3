define i32 @rem(i32 %a) {
  %r = urem i32 %a, 64
  ret i32 %r
}
define i32 @rem.after(i32 %a) {
  %1 = and i32 %a, 63
  ret i32 %1
}
define i32 @rem_by_six(i32 %a) {
  %r = urem i32 %a, 6
  ret i32 %r
}
define i32 @rem_by_zero(i32 %a) {
  %r = urem i32 %a, 0
  ret i32 %r
}
define i32 @rem_by_some(i32 %a, i32 %b) {
  %r = urem i32 %a, %b
  ret i32 %r
}
define i32 @quarter(i16 %a) {
  %w = zext i16 %a to i32
  %r = sdiv i32 %w, 4
  ret i32 %r
}
define i32 @quarter.after(i16 %a) {
  %w = zext i16 %a to i32
  %1 = lshr i32 %w, 2
  ret i32 %1
}
define i32 @quarter_of_a_mask(i32 %a) {
  %w = and i32 %a, 1000
  %r = sdiv i32 %w, 4
  ret i32 %r
}
define i32 @quarter_of_a_mask.after(i32 %a) {
  %w = and i32 %a, 1000
  %1 = lshr i32 %w, 2
  ret i32 %1
}
define i32 @quarter_with_a_sign(i16 %a) {
  %w = sext i16 %a to i32
  %r = sdiv i32 %w, 4
  ret i32 %r
}
define i32 @quarter_of_what_is_not_shifted(i32 %a) {
  %n = lshr i32 %a, 0
  %r = sdiv i32 %n, 4
  ret i32 %r
}

define i32 @quarter_of_anything(i32 %a) {
  %r = sdiv i32 %a, 4
  ret i32 %r
}
define i32 @low(i32 %a) {
  %s = lshr i32 %a, 28
  %r = and i32 %s, 15
  ret i32 %r
}
define i32 @low.after(i32 %a) {
  %s = lshr i32 %a, 28
  ret i32 %s
}
define i32 @not_so_low(i32 %a) {
  %s = lshr i32 %a, 27
  %r = and i32 %s, 15
  ret i32 %r
}
define i32 @low_but_with_a_sign(i32 %a) {
  %s = ashr i32 %a, 28
  %r = and i32 %s, 15
  ret i32 %r
}
define i32 @signs(i8 %a) {
  %w = sext i8 %a to i32
  %d = sub i32 %w, 128
  %s = shl i32 %d, 23
  %r = ashr i32 %s, 23
  ret i32 %r
}
define i32 @signs.after(i8 %a) {
  %w = sext i8 %a to i32
  %d = sub i32 %w, 128
  ret i32 %d
}
define i32 @signs_one_too_far(i8 %a) {
  %w = sext i8 %a to i32
  %d = sub i32 %w, 129
  %s = shl i32 %d, 23
  %r = ashr i32 %s, 23
  ret i32 %r
}
define i32 @signs_of_a_sum(i8 %a, i8 %b) {
  %v = sext i8 %a to i32
  %w = sext i8 %b to i32
  %d = add i32 %v, %w
  %s = shl i32 %d, 23
  %r = ashr i32 %s, 23
  ret i32 %r
}
define i32 @signs_of_a_sum.after(i8 %a, i8 %b) {
  %v = sext i8 %a to i32
  %w = sext i8 %b to i32
  %d = add i32 %v, %w
  ret i32 %d
}
define i32 @fixed(i32 %a) {
  %s = xor i32 %a, 77
  %r = xor i32 %s, 77
  ret i32 %r
}
define i32 @fixed.after(i32 %a) {
  ret i32 %a
}
define i32 @fixed_by_two(i32 %a) {
  %s = xor i32 %a, 77
  %r = xor i32 %s, 78
  ret i32 %r
}
define i32 @not_fixed(i32 %a, i32 %b) {
  %s = xor i32 %a, %b
  %r = xor i32 %s, %b
  ret i32 %r
}
define i32 @undefined(i32 %a) {
  %s = xor i32 %a, undef
  %r = xor i32 %s, undef
  ret i32 %r
}
define float @scale(float %a) {
  %n = fneg float %a
  %r = fmul float %n, 1.5
  ret float %r
}
define float @scale.after(float %a) {
  %1 = fmul float %a, -1.5
  ret float %1
}
define float @scale_too_much(float %a) {
  %n = fneg float %a
  %r = fmul float %n, 2.5
  ret float %r
}
define float @scale_by_nan(float %a) {
  %n = fneg float %a
  %r = fmul float %n, 0x7FF8000000000000
  ret float %r
}
define float @inverse(float %a) {
  %p = fmul fast float %a, 4.0
  %r = fmul fast float %p, 0.25
  ret float %r
}
define float @inverse.after(float %a) {
  ret float %a
}
define float @not_quite_the_inverse(float %a) {
  %p = fmul fast float %a, 4.0
  %r = fmul fast float %p, 0.2578125
  ret float %r
}
define i32 @quarter_of_what_may_wrap(i32 %a, i32 %b) {
  %v = lshr i32 %a, 1
  %w = lshr i32 %b, 1
  %s = add i32 %v, %w
  %r = sdiv i32 %s, 4
  ret i32 %r
}
define i32 @quarter_of_what_may_not(i32 %a, i32 %b) {
  %v = lshr i32 %a, 2
  %w = lshr i32 %b, 2
  %s = add i32 %v, %w
  %r = sdiv i32 %s, 4
  ret i32 %r
}
define i32 @quarter_of_what_may_not.after(i32 %a, i32 %b) {
  %v = lshr i32 %a, 2
  %w = lshr i32 %b, 2
  %s = add i32 %v, %w
  %1 = lshr i32 %s, 2
  ret i32 %1
}
define i32 @once(i32 %a) {
  %r = mul i32 %a, 1
  ret i32 %r
}
define i32 @once.after(i32 %a) {
  ret i32 %a
}
