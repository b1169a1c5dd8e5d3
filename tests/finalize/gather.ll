target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@w = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1

define i32 @four_products(i32 %row, ptr addrspace(1) %x, i32 %rest) {
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
