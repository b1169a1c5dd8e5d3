; Products whose factors overlap: a1 * a3 fits two lanes of a word.

define ptx_kernel void @kernel(ptr addrspace(1) align 16 %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) %d, i32 %n, i64 %m) {
  %p0 = getelementptr i8, ptr addrspace(1) %a, i64 0
  %b0 = load i8, ptr addrspace(1) %p0
  %e0 = sext i8 %b0 to i32
  %p1 = getelementptr i8, ptr addrspace(1) %a, i64 1
  %b1 = load i8, ptr addrspace(1) %p1
  %e1 = sext i8 %b1 to i32
  %p2 = getelementptr i8, ptr addrspace(1) %a, i64 2
  %b2 = load i8, ptr addrspace(1) %p2
  %e2 = sext i8 %b2 to i32
  %p3 = getelementptr i8, ptr addrspace(1) %a, i64 3
  %b3 = load i8, ptr addrspace(1) %p3
  %e3 = sext i8 %b3 to i32
  %p4 = getelementptr i8, ptr addrspace(1) %a, i64 4
  %b4 = load i8, ptr addrspace(1) %p4
  %e4 = sext i8 %b4 to i32
  %p5 = getelementptr i8, ptr addrspace(1) %a, i64 5
  %b5 = load i8, ptr addrspace(1) %p5
  %e5 = sext i8 %b5 to i32
  %m0 = mul i32 %e0, %e2
  %s0 = add i32 0, %m0
  %m1 = mul i32 %e1, %e3
  %s1 = add i32 %s0, %m1
  %m2 = mul i32 %e2, %e4
  %s2 = add i32 %s1, %m2
  %m3 = mul i32 %e3, %e5
  %s3 = add i32 %s2, %m3
  store i32 %s3, ptr addrspace(1) %c, align 1
  ret void
}
