target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@rows = internal addrspace(1) constant [64 x float] [float 0.0, float 1.0, float 2.0, float 3.0, float 4.0, float 5.0, float 6.0, float 7.0, float 8.0, float 9.0, float 10.0, float 11.0, float 12.0, float 13.0, float 14.0, float 15.0, float 16.0, float 17.0, float 18.0, float 19.0, float 20.0, float 21.0, float 22.0, float 23.0, float 24.0, float 25.0, float 26.0, float 27.0, float 28.0, float 29.0, float 30.0, float 31.0, float 32.0, float 33.0, float 34.0, float 35.0, float 36.0, float 37.0, float 38.0, float 39.0, float 40.0, float 41.0, float 42.0, float 43.0, float 44.0, float 45.0, float 46.0, float 47.0, float 48.0, float 49.0, float 50.0, float 51.0, float 52.0, float 53.0, float 54.0, float 55.0, float 56.0, float 57.0, float 58.0, float 59.0, float 60.0, float 61.0, float 62.0, float 63.0], align 16
@columns = internal addrspace(1) constant [64 x float] [float 0.0, float 1.0, float 2.0, float 3.0, float 4.0, float 5.0, float 6.0, float 7.0, float 8.0, float 9.0, float 10.0, float 11.0, float 12.0, float 13.0, float 14.0, float 15.0, float 16.0, float 17.0, float 18.0, float 19.0, float 20.0, float 21.0, float 22.0, float 23.0, float 24.0, float 25.0, float 26.0, float 27.0, float 28.0, float 29.0, float 30.0, float 31.0, float 32.0, float 33.0, float 34.0, float 35.0, float 36.0, float 37.0, float 38.0, float 39.0, float 40.0, float 41.0, float 42.0, float 43.0, float 44.0, float 45.0, float 46.0, float 47.0, float 48.0, float 49.0, float 50.0, float 51.0, float 52.0, float 53.0, float 54.0, float 55.0, float 56.0, float 57.0, float 58.0, float 59.0, float 60.0, float 61.0, float 62.0, float 63.0], align 16

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

;each table rows columns, row 8 1, step 1 8
define ptx_kernel void @by_{table}(ptr addrspace(1) %out) {
begin:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %start = shl nsw i32 %block, 2
  %row = add nsw i32 %start, %thread
  %first = mul nsw i32 %row, {row}
  br label %loop
loop:
  %k = phi i32 [ 0, %begin ], [ %next, %loop ]
  %sum = phi float [ 0.0, %begin ], [ %s3, %loop ]
;each k 0..3, last %sum %s0..2
  %k{k} = add nuw nsw i32 %k, {k}
  %o{k} = mul nuw nsw i32 %k{k}, {step}
  %at{k} = add nsw i32 %o{k}, %first
  %w{k} = sext i32 %at{k} to i64
  %p{k} = getelementptr float, ptr addrspace(1) @{table}, i64 %w{k}
  %a{k} = load float, ptr addrspace(1) %p{k}, align 4
  %s{k} = fadd float {last}, %a{k}
;end
  %next = add nuw nsw i32 %k, 4
  %end = icmp eq i32 %next, 8
  br i1 %end, label %done, label %loop
done:
  %to = getelementptr float, ptr addrspace(1) %out, i32 %row
  store float %s3, ptr addrspace(1) %to, align 4
  ret void
}

;end
