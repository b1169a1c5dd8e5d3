; Sums in which nothing is gained, or that are no sums of bytes.
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@w = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1
@written = internal addrspace(1) global [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1
@outside = addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1

define i32 @of_kinds_that_differ(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
  %wi0 = add nuw nsw i64 %r, 0
  %wp0 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi0
  %wb0 = load i8, ptr addrspace(1) %wp0, align 1
  %xp0 = getelementptr i8, ptr addrspace(1) %x, i64 0
  %xb0 = load i8, ptr addrspace(1) %xp0, align 4
  %we0 = sext i8 %wb0 to i32
  %xe0 = sext i8 %xb0 to i32
  %m0 = mul nsw i32 %we0, %xe0
  %s0 = add nsw i32 %rest, %m0
  %wi1 = add nuw nsw i64 %r, 4
  %wp1 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi1
  %wb1 = load i8, ptr addrspace(1) %wp1, align 1
  %xp1 = getelementptr i8, ptr addrspace(1) %x, i64 1
  %xb1 = load i8, ptr addrspace(1) %xp1, align 1
  %we1 = sext i8 %wb1 to i32
  %xe1 = zext i8 %xb1 to i32
  %m1 = mul nsw i32 %we1, %xe1
  %s1 = add nsw i32 %s0, %m1
  %wi2 = add nuw nsw i64 %r, 8
  %wp2 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi2
  %wb2 = load i8, ptr addrspace(1) %wp2, align 1
  %xp2 = getelementptr i8, ptr addrspace(1) %x, i64 2
  %xb2 = load i8, ptr addrspace(1) %xp2, align 2
  %we2 = sext i8 %wb2 to i32
  %xe2 = sext i8 %xb2 to i32
  %m2 = mul nsw i32 %we2, %xe2
  %s2 = add nsw i32 %s1, %m2
  %wi3 = add nuw nsw i64 %r, 12
  %wp3 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi3
  %wb3 = load i8, ptr addrspace(1) %wp3, align 1
  %xp3 = getelementptr i8, ptr addrspace(1) %x, i64 3
  %xb3 = load i8, ptr addrspace(1) %xp3, align 1
  %we3 = sext i8 %wb3 to i32
  %xe3 = sext i8 %xb3 to i32
  %m3 = mul nsw i32 %we3, %xe3
  %s3 = add nsw i32 %s2, %m3
  ret i32 %s3
}

define i32 @of_other_kinds_that_differ(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
  %wi0 = add nuw nsw i64 %r, 0
  %wp0 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi0
  %wb0 = load i8, ptr addrspace(1) %wp0, align 1
  %xp0 = getelementptr i8, ptr addrspace(1) %x, i64 0
  %xb0 = load i8, ptr addrspace(1) %xp0, align 4
  %we0 = sext i8 %wb0 to i32
  %xe0 = sext i8 %xb0 to i32
  %m0 = mul nsw i32 %we0, %xe0
  %s0 = add nsw i32 %rest, %m0
  %wi1 = add nuw nsw i64 %r, 4
  %wp1 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi1
  %wb1 = load i8, ptr addrspace(1) %wp1, align 1
  %xp1 = getelementptr i8, ptr addrspace(1) %x, i64 1
  %xb1 = load i8, ptr addrspace(1) %xp1, align 1
  %we1 = zext i8 %wb1 to i32
  %xe1 = sext i8 %xb1 to i32
  %m1 = mul nsw i32 %we1, %xe1
  %s1 = add nsw i32 %s0, %m1
  %wi2 = add nuw nsw i64 %r, 8
  %wp2 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi2
  %wb2 = load i8, ptr addrspace(1) %wp2, align 1
  %xp2 = getelementptr i8, ptr addrspace(1) %x, i64 2
  %xb2 = load i8, ptr addrspace(1) %xp2, align 2
  %we2 = sext i8 %wb2 to i32
  %xe2 = sext i8 %xb2 to i32
  %m2 = mul nsw i32 %we2, %xe2
  %s2 = add nsw i32 %s1, %m2
  %wi3 = add nuw nsw i64 %r, 12
  %wp3 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi3
  %wb3 = load i8, ptr addrspace(1) %wp3, align 1
  %xp3 = getelementptr i8, ptr addrspace(1) %x, i64 3
  %xb3 = load i8, ptr addrspace(1) %xp3, align 1
  %we3 = sext i8 %wb3 to i32
  %xe3 = sext i8 %xb3 to i32
  %m3 = mul nsw i32 %we3, %xe3
  %s3 = add nsw i32 %s2, %m3
  ret i32 %s3
}

define i32 @of_unaligned_bytes_and_what_may_be_written(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
  %wi0 = add nuw nsw i64 %r, 0
  %wp0 = getelementptr inbounds i8, ptr addrspace(1) @written, i64 %wi0
  %wb0 = load i8, ptr addrspace(1) %wp0, align 1
  %xp0 = getelementptr i8, ptr addrspace(1) %x, i64 0
  %xb0 = load i8, ptr addrspace(1) %xp0, align 1
  %we0 = sext i8 %wb0 to i32
  %xe0 = sext i8 %xb0 to i32
  %m0 = mul nsw i32 %we0, %xe0
  %s0 = add nsw i32 %rest, %m0
  %wi1 = add nuw nsw i64 %r, 4
  %wp1 = getelementptr inbounds i8, ptr addrspace(1) @written, i64 %wi1
  %wb1 = load i8, ptr addrspace(1) %wp1, align 1
  %xp1 = getelementptr i8, ptr addrspace(1) %x, i64 1
  %xb1 = load i8, ptr addrspace(1) %xp1, align 1
  %we1 = sext i8 %wb1 to i32
  %xe1 = sext i8 %xb1 to i32
  %m1 = mul nsw i32 %we1, %xe1
  %s1 = add nsw i32 %s0, %m1
  %wi2 = add nuw nsw i64 %r, 8
  %wp2 = getelementptr inbounds i8, ptr addrspace(1) @written, i64 %wi2
  %wb2 = load i8, ptr addrspace(1) %wp2, align 1
  %xp2 = getelementptr i8, ptr addrspace(1) %x, i64 2
  %xb2 = load i8, ptr addrspace(1) %xp2, align 1
  %we2 = sext i8 %wb2 to i32
  %xe2 = sext i8 %xb2 to i32
  %m2 = mul nsw i32 %we2, %xe2
  %s2 = add nsw i32 %s1, %m2
  %wi3 = add nuw nsw i64 %r, 12
  %wp3 = getelementptr inbounds i8, ptr addrspace(1) @written, i64 %wi3
  %wb3 = load i8, ptr addrspace(1) %wp3, align 1
  %xp3 = getelementptr i8, ptr addrspace(1) %x, i64 3
  %xb3 = load i8, ptr addrspace(1) %xp3, align 1
  %we3 = sext i8 %wb3 to i32
  %xe3 = sext i8 %xb3 to i32
  %m3 = mul nsw i32 %we3, %xe3
  %s3 = add nsw i32 %s2, %m3
  ret i32 %s3
}

define i32 @of_unaligned_bytes_and_what_others_see(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
  %wi0 = add nuw nsw i64 %r, 0
  %wp0 = getelementptr inbounds i8, ptr addrspace(1) @outside, i64 %wi0
  %wb0 = load i8, ptr addrspace(1) %wp0, align 1
  %xp0 = getelementptr i8, ptr addrspace(1) %x, i64 0
  %xb0 = load i8, ptr addrspace(1) %xp0, align 1
  %we0 = sext i8 %wb0 to i32
  %xe0 = sext i8 %xb0 to i32
  %m0 = mul nsw i32 %we0, %xe0
  %s0 = add nsw i32 %rest, %m0
  %wi1 = add nuw nsw i64 %r, 4
  %wp1 = getelementptr inbounds i8, ptr addrspace(1) @outside, i64 %wi1
  %wb1 = load i8, ptr addrspace(1) %wp1, align 1
  %xp1 = getelementptr i8, ptr addrspace(1) %x, i64 1
  %xb1 = load i8, ptr addrspace(1) %xp1, align 1
  %we1 = sext i8 %wb1 to i32
  %xe1 = sext i8 %xb1 to i32
  %m1 = mul nsw i32 %we1, %xe1
  %s1 = add nsw i32 %s0, %m1
  %wi2 = add nuw nsw i64 %r, 8
  %wp2 = getelementptr inbounds i8, ptr addrspace(1) @outside, i64 %wi2
  %wb2 = load i8, ptr addrspace(1) %wp2, align 1
  %xp2 = getelementptr i8, ptr addrspace(1) %x, i64 2
  %xb2 = load i8, ptr addrspace(1) %xp2, align 1
  %we2 = sext i8 %wb2 to i32
  %xe2 = sext i8 %xb2 to i32
  %m2 = mul nsw i32 %we2, %xe2
  %s2 = add nsw i32 %s1, %m2
  %wi3 = add nuw nsw i64 %r, 12
  %wp3 = getelementptr inbounds i8, ptr addrspace(1) @outside, i64 %wi3
  %wb3 = load i8, ptr addrspace(1) %wp3, align 1
  %xp3 = getelementptr i8, ptr addrspace(1) %x, i64 3
  %xb3 = load i8, ptr addrspace(1) %xp3, align 1
  %we3 = sext i8 %wb3 to i32
  %xe3 = sext i8 %xb3 to i32
  %m3 = mul nsw i32 %we3, %xe3
  %s3 = add nsw i32 %s2, %m3
  ret i32 %s3
}

define i32 @of_two_blocks(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
  %wi0 = add nuw nsw i64 %r, 0
  %wp0 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi0
  %wb0 = load i8, ptr addrspace(1) %wp0, align 1
  %xp0 = getelementptr i8, ptr addrspace(1) %x, i64 0
  %xb0 = load i8, ptr addrspace(1) %xp0, align 4
  %we0 = sext i8 %wb0 to i32
  %xe0 = sext i8 %xb0 to i32
  %m0 = mul nsw i32 %we0, %xe0
  %s0 = add nsw i32 %rest, %m0
  %wi1 = add nuw nsw i64 %r, 4
  %wp1 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi1
  %wb1 = load i8, ptr addrspace(1) %wp1, align 1
  %xp1 = getelementptr i8, ptr addrspace(1) %x, i64 1
  %xb1 = load i8, ptr addrspace(1) %xp1, align 1
  %we1 = sext i8 %wb1 to i32
  %xe1 = sext i8 %xb1 to i32
  %m1 = mul nsw i32 %we1, %xe1
  %s1 = add nsw i32 %s0, %m1
  br label %next

next:
  %wi2 = add nuw nsw i64 %r, 8
  %wp2 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi2
  %wb2 = load i8, ptr addrspace(1) %wp2, align 1
  %xp2 = getelementptr i8, ptr addrspace(1) %x, i64 2
  %xb2 = load i8, ptr addrspace(1) %xp2, align 2
  %we2 = sext i8 %wb2 to i32
  %xe2 = sext i8 %xb2 to i32
  %m2 = mul nsw i32 %we2, %xe2
  %s2 = add nsw i32 %s1, %m2
  %wi3 = add nuw nsw i64 %r, 12
  %wp3 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi3
  %wb3 = load i8, ptr addrspace(1) %wp3, align 1
  %xp3 = getelementptr i8, ptr addrspace(1) %x, i64 3
  %xb3 = load i8, ptr addrspace(1) %xp3, align 1
  %we3 = sext i8 %wb3 to i32
  %xe3 = sext i8 %xb3 to i32
  %m3 = mul nsw i32 %we3, %xe3
  %s3 = add nsw i32 %s2, %m3
  ret i32 %s3
}

define i32 @of_bytes_with_a_gap(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
  %wi0 = add nuw nsw i64 %r, 0
  %wp0 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi0
  %wb0 = load i8, ptr addrspace(1) %wp0, align 1
  %xp0 = getelementptr i8, ptr addrspace(1) %x, i64 0
  %xb0 = load i8, ptr addrspace(1) %xp0, align 4
  %we0 = sext i8 %wb0 to i32
  %xe0 = sext i8 %xb0 to i32
  %m0 = mul nsw i32 %we0, %xe0
  %s0 = add nsw i32 %rest, %m0
  %wi1 = add nuw nsw i64 %r, 3
  %wp1 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi1
  %wb1 = load i8, ptr addrspace(1) %wp1, align 1
  %xp1 = getelementptr i8, ptr addrspace(1) %x, i64 1
  %xb1 = load i8, ptr addrspace(1) %xp1, align 1
  %we1 = sext i8 %wb1 to i32
  %xe1 = sext i8 %xb1 to i32
  %m1 = mul nsw i32 %we1, %xe1
  %s1 = add nsw i32 %s0, %m1
  %wi2 = add nuw nsw i64 %r, 8
  %wp2 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi2
  %wb2 = load i8, ptr addrspace(1) %wp2, align 1
  %xp2 = getelementptr i8, ptr addrspace(1) %x, i64 2
  %xb2 = load i8, ptr addrspace(1) %xp2, align 2
  %we2 = sext i8 %wb2 to i32
  %xe2 = sext i8 %xb2 to i32
  %m2 = mul nsw i32 %we2, %xe2
  %s2 = add nsw i32 %s1, %m2
  %wi3 = add nuw nsw i64 %r, 12
  %wp3 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi3
  %wb3 = load i8, ptr addrspace(1) %wp3, align 1
  %xp3 = getelementptr i8, ptr addrspace(1) %x, i64 4
  %xb3 = load i8, ptr addrspace(1) %xp3, align 4
  %we3 = sext i8 %wb3 to i32
  %xe3 = sext i8 %xb3 to i32
  %m3 = mul nsw i32 %we3, %xe3
  %s3 = add nsw i32 %s2, %m3
  ret i32 %s3
}

define i32 @of_unaligned_bytes_and_no_constant(i32 %row, ptr addrspace(1) %x, i32 %rest, ptr addrspace(1) %y) {
  %r = zext i32 %row to i64
  %wi0 = add nuw nsw i64 %r, 0
  %wp0 = getelementptr inbounds i8, ptr addrspace(1) %y, i64 %wi0
  %wb0 = load i8, ptr addrspace(1) %wp0, align 1
  %xp0 = getelementptr i8, ptr addrspace(1) %x, i64 0
  %xb0 = load i8, ptr addrspace(1) %xp0, align 1
  %we0 = sext i8 %wb0 to i32
  %xe0 = sext i8 %xb0 to i32
  %m0 = mul nsw i32 %we0, %xe0
  %s0 = add nsw i32 %rest, %m0
  %wi1 = add nuw nsw i64 %r, 4
  %wp1 = getelementptr inbounds i8, ptr addrspace(1) %y, i64 %wi1
  %wb1 = load i8, ptr addrspace(1) %wp1, align 1
  %xp1 = getelementptr i8, ptr addrspace(1) %x, i64 1
  %xb1 = load i8, ptr addrspace(1) %xp1, align 1
  %we1 = sext i8 %wb1 to i32
  %xe1 = sext i8 %xb1 to i32
  %m1 = mul nsw i32 %we1, %xe1
  %s1 = add nsw i32 %s0, %m1
  %wi2 = add nuw nsw i64 %r, 8
  %wp2 = getelementptr inbounds i8, ptr addrspace(1) %y, i64 %wi2
  %wb2 = load i8, ptr addrspace(1) %wp2, align 1
  %xp2 = getelementptr i8, ptr addrspace(1) %x, i64 2
  %xb2 = load i8, ptr addrspace(1) %xp2, align 1
  %we2 = sext i8 %wb2 to i32
  %xe2 = sext i8 %xb2 to i32
  %m2 = mul nsw i32 %we2, %xe2
  %s2 = add nsw i32 %s1, %m2
  %wi3 = add nuw nsw i64 %r, 12
  %wp3 = getelementptr inbounds i8, ptr addrspace(1) %y, i64 %wi3
  %wb3 = load i8, ptr addrspace(1) %wp3, align 1
  %xp3 = getelementptr i8, ptr addrspace(1) %x, i64 3
  %xb3 = load i8, ptr addrspace(1) %xp3, align 1
  %we3 = sext i8 %wb3 to i32
  %xe3 = sext i8 %xb3 to i32
  %m3 = mul nsw i32 %we3, %xe3
  %s3 = add nsw i32 %s2, %m3
  ret i32 %s3
}

define i32 @of_volatile_bytes(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
  %wi0 = add nuw nsw i64 %r, 0
  %wp0 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi0
  %wb0 = load i8, ptr addrspace(1) %wp0, align 1
  %xp0 = getelementptr i8, ptr addrspace(1) %x, i64 0
  %xb0 = load volatile i8, ptr addrspace(1) %xp0, align 4
  %we0 = sext i8 %wb0 to i32
  %xe0 = sext i8 %xb0 to i32
  %m0 = mul nsw i32 %we0, %xe0
  %s0 = add nsw i32 %rest, %m0
  %wi1 = add nuw nsw i64 %r, 4
  %wp1 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi1
  %wb1 = load i8, ptr addrspace(1) %wp1, align 1
  %xp1 = getelementptr i8, ptr addrspace(1) %x, i64 1
  %xb1 = load volatile i8, ptr addrspace(1) %xp1, align 1
  %we1 = sext i8 %wb1 to i32
  %xe1 = sext i8 %xb1 to i32
  %m1 = mul nsw i32 %we1, %xe1
  %s1 = add nsw i32 %s0, %m1
  %wi2 = add nuw nsw i64 %r, 8
  %wp2 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi2
  %wb2 = load i8, ptr addrspace(1) %wp2, align 1
  %xp2 = getelementptr i8, ptr addrspace(1) %x, i64 2
  %xb2 = load volatile i8, ptr addrspace(1) %xp2, align 2
  %we2 = sext i8 %wb2 to i32
  %xe2 = sext i8 %xb2 to i32
  %m2 = mul nsw i32 %we2, %xe2
  %s2 = add nsw i32 %s1, %m2
  %wi3 = add nuw nsw i64 %r, 12
  %wp3 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi3
  %wb3 = load i8, ptr addrspace(1) %wp3, align 1
  %xp3 = getelementptr i8, ptr addrspace(1) %x, i64 3
  %xb3 = load volatile i8, ptr addrspace(1) %xp3, align 1
  %we3 = sext i8 %wb3 to i32
  %xe3 = sext i8 %xb3 to i32
  %m3 = mul nsw i32 %we3, %xe3
  %s3 = add nsw i32 %s2, %m3
  ret i32 %s3
}

define i32 @of_products_that_are_used_otherwise(i32 %row, ptr addrspace(1) %x, i32 %rest, ptr %to) {
  %r = zext i32 %row to i64
  %wi0 = add nuw nsw i64 %r, 0
  %wp0 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi0
  %wb0 = load i8, ptr addrspace(1) %wp0, align 1
  %xp0 = getelementptr i8, ptr addrspace(1) %x, i64 0
  %xb0 = load i8, ptr addrspace(1) %xp0, align 4
  %we0 = sext i8 %wb0 to i32
  %xe0 = sext i8 %xb0 to i32
  %m0 = mul nsw i32 %we0, %xe0
  %s0 = add nsw i32 %rest, %m0
  %wi1 = add nuw nsw i64 %r, 4
  %wp1 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi1
  %wb1 = load i8, ptr addrspace(1) %wp1, align 1
  %xp1 = getelementptr i8, ptr addrspace(1) %x, i64 1
  %xb1 = load i8, ptr addrspace(1) %xp1, align 1
  %we1 = sext i8 %wb1 to i32
  %xe1 = sext i8 %xb1 to i32
  %m1 = mul nsw i32 %we1, %xe1
  store i32 %m1, ptr %to, align 4
  %s1 = add nsw i32 %s0, %m1
  %wi2 = add nuw nsw i64 %r, 8
  %wp2 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi2
  %wb2 = load i8, ptr addrspace(1) %wp2, align 1
  %xp2 = getelementptr i8, ptr addrspace(1) %x, i64 2
  %xb2 = load i8, ptr addrspace(1) %xp2, align 2
  %we2 = sext i8 %wb2 to i32
  %xe2 = sext i8 %xb2 to i32
  %m2 = mul nsw i32 %we2, %xe2
  %s2 = add nsw i32 %s1, %m2
  %wi3 = add nuw nsw i64 %r, 12
  %wp3 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi3
  %wb3 = load i8, ptr addrspace(1) %wp3, align 1
  %xp3 = getelementptr i8, ptr addrspace(1) %x, i64 3
  %xb3 = load i8, ptr addrspace(1) %xp3, align 1
  %we3 = sext i8 %wb3 to i32
  %xe3 = sext i8 %xb3 to i32
  %m3 = mul nsw i32 %we3, %xe3
  %s3 = add nsw i32 %s2, %m3
  ret i32 %s3
}

define i32 @of_sums_that_are_used_otherwise(i32 %row, ptr addrspace(1) %x, i32 %rest, ptr %to) {
  %r = zext i32 %row to i64
  %wi0 = add nuw nsw i64 %r, 0
  %wp0 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi0
  %wb0 = load i8, ptr addrspace(1) %wp0, align 1
  %xp0 = getelementptr i8, ptr addrspace(1) %x, i64 0
  %xb0 = load i8, ptr addrspace(1) %xp0, align 4
  %we0 = sext i8 %wb0 to i32
  %xe0 = sext i8 %xb0 to i32
  %m0 = mul nsw i32 %we0, %xe0
  %s0 = add nsw i32 %rest, %m0
  %wi1 = add nuw nsw i64 %r, 4
  %wp1 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi1
  %wb1 = load i8, ptr addrspace(1) %wp1, align 1
  %xp1 = getelementptr i8, ptr addrspace(1) %x, i64 1
  %xb1 = load i8, ptr addrspace(1) %xp1, align 1
  %we1 = sext i8 %wb1 to i32
  %xe1 = sext i8 %xb1 to i32
  %m1 = mul nsw i32 %we1, %xe1
  %s1 = add nsw i32 %s0, %m1
  %wi2 = add nuw nsw i64 %r, 8
  %wp2 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi2
  %wb2 = load i8, ptr addrspace(1) %wp2, align 1
  %xp2 = getelementptr i8, ptr addrspace(1) %x, i64 2
  %xb2 = load i8, ptr addrspace(1) %xp2, align 2
  %we2 = sext i8 %wb2 to i32
  %xe2 = sext i8 %xb2 to i32
  %m2 = mul nsw i32 %we2, %xe2
  store i32 %s1, ptr %to, align 4
  %s2 = add nsw i32 %s1, %m2
  %wi3 = add nuw nsw i64 %r, 12
  %wp3 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi3
  %wb3 = load i8, ptr addrspace(1) %wp3, align 1
  %xp3 = getelementptr i8, ptr addrspace(1) %x, i64 3
  %xb3 = load i8, ptr addrspace(1) %xp3, align 1
  %we3 = sext i8 %wb3 to i32
  %xe3 = sext i8 %xb3 to i32
  %m3 = mul nsw i32 %we3, %xe3
  %s3 = add nsw i32 %s2, %m3
  ret i32 %s3
}

define i32 @of_16_bits(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
  %wi0 = add nuw nsw i64 %r, 0
  %wp0 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi0
  %wb0 = load i8, ptr addrspace(1) %wp0, align 1
  %xp0 = getelementptr i8, ptr addrspace(1) %x, i64 0
  %xb0 = load i8, ptr addrspace(1) %xp0, align 4
  %we0 = sext i8 %wb0 to i16
  %xe0 = sext i8 %xb0 to i16
  %m0 = mul nsw i16 %we0, %xe0
  %wi1 = add nuw nsw i64 %r, 4
  %wp1 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi1
  %wb1 = load i8, ptr addrspace(1) %wp1, align 1
  %xp1 = getelementptr i8, ptr addrspace(1) %x, i64 1
  %xb1 = load i8, ptr addrspace(1) %xp1, align 1
  %we1 = sext i8 %wb1 to i16
  %xe1 = sext i8 %xb1 to i16
  %m1 = mul nsw i16 %we1, %xe1
  %wi2 = add nuw nsw i64 %r, 8
  %wp2 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi2
  %wb2 = load i8, ptr addrspace(1) %wp2, align 1
  %xp2 = getelementptr i8, ptr addrspace(1) %x, i64 2
  %xb2 = load i8, ptr addrspace(1) %xp2, align 2
  %we2 = sext i8 %wb2 to i16
  %xe2 = sext i8 %xb2 to i16
  %m2 = mul nsw i16 %we2, %xe2
  %wi3 = add nuw nsw i64 %r, 12
  %wp3 = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi3
  %wb3 = load i8, ptr addrspace(1) %wp3, align 1
  %xp3 = getelementptr i8, ptr addrspace(1) %x, i64 3
  %xb3 = load i8, ptr addrspace(1) %xp3, align 1
  %we3 = sext i8 %wb3 to i16
  %xe3 = sext i8 %xb3 to i16
  %m3 = mul nsw i16 %we3, %xe3
  %s0 = add i16 0, %m0
  %s1 = add i16 %s0, %m1
  %s2 = add i16 %s1, %m2
  %s3 = add i16 %s2, %m3
  %sum = sext i16 %s3 to i32
  ret i32 %sum
}
