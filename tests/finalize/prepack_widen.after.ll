target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

define <4 x i8> @aligned_bytes(ptr addrspace(1) %p) {
  %1 = load <4 x i8>, ptr addrspace(1) %p, align 4
  ret <4 x i8> %1
}
