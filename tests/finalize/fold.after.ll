define float @f(float %x, ptr %to) {
  %y = fmul float %x, 2.500000e-01
  store i32 67305992, ptr %to, align 4
  ret float %y
}
