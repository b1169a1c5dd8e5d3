target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@columns.packed = internal addrspace(1) constant [8 x i32] [i32 201851904, i32 471340048, i32 218694913, i32 488183057, i32 235537922, i32 505026066, i32 252380931, i32 521869075], align 16
@rows.packed = internal addrspace(1) constant [4 x i32] [i32 117768961, i32 252513033, i32 387257105, i32 522001177], align 16
@later.packed = internal addrspace(1) constant [4 x i32] [i32 269223940, i32 286066949, i32 302909958, i32 319752967], align 16
@vectors.packed = internal addrspace(1) constant [16 x i32] [i32 50462976, i32 117835012, i32 185207048, i32 252579084, i32 589439264, i32 656811300, i32 724183336, i32 791555372, i32 319951120, i32 387323156, i32 454695192, i32 522067228, i32 858927408, i32 926299444, i32 993671480, i32 1061043516], align 16

define { <4 x i8>, <4 x i8> } @columns_become_words(i32 %row) {
  %r = zext i32 %row to i64
  %1 = mul i64 %r, 2
  %2 = getelementptr inbounds i32, ptr addrspace(1) @columns.packed, i64 %1
  %3 = load <2 x i32>, ptr addrspace(1) %2, align 8
  %4 = extractelement <2 x i32> %3, i32 0
  %5 = bitcast i32 %4 to <4 x i8>
  %6 = extractelement <2 x i32> %3, i32 1
  %7 = bitcast i32 %6 to <4 x i8>
  %x = insertvalue { <4 x i8>, <4 x i8> } poison, <4 x i8> %5, 0
  %y = insertvalue { <4 x i8>, <4 x i8> } %x, <4 x i8> %7, 1
  ret { <4 x i8>, <4 x i8> } %y
}

define <4 x i8> @every_other_byte_of_a_row(i32 %row) {
  %r = zext i32 %row to i64
  %1 = getelementptr inbounds i32, ptr addrspace(1) @rows.packed, i64 %r
  %2 = load <4 x i8>, ptr addrspace(1) %1, align 4
  ret <4 x i8> %2
}

define <4 x i8> @a_word_that_begins_later(i32 %row) {
  %r = zext i32 %row to i64
  %1 = getelementptr inbounds i32, ptr addrspace(1) @later.packed, i64 %r
  %2 = load <4 x i8>, ptr addrspace(1) %1, align 4
  ret <4 x i8> %2
}

define <4 x i32> @two_rows_of_vectors(i32 %row) {
  %r = zext i32 %row to i64
  %1 = mul i64 %r, 4
  %2 = getelementptr inbounds i32, ptr addrspace(1) @vectors.packed, i64 %1
  %3 = load <4 x i32>, ptr addrspace(1) %2, align 16
  %4 = getelementptr inbounds i32, ptr addrspace(1) %2, i64 8
  %5 = load <4 x i32>, ptr addrspace(1) %4, align 16
  %z = add <4 x i32> %3, %5
  ret <4 x i32> %z
}
