@scales = internal addrspace(1) constant [2 x float] [float 5.000000e-01, float 2.500000e-01]
@mixed = internal constant { i8, i32 } { i8 1, i32 7 }
@words = internal addrspace(4) constant [4 x i8] c"\01\02\03\04"

define float @f(float %x, ptr %to) {
  %s = load float, ptr addrspace(1) getelementptr inbounds nuw (i8, ptr addrspace(1) @scales, i64 4), align 4
  %y = fmul float %x, %s
  %i = load i32, ptr getelementptr inbounds nuw (i8, ptr @mixed, i64 4), align 4
  %w = load i32, ptr addrspace(4) @words, align 4
  %z = add i32 %i, %w
  store i32 %z, ptr %to, align 4
  ret float %y
}
