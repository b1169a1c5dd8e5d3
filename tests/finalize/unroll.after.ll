target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %b = load i8, ptr addrspace(1) %in, align 1
  %x = sext i8 %b to i32
  %m = mul nsw i32 %x, %x
  %p.1 = getelementptr i8, ptr addrspace(1) %in, i64 1
  %b.1 = load i8, ptr addrspace(1) %p.1, align 1
  %x.1 = sext i8 %b.1 to i32
  %m.1 = mul nsw i32 %x.1, %x.1
  %new.1 = add nuw nsw i32 %m, %m.1
  %p.2 = getelementptr i8, ptr addrspace(1) %in, i64 2
  %b.2 = load i8, ptr addrspace(1) %p.2, align 1
  %x.2 = sext i8 %b.2 to i32
  %m.2 = mul nsw i32 %x.2, %x.2
  %new.2 = add nuw nsw i32 %new.1, %m.2
  store i32 %new.2, ptr addrspace(1) %out, align 4
  ret void
}
