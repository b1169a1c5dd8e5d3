target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@loop = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1
@last = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1
@later = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1

declare void @use(<4 x i8>)

define void @a_row_of_eight_in_two_steps(i32 %row) {
entry:
  %r = zext i32 %row to i64
  %start = shl nuw nsw i64 %r, 3
  br label %loop

loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = add nuw nsw i64 %start, %k
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @loop, i64 %at
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %at, 1
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @loop, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %at, 2
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @loop, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %at, 3
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @loop, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  call void @use(<4 x i8> %v3)
  %next = add nuw nsw i64 %k, 4
  %end = icmp eq i64 %next, 8
  br i1 %end, label %done, label %loop

done:
  ret void
}

define void @a_loop_with_its_last_value(i32 %row) {
entry:
  %r = zext i32 %row to i64
  %start = shl nuw nsw i64 %r, 3
  br label %loop

loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %at = add nuw nsw i64 %start, %k
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @last, i64 %at
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %at, 1
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @last, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %at, 2
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @last, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %at, 3
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @last, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  call void @use(<4 x i8> %v3)
  %next = add nuw nsw i64 %k, 4
  %end = icmp ule i64 %next, 4
  br i1 %end, label %loop, label %done

done:
  ret void
}

define void @a_loop_that_begins_later(i32 %row) {
entry:
  %r = zext i32 %row to i64
  %start = shl nuw nsw i64 %r, 4
  br label %loop

loop:
  %k = phi i64 [ 4, %entry ], [ %next, %loop ]
  %at = add nuw nsw i64 %start, %k
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @later, i64 %at
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %at, 1
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @later, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %at, 2
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @later, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %at, 3
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @later, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  call void @use(<4 x i8> %v3)
  %next = add nuw nsw i64 %k, 4
  %end = icmp ult i64 %next, 12
  br i1 %end, label %loop, label %done

done:
  ret void
}
