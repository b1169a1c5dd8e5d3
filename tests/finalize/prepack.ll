target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@columns = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1
@rows = internal addrspace(1) constant [4 x [8 x i8]] [[8 x i8] c"\00\01\02\03\04\05\06\07", [8 x i8] c"\08\09\0A\0B\0C\0D\0E\0F", [8 x i8] c"\10\11\12\13\14\15\16\17", [8 x i8] c"\18\19\1A\1B\1C\1D\1E\1F"]
@later = internal addrspace(1) constant [20 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13"
@vectors = internal addrspace(1) constant [16 x i32] [i32 50462976, i32 117835012, i32 185207048, i32 252579084, i32 319951120, i32 387323156, i32 454695192, i32 522067228, i32 589439264, i32 656811300, i32 724183336, i32 791555372, i32 858927408, i32 926299444, i32 993671480, i32 1061043516]

;part byte
  %i{k} = add nuw nsw i64 %r, {at}
  %p{k} = getelementptr inbounds i8, ptr addrspace(1) @{table}, i64 %i{k}
  %b{k} = load i8, ptr addrspace(1) %p{k}, align 1
;end
;part vector
;each k 0..3, last poison %v0..2
  %v{k} = insertelement <4 x i8> {last}, i8 %b{k}, i32 {k}
;end
;end

define { <4 x i8>, <4 x i8> } @columns_become_words(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @columns, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
;use byte k 1..3, at 4..12/4, table columns
;use vector
;use byte k 4..7, at 16..28/4, table columns
;each k 4..7, lane 0..3, last poison %v4..6
  %v{k} = insertelement <4 x i8> {last}, i8 %b{k}, i32 {lane}
;end
  %x = insertvalue { <4 x i8>, <4 x i8> } poison, <4 x i8> %v3, 0
  %y = insertvalue { <4 x i8>, <4 x i8> } %x, <4 x i8> %v7, 1
  ret { <4 x i8>, <4 x i8> } %y
}

define <4 x i8> @every_other_byte_of_a_row(i32 %row) {
  %r = zext i32 %row to i64
;each k 0..3, at 1..7/2
  %p{k} = getelementptr inbounds [4 x [8 x i8]], ptr addrspace(1) @rows, i64 0, i64 %r, i64 {at}
  %b{k} = load i8, ptr addrspace(1) %p{k}, align 1
;end
;use vector
  ret <4 x i8> %v3
}

define <4 x i8> @a_word_that_begins_later(i32 %row) {
  %r = zext i32 %row to i64
;use byte k 0..3, at 4..16/4, table later
;use vector
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
