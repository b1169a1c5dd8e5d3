; A store between the bytes of a word: they are not read at once.

define ptx_kernel void @kernel(ptr addrspace(1) align 4 %a, ptr addrspace(1) %b, ptr addrspace(1) align 4 %c, ptr addrspace(1) %d, i32 %n, i64 %m) {
  %pa0 = getelementptr i8, ptr addrspace(1) %a, i64 0
  %ba0 = load i8, ptr addrspace(1) %pa0
  %ea0 = sext i8 %ba0 to i32
  %pc0 = getelementptr i8, ptr addrspace(1) %c, i64 0
  %bc0 = load i8, ptr addrspace(1) %pc0
  %ec0 = sext i8 %bc0 to i32
  %m0 = mul i32 %ea0, %ec0
  %s0 = add i32 0, %m0
  %pa1 = getelementptr i8, ptr addrspace(1) %a, i64 1
  %ba1 = load i8, ptr addrspace(1) %pa1
  %ea1 = sext i8 %ba1 to i32
  %pc1 = getelementptr i8, ptr addrspace(1) %c, i64 1
  %bc1 = load i8, ptr addrspace(1) %pc1
  %ec1 = sext i8 %bc1 to i32
  store i32 %n, ptr addrspace(1) %c, align 4
  %m1 = mul i32 %ea1, %ec1
  %s1 = add i32 %s0, %m1
  %pa2 = getelementptr i8, ptr addrspace(1) %a, i64 2
  %ba2 = load i8, ptr addrspace(1) %pa2
  %ea2 = sext i8 %ba2 to i32
  %pc2 = getelementptr i8, ptr addrspace(1) %c, i64 2
  %bc2 = load i8, ptr addrspace(1) %pc2
  %ec2 = sext i8 %bc2 to i32
  %m2 = mul i32 %ea2, %ec2
  %s2 = add i32 %s1, %m2
  %pa3 = getelementptr i8, ptr addrspace(1) %a, i64 3
  %ba3 = load i8, ptr addrspace(1) %pa3
  %ea3 = sext i8 %ba3 to i32
  %pc3 = getelementptr i8, ptr addrspace(1) %c, i64 3
  %bc3 = load i8, ptr addrspace(1) %pc3
  %ec3 = sext i8 %bc3 to i32
  %m3 = mul i32 %ea3, %ec3
  %s3 = add i32 %s2, %m3
  %o = getelementptr i8, ptr addrspace(1) %c, i64 8
  store i32 %s3, ptr addrspace(1) %o, align 4
  ret void
}
