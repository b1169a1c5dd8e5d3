target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@columns = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1
@rows = internal addrspace(1) constant [4 x [8 x i8]] [[8 x i8] c"\00\01\02\03\04\05\06\07", [8 x i8] c"\08\09\0A\0B\0C\0D\0E\0F", [8 x i8] c"\10\11\12\13\14\15\16\17", [8 x i8] c"\18\19\1A\1B\1C\1D\1E\1F"]
@later = internal addrspace(1) constant [20 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13"
@vectors = internal addrspace(1) constant [16 x i32] [i32 50462976, i32 117835012, i32 185207048, i32 252579084, i32 319951120, i32 387323156, i32 454695192, i32 522067228, i32 589439264, i32 656811300, i32 724183336, i32 791555372, i32 858927408, i32 926299444, i32 993671480, i32 1061043516]

define { <4 x i8>, <4 x i8> } @columns_become_words(i32 %row) {
  %r = zext i32 %row to i64
  %ap0 = getelementptr inbounds i8, ptr addrspace(1) @columns, i64 %r
  %ab0 = load i8, ptr addrspace(1) %ap0, align 1
  %ai1 = add nuw nsw i64 %r, 4
  %ap1 = getelementptr inbounds i8, ptr addrspace(1) @columns, i64 %ai1
  %ab1 = load i8, ptr addrspace(1) %ap1, align 1
  %ai2 = add nuw nsw i64 %r, 8
  %ap2 = getelementptr inbounds i8, ptr addrspace(1) @columns, i64 %ai2
  %ab2 = load i8, ptr addrspace(1) %ap2, align 1
  %ai3 = add nuw nsw i64 %r, 12
  %ap3 = getelementptr inbounds i8, ptr addrspace(1) @columns, i64 %ai3
  %ab3 = load i8, ptr addrspace(1) %ap3, align 1
  %av0 = insertelement <4 x i8> poison, i8 %ab0, i32 0
  %av1 = insertelement <4 x i8> %av0, i8 %ab1, i32 1
  %av2 = insertelement <4 x i8> %av1, i8 %ab2, i32 2
  %av3 = insertelement <4 x i8> %av2, i8 %ab3, i32 3
  %bi0 = add nuw nsw i64 %r, 16
  %bp0 = getelementptr inbounds i8, ptr addrspace(1) @columns, i64 %bi0
  %bb0 = load i8, ptr addrspace(1) %bp0, align 1
  %bi1 = add nuw nsw i64 %r, 20
  %bp1 = getelementptr inbounds i8, ptr addrspace(1) @columns, i64 %bi1
  %bb1 = load i8, ptr addrspace(1) %bp1, align 1
  %bi2 = add nuw nsw i64 %r, 24
  %bp2 = getelementptr inbounds i8, ptr addrspace(1) @columns, i64 %bi2
  %bb2 = load i8, ptr addrspace(1) %bp2, align 1
  %bi3 = add nuw nsw i64 %r, 28
  %bp3 = getelementptr inbounds i8, ptr addrspace(1) @columns, i64 %bi3
  %bb3 = load i8, ptr addrspace(1) %bp3, align 1
  %bv0 = insertelement <4 x i8> poison, i8 %bb0, i32 0
  %bv1 = insertelement <4 x i8> %bv0, i8 %bb1, i32 1
  %bv2 = insertelement <4 x i8> %bv1, i8 %bb2, i32 2
  %bv3 = insertelement <4 x i8> %bv2, i8 %bb3, i32 3
  %x = insertvalue { <4 x i8>, <4 x i8> } poison, <4 x i8> %av3, 0
  %y = insertvalue { <4 x i8>, <4 x i8> } %x, <4 x i8> %bv3, 1
  ret { <4 x i8>, <4 x i8> } %y
}

define <4 x i8> @every_other_byte_of_a_row(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds [4 x [8 x i8]], ptr addrspace(1) @rows, i64 0, i64 %r, i64 1
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %p1 = getelementptr inbounds [4 x [8 x i8]], ptr addrspace(1) @rows, i64 0, i64 %r, i64 3
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %p2 = getelementptr inbounds [4 x [8 x i8]], ptr addrspace(1) @rows, i64 0, i64 %r, i64 5
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %p3 = getelementptr inbounds [4 x [8 x i8]], ptr addrspace(1) @rows, i64 0, i64 %r, i64 7
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define <4 x i8> @a_word_that_begins_later(i32 %row) {
  %r = zext i32 %row to i64
  %i0 = add nuw nsw i64 %r, 4
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @later, i64 %i0
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 8
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @later, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 12
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @later, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 16
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @later, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define <4 x i32> @two_rows_of_vectors(i32 %row) {
  %r = zext i32 %row to i64
  %p = getelementptr inbounds [8 x i32], ptr addrspace(1) @vectors, i64 %r
  %x = load <4 x i32>, ptr addrspace(1) %p, align 4
  %q = getelementptr inbounds i8, ptr addrspace(1) %p, i64 16
  %y = load <4 x i32>, ptr addrspace(1) %q, align 4
  %z = add <4 x i32> %x, %y
  ret <4 x i32> %z
}
