; LLVM merged these stores, and dropped the volatile one.

define ptx_kernel void @kernel(ptr addrspace(1) align 4 %a, ptr addrspace(1) %b, ptr addrspace(1) %c, ptr addrspace(1) align 16 %d, i32 %n, i64 %m) {
  %p = getelementptr inbounds i8, ptr addrspace(1) %d, i64 12
  store i32 146, ptr addrspace(1) %p, align 1
  store volatile i16 47, ptr addrspace(1) %p, align 1
  ret void
}
