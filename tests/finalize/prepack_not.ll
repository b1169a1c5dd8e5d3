; Words that cannot be read as one, or need not be.
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@not_constant = internal addrspace(1) global [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@outside = addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
;each name elsewhere escapes volatile atomic any two wraps twice inner moving half_seen bits factors
@{name} = internal addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
;end
@narrow = internal addrspace(4) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@structure = internal addrspace(1) constant { [16 x i8] } { [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F" }, align 1
@undefined = internal addrspace(1) constant [16 x i8] [i8 undef, i8 1, i8 2, i8 3, i8 4, i8 5, i8 6, i8 7, i8 8, i8 9, i8 10, i8 11, i8 12, i8 13, i8 14, i8 15], align 1
@sparse = internal addrspace(1) constant [64 x [8 x i8]] [[8 x i8] c"ABCDEFGH", [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer], align 1
@apart = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1
@counter = internal addrspace(1) constant [264 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F\20\21\22\23\24\25\26\27\28\29\2A\2B\2C\2D\2E\2F\30\31\32\33\34\35\36\37\38\39\3A\3B\3C\3D\3E\3F\40\41\42\43\44\45\46\47\48\49\4A\4B\4C\4D\4E\4F\50\51\52\53\54\55\56\57\58\59\5A\5B\5C\5D\5E\5F\60\61\62\63\64\65\66\67\68\69\6A\6B\6C\6D\6E\6F\70\71\72\73\74\75\76\77\78\79\7A\7B\7C\7D\7E\7F\80\81\82\83\84\85\86\87\88\89\8A\8B\8C\8D\8E\8F\90\91\92\93\94\95\96\97\98\99\9A\9B\9C\9D\9E\9F\A0\A1\A2\A3\A4\A5\A6\A7\A8\A9\AA\AB\AC\AD\AE\AF\B0\B1\B2\B3\B4\B5\B6\B7\B8\B9\BA\BB\BC\BD\BE\BF\C0\C1\C2\C3\C4\C5\C6\C7\C8\C9\CA\CB\CC\CD\CE\CF\D0\D1\D2\D3\D4\D5\D6\D7\D8\D9\DA\DB\DC\DD\DE\DF\E0\E1\E2\E3\E4\E5\E6\E7\E8\E9\EA\EB\EC\ED\EE\EF\F0\F1\F2\F3\F4\F5\F6\F7\F8\F9\FA\00\01\02\03\04\05\06\07\08\09\0A\0B\0C", align 1
;each name side vol bytes6 shorts odd halfwords uniform uneven
@{name} = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 16
;end
@opposite = internal addrspace(1) constant [204 x i32] [i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63, i32 64, i32 65, i32 66, i32 67, i32 68, i32 69, i32 70, i32 71, i32 72, i32 73, i32 74, i32 75, i32 76, i32 77, i32 78, i32 79, i32 80, i32 81, i32 82, i32 83, i32 84, i32 85, i32 86, i32 87, i32 88, i32 89, i32 90, i32 91, i32 92, i32 93, i32 94, i32 95, i32 96, i32 97, i32 98, i32 99, i32 100, i32 101, i32 102, i32 103, i32 104, i32 105, i32 106, i32 107, i32 108, i32 109, i32 110, i32 111, i32 112, i32 113, i32 114, i32 115, i32 116, i32 117, i32 118, i32 119, i32 120, i32 121, i32 122, i32 123, i32 124, i32 125, i32 126, i32 127, i32 128, i32 129, i32 130, i32 131, i32 132, i32 133, i32 134, i32 135, i32 136, i32 137, i32 138, i32 139, i32 140, i32 141, i32 142, i32 143, i32 144, i32 145, i32 146, i32 147, i32 148, i32 149, i32 150, i32 151, i32 152, i32 153, i32 154, i32 155, i32 156, i32 157, i32 158, i32 159, i32 160, i32 161, i32 162, i32 163, i32 164, i32 165, i32 166, i32 167, i32 168, i32 169, i32 170, i32 171, i32 172, i32 173, i32 174, i32 175, i32 176, i32 177, i32 178, i32 179, i32 180, i32 181, i32 182, i32 183, i32 184, i32 185, i32 186, i32 187, i32 188, i32 189, i32 190, i32 191, i32 192, i32 193, i32 194, i32 195, i32 196, i32 197, i32 198, i32 199, i32 200, i32 201, i32 202, i32 203], align 16
@lines = internal addrspace(1) constant [128 x i32] [i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63, i32 64, i32 65, i32 66, i32 67, i32 68, i32 69, i32 70, i32 71, i32 72, i32 73, i32 74, i32 75, i32 76, i32 77, i32 78, i32 79, i32 80, i32 81, i32 82, i32 83, i32 84, i32 85, i32 86, i32 87, i32 88, i32 89, i32 90, i32 91, i32 92, i32 93, i32 94, i32 95, i32 96, i32 97, i32 98, i32 99, i32 100, i32 101, i32 102, i32 103, i32 104, i32 105, i32 106, i32 107, i32 108, i32 109, i32 110, i32 111, i32 112, i32 113, i32 114, i32 115, i32 116, i32 117, i32 118, i32 119, i32 120, i32 121, i32 122, i32 123, i32 124, i32 125, i32 126, i32 127], align 16

declare void @use(<4 x i8>)

; A byte of a table; the first of a row; four bytes as a vector.
;part byte
  %i{k} = add nuw nsw i64 %r, {at}
  %p{k} = getelementptr inbounds i8, ptr addrspace({space}) @{table}, i64 %i{k}
  %b{k} = load i8, ptr addrspace({space}) %p{k}, align 1
;end
;part first
  %p0 = getelementptr inbounds i8, ptr addrspace({space}) @{table}, i64 %r
  %b0 = load i8, ptr addrspace({space}) %p0, align 1
;end
;part row
;use first table {table}, space {space}
;use byte table {table}, space {space}, k 1..3, at 4..12/4
;end
;part vector
;each k 0..3, last poison %v0..2
  %v{k} = insertelement <4 x i8> {last}, i8 %b{k}, i32 {k}
;end
;end

;each name of_what_may_be_written of_what_others_see of_what_is_read_elsewhere
;and of_what_is_named_elsewhere of_what_is_no_integers of_what_is_not_defined
;and by_addresses_of_32_bits,
;and table not_constant outside elsewhere escapes structure undefined narrow,
;and space 1 1 1 1 1 1 4
define <4 x i8> @{name}(i32 %row) {
  %r = zext i32 %row to i64
;use row table {table}, space {space}
;use vector
  ret <4 x i8> %v3
}

;end
define i8 @elsewhere_reader(i64 %i) {
  %p = getelementptr i8, ptr addrspace(1) @elsewhere, i64 %i
  %x = load i8, ptr addrspace(1) %p, align 1
  ret i8 %x
}

define ptr addrspace(1) @escapes_namer() {
  ret ptr addrspace(1) @escapes
}

define <4 x i8> @by_a_volatile_load(i32 %row) {
  %r = zext i32 %row to i64
;use first table volatile, space 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @volatile, i64 %i1
  %b1 = load volatile i8, ptr addrspace(1) %p1, align 1
;use byte table volatile, space 1, k 2 3, at 8 12
;use vector
  ret <4 x i8> %v3
}

define <4 x i8> @by_an_atomic_load(i32 %row) {
  %r = zext i32 %row to i64
;use first table atomic, space 1
;use byte table atomic, space 1, k 1, at 4
  %i2 = add nuw nsw i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @atomic, i64 %i2
  %b2 = load atomic i8, ptr addrspace(1) %p2 monotonic, align 1
;use byte table atomic, space 1, k 3, at 12
;use vector
  ret <4 x i8> %v3
}

define <4 x i8> @by_an_index_of_64_bits(i64 %r) {
;use row table any, space 1
;use vector
  ret <4 x i8> %v3
}

define <4 x i8> @by_two_indices_of_which_one_has_64_bits(i64 %rows, i32 %column) {
  %c = zext i32 %column to i64
  %r8 = shl nuw nsw i64 %rows, 3
  %c4 = shl nuw nsw i64 %c, 2
  %r = add nuw nsw i64 %r8, %c4
;use byte table two, space 1, k 0..2, at 3..1/-1
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @two, i64 %r
  %b3 = load i8, ptr addrspace(1) %p3, align 1
;use vector
  ret <4 x i8> %v3
}

define <4 x i8> @by_an_index_that_may_wrap(i32 %row) {
;each k 0..3, at 1..13/4
  %s{k} = add i32 %row, {at}
  %i{k} = sext i32 %s{k} to i64
  %p{k} = getelementptr inbounds i8, ptr addrspace(1) @wraps, i64 %i{k}
  %b{k} = load i8, ptr addrspace(1) %p{k}, align 1
;end
;use vector
  ret <4 x i8> %v3
}

define <4 x i8> @of_bytes_that_are_used_otherwise(i32 %row, ptr %to) {
  %r = zext i32 %row to i64
;use row table twice, space 1
;use vector
  store i8 %b2, ptr %to, align 1
  ret <4 x i8> %v3
}

define <4 x i8> @of_few_bytes_of_a_large_table(i32 %row) {
  %r = zext i32 %row to i64
;use first table sparse, space 1
;use byte table sparse, space 1, k 1..3, at 1..3
;use vector
;each x x y, first 4 8, end 7 11
;each k 0..3, at {first}..{end}
  %{x}i{k} = add nuw nsw i64 %r, {at}
  %{x}p{k} = getelementptr inbounds i8, ptr addrspace(1) @sparse, i64 %{x}i{k}
  %{x}b{k} = load i8, ptr addrspace(1) %{x}p{k}, align 1
;end
;each k 0..3, last poison %{x}v0..2
  %{x}v{k} = insertelement <4 x i8> {last}, i8 %{x}b{k}, i32 {k}
;end
;end
  %s = add <4 x i8> %v3, %xv3
  %t = add <4 x i8> %s, %yv3
  ret <4 x i8> %t
}

define <4 x i8> @of_three_lanes(i32 %row) {
  %r = zext i32 %row to i64
;use row table inner, space 1
;each k 0..3, last poison %v0..2, lane 0..2 2
  %v{k} = insertelement <4 x i8> {last}, i8 %b{k}, i32 {lane}
;end
  ret <4 x i8> %v3
}

define <4 x i8> @of_an_unknown_lane(i32 %row) {
  %r = zext i32 %row to i64
;use row table moving, space 1
;each k 0..3, last poison %v0..2, lane 0..2 %row
  %v{k} = insertelement <4 x i8> {last}, i8 %b{k}, i32 {lane}
;end
  ret <4 x i8> %v3
}

define <4 x i8> @of_what_is_seen_half_made(i32 %row, ptr %to) {
  %r = zext i32 %row to i64
;use row table half_seen, space 1
;use vector
  store <4 x i8> %v1, ptr %to, align 4
  ret <4 x i8> %v3
}

define <4 x i8> @by_bits_that_may_be_set(i32 %row) {
  %r = zext i32 %row to i64
;use first table bits, space 1
;each k 1..3, at 4..12/4
  %i{k} = or i64 %r, {at}
  %p{k} = getelementptr inbounds i8, ptr addrspace(1) @bits, i64 %i{k}
  %b{k} = load i8, ptr addrspace(1) %p{k}, align 1
;end
;use vector
  ret <4 x i8> %v3
}

define <4 x i8> @by_factors_that_differ(i32 %row) {
  %r = zext i32 %row to i64
;use first table factors, space 1
;use byte table factors, space 1, k 1, at 4
  %d = shl nuw nsw i64 %r, 1
  %i2 = add nuw nsw i64 %d, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @factors, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
;use byte table factors, space 1, k 3, at 12
;use vector
  ret <4 x i8> %v3
}

define <4 x i8> @with_a_call_between_that_may_not_return(i32 %row) {
  %r = zext i32 %row to i64
;use row table apart, space 1
;use vector
  call void @use(<4 x i8> %v3)
;use byte table apart, space 1, k 4..7, at 16..28/4
;each k 4..7, lane 0..3, last poison %v4..6
  %v{k} = insertelement <4 x i8> {last}, i8 %b{k}, i32 {lane}
;end
  ret <4 x i8> %v7
}

define void @by_a_counter_that_wraps() {
entry:
  br label %loop

loop:
  %k = phi i8 [ 0, %entry ], [ %next, %loop ]
  %r = zext i8 %k to i64
;use first table counter, space 1
;use byte table counter, space 1, k 1..3, at 1 2 4
;use vector
  call void @use(<4 x i8> %v3)
  %next = add i8 %k, 100
  %more = icmp slt i8 %next, 120
  br i1 %more, label %loop, label %done

done:
  ret void
}

define <8 x i8> @of_words_side_by_side(i32 %row) {
  %r = zext i32 %row to i64
  %i = shl nuw nsw i64 %r, 3
  %p = getelementptr inbounds i8, ptr addrspace(1) @side, i64 %i
  %x = load <8 x i8>, ptr addrspace(1) %p, align 8
  ret <8 x i8> %x
}

define i32 @of_volatile_words(i32 %row) {
  %r = zext i32 %row to i64
  %i = shl nuw nsw i64 %r, 3
  %p = getelementptr inbounds i8, ptr addrspace(1) @vol, i64 %i
  %x = load volatile i32, ptr addrspace(1) %p, align 8
  ret i32 %x
}

define <6 x i8> @of_a_word_and_a_half(i32 %row) {
  %r = zext i32 %row to i64
  %i = shl nuw nsw i64 %r, 3
  %p = getelementptr inbounds i8, ptr addrspace(1) @bytes6, i64 %i
  %x = load <6 x i8>, ptr addrspace(1) %p, align 8
  ret <6 x i8> %x
}

define <2 x i16> @of_two_halves(i32 %row) {
  %r = zext i32 %row to i64
  %i = shl nuw nsw i64 %r, 3
  %p = getelementptr inbounds i8, ptr addrspace(1) @shorts, i64 %i
  %x = load <2 x i16>, ptr addrspace(1) %p, align 8
  ret <2 x i16> %x
}

define <8 x i8> @of_a_word_and_two(i32 %row) {
  %r = zext i32 %row to i64
  %i = shl nuw nsw i64 %r, 4
  %p = getelementptr inbounds i8, ptr addrspace(1) @odd, i64 %i
  %q = getelementptr inbounds i8, ptr addrspace(1) %p, i64 8
  %y = load <8 x i8>, ptr addrspace(1) %q, align 8
  %x = load i32, ptr addrspace(1) %p, align 16
  %z = insertelement <2 x i32> zeroinitializer, i32 %x, i32 0
  %w = bitcast <2 x i32> %z to <8 x i8>
  %v = add <8 x i8> %w, %y
  ret <8 x i8> %v
}

define i16 @of_half_a_word(i32 %row) {
  %r = zext i32 %row to i64
  %i = shl nuw nsw i64 %r, 3
  %p = getelementptr inbounds i8, ptr addrspace(1) @halfwords, i64 %i
  %x = load i16, ptr addrspace(1) %p, align 8
  ret i16 %x
}

define i32 @by_what_all_threads_share() {
entry:
  br label %loop

loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi i32 [ 0, %entry ], [ %s, %loop ]
  %p = getelementptr inbounds i8, ptr addrspace(1) @uniform, i64 %k
  %x = load i32, ptr addrspace(1) %p, align 8
  %s = add i32 %sum, %x
  %next = add nuw nsw i64 %k, 8
  %end = icmp eq i64 %next, 32
  br i1 %end, label %done, label %loop

done:
  ret i32 %s
}

define <8 x i8> @of_a_word_and_two_and_one(i32 %row) {
  %r = zext i32 %row to i64
  %i = shl nuw nsw i64 %r, 4
  %p = getelementptr inbounds i8, ptr addrspace(1) @uneven, i64 %i
  %x = load i32, ptr addrspace(1) %p, align 16
  %q = getelementptr inbounds i8, ptr addrspace(1) %p, i64 8
  %y = load <8 x i8>, ptr addrspace(1) %q, align 8
  %o = getelementptr inbounds i8, ptr addrspace(1) %p, i64 4
  %t = load i32, ptr addrspace(1) %o, align 4
  %u = insertelement <2 x i32> poison, i32 %t, i32 1
  %z = insertelement <2 x i32> %u, i32 %x, i32 0
  %w = bitcast <2 x i32> %z to <8 x i8>
  %v = add <8 x i8> %w, %y
  ret <8 x i8> %v
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; One counter goes up and the other one down: together they read all, each alone does not.
define ptx_kernel void @by_opposite_counters(ptr addrspace(1) %out) {
begin:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %column = and i32 %thread, 3
  %rest = lshr i32 %thread, 2
  %row = and i32 %rest, 1
  %wide = shl nuw nsw i32 %row, 3
  %cell = add nuw nsw i32 %column, %wide
  br label %loop

loop:
  %k = phi i32 [ 0, %begin ], [ %next, %loop ]
  %down = phi i32 [ 12, %begin ], [ %lower, %loop ]
  %up = shl nuw nsw i32 %k, 6
  %low = shl nuw nsw i32 %down, 4
  %both = add nuw nsw i32 %up, %low
  %index = add nuw nsw i32 %both, %cell
  %at = zext nneg i32 %index to i64
  %p = getelementptr inbounds i32, ptr addrspace(1) @opposite, i64 %at
  %x = load i32, ptr addrspace(1) %p, align 4
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %k
  store i32 %x, ptr addrspace(1) %o, align 4
  %next = add nuw nsw i32 %k, 1
  %lower = add nsw i32 %down, -4
  %end = icmp eq i32 %next, 4
  br i1 %end, label %done, label %loop

done:
  ret void
}

define ptx_kernel void @of_whole_lines(ptr addrspace(1) %out) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %column = and i32 %thread, 31
  %rest = lshr i32 %thread, 5
  %row = and i32 %rest, 1
  %wide = shl nuw nsw i32 %row, 6
  %index = or disjoint i32 %column, %wide
  %at = zext nneg i32 %index to i64
  %p = getelementptr inbounds i32, ptr addrspace(1) @lines, i64 %at
  %x = load i32, ptr addrspace(1) %p, align 4
  store i32 %x, ptr addrspace(1) %out, align 4
  ret void
}
