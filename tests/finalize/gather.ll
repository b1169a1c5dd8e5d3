target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@w = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1

define i32 @four_products(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
;each k 0..3, at 0..12/4, align 4 1 2 1, last %rest %s0..2
  %wi{k} = add nuw nsw i64 %r, {at}
  %wp{k} = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi{k}
  %wb{k} = load i8, ptr addrspace(1) %wp{k}, align 1
  %xp{k} = getelementptr i8, ptr addrspace(1) %x, i64 {k}
  %xb{k} = load i8, ptr addrspace(1) %xp{k}, align {align}
  %we{k} = sext i8 %wb{k} to i32
  %xe{k} = sext i8 %xb{k} to i32
  %m{k} = mul nsw i32 %we{k}, %xe{k}
  %s{k} = add nsw i32 {last}, %m{k}
;end
  ret i32 %s3
}
