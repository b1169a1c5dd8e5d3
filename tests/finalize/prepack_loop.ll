target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@loop = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1
@last = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1
@later = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1

declare void @use(<4 x i8>)

;each name a_row_of_eight_in_two_steps a_loop_with_its_last_value a_loop_that_begins_later,
;and table loop last later, row 3 3 4, first 0 0 4, is eq ule ult, end 8 4 12,
;and then done loop loop, else loop done done
define void @{name}(i32 %row) {
entry:
  %r = zext i32 %row to i64
  %start = shl nuw nsw i64 %r, {row}
  br label %loop

loop:
  %k = phi i64 [ {first}, %entry ], [ %next, %loop ]
;each k 0..3, from %start %i0 %i0 %i0, at %k 1..3
  %i{k} = add nuw nsw i64 {from}, {at}
  %p{k} = getelementptr inbounds i8, ptr addrspace(1) @{table}, i64 %i{k}
  %b{k} = load i8, ptr addrspace(1) %p{k}, align 1
;end
;each k 0..3, last poison %v0..2
  %v{k} = insertelement <4 x i8> {last}, i8 %b{k}, i32 {k}
;end
  call void @use(<4 x i8> %v3)
  %next = add nuw nsw i64 %k, 4
  %end = icmp {is} i64 %next, {end}
  br i1 %end, label %{then}, label %{else}

done:
  ret void
}

;end
