target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

define ptx_kernel void @kernel(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  br label %loop

loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %new, %loop ]
  %p = getelementptr i8, ptr addrspace(1) %in, i64 %k
  %b = load i8, ptr addrspace(1) %p, align 1
  %x = sext i8 %b to i32
  %new = add i32 %sum, %x
  %next = add nuw nsw i64 %k, 1
  %end = icmp eq i64 %next, 3
  br i1 %end, label %done, label %loop

done:
  store i32 %new, ptr addrspace(1) %out, align 4
  ret void
}
