target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

define <4 x i8> @aligned_bytes(ptr addrspace(1) %p) {
  %b0 = load i8, ptr addrspace(1) %p, align 4
  %p1 = getelementptr i8, ptr addrspace(1) %p, i64 1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %p2 = getelementptr i8, ptr addrspace(1) %p, i64 2
  %b2 = load i8, ptr addrspace(1) %p2, align 2
  %p3 = getelementptr i8, ptr addrspace(1) %p, i64 3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v2 = insertelement <4 x i8> poison, i8 %b2, i32 2
  %v0 = insertelement <4 x i8> %v2, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v3 = insertelement <4 x i8> %v1, i8 %b3, i32 3
  ret <4 x i8> %v3
}
