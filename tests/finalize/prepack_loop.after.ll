target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@loop.packed = internal addrspace(1) constant [8 x i32] [i32 50462976, i32 185207048, i32 319951120, i32 454695192, i32 117835012, i32 252579084, i32 387323156, i32 522067228], align 16
@last.packed = internal addrspace(1) constant [8 x i32] [i32 50462976, i32 185207048, i32 319951120, i32 454695192, i32 117835012, i32 252579084, i32 387323156, i32 522067228], align 16
@later.packed = internal addrspace(1) constant [4 x i32] [i32 117835012, i32 387323156, i32 185207048, i32 454695192], align 16

declare void @use(<4 x i8>)

define void @a_row_of_eight_in_two_steps(i32 %row) {
entry:
  %r = zext i32 %row to i64
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %0 = add i64 %k, %r
  %1 = getelementptr inbounds i32, ptr addrspace(1) @loop.packed, i64 %0
  %2 = load <4 x i8>, ptr addrspace(1) %1, align 4
  call void @use(<4 x i8> %2)
  %next = add nuw nsw i64 %k, 4
  %end = icmp eq i64 %next, 8
  br i1 %end, label %done, label %loop

done:                                             ; preds = %loop
  ret void
}

define void @a_loop_with_its_last_value(i32 %row) {
entry:
  %r = zext i32 %row to i64
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %0 = add i64 %k, %r
  %1 = getelementptr inbounds i32, ptr addrspace(1) @last.packed, i64 %0
  %2 = load <4 x i8>, ptr addrspace(1) %1, align 4
  call void @use(<4 x i8> %2)
  %next = add nuw nsw i64 %k, 4
  %end = icmp ule i64 %next, 4
  br i1 %end, label %loop, label %done

done:                                             ; preds = %loop
  ret void
}

define void @a_loop_that_begins_later(i32 %row) {
entry:
  %r = zext i32 %row to i64
  br label %loop

loop:                                             ; preds = %loop, %entry
  %k = phi i64 [ 4, %entry ], [ %next, %loop ]
  %0 = sub i64 %k, 4
  %1 = udiv exact i64 %0, 4
  %2 = mul i64 %1, 2
  %3 = add i64 %2, %r
  %4 = getelementptr inbounds i32, ptr addrspace(1) @later.packed, i64 %3
  %5 = load <4 x i8>, ptr addrspace(1) %4, align 4
  call void @use(<4 x i8> %5)
  %next = add nuw nsw i64 %k, 4
  %end = icmp ult i64 %next, 12
  br i1 %end, label %loop, label %done

done:                                             ; preds = %loop
  ret void
}
