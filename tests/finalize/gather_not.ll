; Sums in which nothing is gained, or that are no sums of bytes.
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@w = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1
@written = internal addrspace(1) global [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1
@outside = addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1
; A product of a byte of a table and one of x; its sum.
;part product
  %wi{k} = add nuw nsw i64 %r, {at}
  %wp{k} = getelementptr inbounds i8, ptr addrspace(1) {w}, i64 %wi{k}
  %wb{k} = load i8, ptr addrspace(1) %wp{k}, align 1
  %xp{k} = getelementptr i8, ptr addrspace(1) %x, i64 {x}
  %xb{k} = load i8, ptr addrspace(1) %xp{k}, align {align}
  %we{k} = {a} i8 %wb{k} to i32
  %xe{k} = {b} i8 %xb{k} to i32
  %m{k} = mul nsw i32 %we{k}, %xe{k}
;end
;part term
;use product k {k}, at {at}, w {w}, x {x}, align {align}, a {a}, b {b}
  %s{k} = add nsw i32 {last}, %m{k}
;end

define i32 @of_kinds_that_differ(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
;use term k 0..3, at 0..12/4, w @w, x 0..3, align 4 1 2 1, a sext, b sext zext sext sext, last %rest %s0..2
  ret i32 %s3
}

define i32 @of_other_kinds_that_differ(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
;use term k 0..3, at 0..12/4, w @w, x 0..3, align 4 1 2 1, a sext zext sext sext, b sext, last %rest %s0..2
  ret i32 %s3
}

;each name what_may_be_written what_others_see, w @written @outside
define i32 @of_unaligned_bytes_and_{name}(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
;use term k 0..3, at 0..12/4, w {w}, x 0..3, align 1, a sext, b sext, last %rest %s0..2
  ret i32 %s3
}

;end
define i32 @of_two_blocks(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
;use term k 0 1, at 0 4, w @w, x 0 1, align 4 1, a sext, b sext, last %rest %s0
  br label %next

next:
;use term k 2 3, at 8 12, w @w, x 2 3, align 2 1, a sext, b sext, last %s1..2
  ret i32 %s3
}

define i32 @of_bytes_with_a_gap(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
;use term k 0..3, at 0 3 8 12, w @w, x 0 1 2 4, align 4 1 2 4, a sext, b sext, last %rest %s0..2
  ret i32 %s3
}

define i32 @of_unaligned_bytes_and_no_constant(i32 %row, ptr addrspace(1) %x, i32 %rest, ptr addrspace(1) %y) {
  %r = zext i32 %row to i64
;use term k 0..3, at 0..12/4, w %y, x 0..3, align 1, a sext, b sext, last %rest %s0..2
  ret i32 %s3
}

define i32 @of_volatile_bytes(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
;each k 0..3, at 0..12/4, align 4 1 2 1, last %rest %s0..2
  %wi{k} = add nuw nsw i64 %r, {at}
  %wp{k} = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi{k}
  %wb{k} = load i8, ptr addrspace(1) %wp{k}, align 1
  %xp{k} = getelementptr i8, ptr addrspace(1) %x, i64 {k}
  %xb{k} = load volatile i8, ptr addrspace(1) %xp{k}, align {align}
  %we{k} = sext i8 %wb{k} to i32
  %xe{k} = sext i8 %xb{k} to i32
  %m{k} = mul nsw i32 %we{k}, %xe{k}
  %s{k} = add nsw i32 {last}, %m{k}
;end
  ret i32 %s3
}

define i32 @of_products_that_are_used_otherwise(i32 %row, ptr addrspace(1) %x, i32 %rest, ptr %to) {
  %r = zext i32 %row to i64
;use term k 0, at 0, w @w, x 0, align 4, a sext, b sext, last %rest
;use product k 1, at 4, w @w, x 1, align 1, a sext, b sext
  store i32 %m1, ptr %to, align 4
  %s1 = add nsw i32 %s0, %m1
;use term k 2 3, at 8 12, w @w, x 2 3, align 2 1, a sext, b sext, last %s1..2
  ret i32 %s3
}

define i32 @of_sums_that_are_used_otherwise(i32 %row, ptr addrspace(1) %x, i32 %rest, ptr %to) {
  %r = zext i32 %row to i64
;use term k 0 1, at 0 4, w @w, x 0 1, align 4 1, a sext, b sext, last %rest %s0
;use product k 2, at 8, w @w, x 2, align 2, a sext, b sext
  store i32 %s1, ptr %to, align 4
  %s2 = add nsw i32 %s1, %m2
;use term k 3, at 12, w @w, x 3, align 1, a sext, b sext, last %s2
  ret i32 %s3
}

define i32 @of_16_bits(i32 %row, ptr addrspace(1) %x, i32 %rest) {
  %r = zext i32 %row to i64
;each k 0..3, at 0..12/4, align 4 1 2 1
  %wi{k} = add nuw nsw i64 %r, {at}
  %wp{k} = getelementptr inbounds i8, ptr addrspace(1) @w, i64 %wi{k}
  %wb{k} = load i8, ptr addrspace(1) %wp{k}, align 1
  %xp{k} = getelementptr i8, ptr addrspace(1) %x, i64 {k}
  %xb{k} = load i8, ptr addrspace(1) %xp{k}, align {align}
  %we{k} = sext i8 %wb{k} to i16
  %xe{k} = sext i8 %xb{k} to i16
  %m{k} = mul nsw i16 %we{k}, %xe{k}
;end
;each k 0..3, last 0 %s0..2
  %s{k} = add i16 {last}, %m{k}
;end
  %sum = sext i16 %s3 to i32
  ret i32 %sum
}
