target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %x = load i32, ptr addrspace(1) %in, align 4
  %p.1 = getelementptr i8, ptr addrspace(1) %in, i64 4
  %x.1 = load i32, ptr addrspace(1) %p.1, align 4
  %new.1 = add i32 %x, %x.1
  %p.2 = getelementptr i8, ptr addrspace(1) %in, i64 8
  %x.2 = load i32, ptr addrspace(1) %p.2, align 4
  %new.2 = add i32 %new.1, %x.2
  %p.3 = getelementptr i8, ptr addrspace(1) %in, i64 12
  %x.3 = load i32, ptr addrspace(1) %p.3, align 4
  %new.3 = add i32 %new.2, %x.3
  store i32 %new.3, ptr addrspace(1) %out, align 4
  ret void
}
