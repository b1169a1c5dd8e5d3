; A copy of bytes of which one is poison: LLVM makes it that of an integer.

declare void @llvm.memmove.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)

define ptx_kernel void @kernel(ptr addrspace(1) align 8 %a, ptr addrspace(1) align 4 %b, ptr addrspace(1) align 2 %c, ptr addrspace(1) %d, i32 %n, i64 %m) {
  %v = lshr exact i32 %n, 18
  store i32 %v, ptr addrspace(1) %d, align 1
  %p = getelementptr i8, ptr addrspace(1) %d, i64 %m
  call void @llvm.memmove.p1.p1.i64(ptr addrspace(1) %a, ptr addrspace(1) %p, i64 4, i1 false)
  ret void
}
