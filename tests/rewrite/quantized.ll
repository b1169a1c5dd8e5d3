declare float @llvm.rint.f32(float)
declare float @llvm.roundeven.f32(float)
declare float @llvm.nvvm.div.full(float, float)
declare float @llvm.nvvm.round.f(float)
declare float @llvm.maxnum.f32(float, float)
declare float @llvm.minnum.f32(float, float)
define float @divided(i8 %q) {
  %f = sitofp i8 %q to float
  %d = fmul float %f, 0.0625
  %e = fdiv float %d, 0.0625
  %r = call float @llvm.rint.f32(float %e)
  ret float %r
}
define float @divided.after(i8 %q) {
  %1 = sitofp i8 %q to float
  ret float %1
}
define float @as_triton_does(i8 %q) {
  %f = sitofp i8 %q to float
  %d = fmul float 0.01171875, %f
  %e = call float @llvm.nvvm.div.full(float %d, float 0.01171875)
  %r = call float @llvm.nvvm.round.f(float %e)
  ret float %r
}
define float @as_triton_does.after(i8 %q) {
  %1 = sitofp i8 %q to float
  ret float %1
}
define float @with_a_zero_point(i8 %q) {
  %w = sext i8 %q to i32
  %z = sub nsw i32 %w, 13
  %f = sitofp i32 %z to float
  %d = fmul float %f, 0.0625
  %e = fdiv float %d, 0.0625
  %r = call float @llvm.roundeven.f32(float %e)
  ret float %r
}
define float @with_a_zero_point.after(i8 %q) {
  %w = sext i8 %q to i32
  %z = sub nsw i32 %w, 13
  %1 = sitofp i32 %z to float
  ret float %1
}
define float @by_a_reciprocal(i8 %q) {
  %f = sitofp i8 %q to float
  %d = fmul float %f, 0.0625
  %e = fmul float %d, 16.0
  %r = call float @llvm.rint.f32(float %e)
  ret float %r
}
define float @by_a_reciprocal.after(i8 %q) {
  %1 = sitofp i8 %q to float
  ret float %1
}
define i8 @clamped(i8 %q) {
  %f = sitofp i8 %q to float
  %a = call float @llvm.maxnum.f32(float %f, float -128.0)
  %b = call float @llvm.minnum.f32(float %a, float 127.0)
  %r = fptosi float %b to i8
  ret i8 %r
}
define i8 @clamped.after(i8 %q) {
  ret i8 %q
}
define float @any_scale(i8 %q, float %s) {
  %f = sitofp i8 %q to float
  %d = fmul fast float %f, %s
  %e = fdiv fast float %d, %s
  %r = call fast float @llvm.rint.f32(float %e)
  ret float %r
}
define float @any_scale.after(i8 %q, float %s) {
  %1 = sitofp i8 %q to float
  ret float %1
}
define float @folded(i32 %q) {
  %f = sitofp i32 %q to float
  %d = fmul reassoc float %f, 0.5
  %r = fmul reassoc float %d, 0.75
  ret float %r
}
define float @folded.after(i32 %q) {
  %1 = sitofp i32 %q to float
  %2 = fmul reassoc float %1, 3.750000e-01
  ret float %2
}
define float @folded_with_a_zero_point(i8 %q) {
  %f = sitofp i8 %q to float
  %x = fsub reassoc float %f, 3.0
  %d = fmul reassoc float %x, 0.5
  %r = fdiv reassoc arcp float %d, 2.0
  ret float %r
}
define float @folded_with_a_zero_point.after(i8 %q) {
  %1 = sitofp i8 %q to float
  %2 = fsub reassoc float %1, 3.000000e+00
  %3 = fmul reassoc float %2, 2.500000e-01
  ret float %3
}
;each name two_scales tiny_scale zero_scale infinite_scale,
;and by 0.0625 0x36A0000000000000 0.0 0x7FF0000000000000,
;and again 0.125 0x36A0000000000000 0.0 0x7FF0000000000000
define float @{name}(i8 %q) {
  %f = sitofp i8 %q to float
  %d = fmul float %f, {by}
  %e = fdiv float %d, {again}
  %r = call float @llvm.rint.f32(float %e)
  ret float %r
}
;end
define float @unknown_scale(i8 %q, float %s) {
  %f = sitofp i8 %q to float
  %d = fmul float %f, %s
  %e = fdiv float %d, %s
  %r = call float @llvm.rint.f32(float %e)
  ret float %r
}
define float @wide_word(i32 %q) {
  %f = sitofp i32 %q to float
  %d = fmul float %f, 0.0625
  %e = fdiv float %d, 0.0625
  %r = call float @llvm.rint.f32(float %e)
  ret float %r
}
define float @not_rounded(i8 %q) {
  %f = sitofp i8 %q to float
  %d = fmul float %f, 0.0625
  %e = fdiv float %d, 0.0625
  ret float %e
}
define i8 @clamped_to_less(i8 %q) {
  %f = sitofp i8 %q to float
  %a = call float @llvm.maxnum.f32(float %f, float -100.0)
  %b = call float @llvm.minnum.f32(float %a, float 127.0)
  %r = fptosi float %b to i8
  ret i8 %r
}
define float @not_folded(i32 %q) {
  %f = sitofp i32 %q to float
  %d = fmul reassoc float %f, 0.5
  %r = fmul contract float %d, 0.75
  ret float %r
}
