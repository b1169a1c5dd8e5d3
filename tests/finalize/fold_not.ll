; What may be written, is volatile, or stands at an index that is not known.
@written = internal addrspace(1) global [2 x float] [float 5.000000e-01, float 2.500000e-01]
@scales = internal addrspace(1) constant [2 x float] [float 5.000000e-01, float 2.500000e-01]
@weak = weak addrspace(1) constant float 5.000000e-01

define float @f(i64 %i) {
  %a = load float, ptr addrspace(1) @written, align 4
  store float 1.000000e+00, ptr addrspace(1) @written, align 4
  %b = load volatile float, ptr addrspace(1) @scales, align 4
  %p = getelementptr float, ptr addrspace(1) @scales, i64 %i
  %c = load float, ptr addrspace(1) %p, align 4
  %d = load float, ptr addrspace(1) @weak, align 4
  %x = fadd float %a, %b
  %y = fadd float %c, %d
  %z = fadd float %x, %y
  ret float %z
}
