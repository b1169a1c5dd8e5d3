; A constant is read atomically, and what was read is not used: "propagate" drops that.
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@w = internal addrspace(1) constant [4 x i8] c"\01\02\03\04", align 1

define ptx_kernel void @kernel(ptr addrspace(1) align 4 %a, ptr addrspace(1) align 2 %b, ptr addrspace(1) align 16 %c, ptr addrspace(1) align 4 %d, i32 %n, i64 %m) {
  %x = load atomic i8, ptr addrspace(1) @w monotonic, align 1
  %y = load i8, ptr addrspace(1) %a, align 4
  store i8 %y, ptr addrspace(1) %b, align 2
  ret void
}
