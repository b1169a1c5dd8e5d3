; Words that cannot be read as one, or need not be.
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@not_constant = internal addrspace(1) global [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@outside = addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@elsewhere = internal addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@escapes = internal addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@volatile = internal addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@atomic = internal addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@any = internal addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@two = internal addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@wraps = internal addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@narrow = internal addrspace(4) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@structure = internal addrspace(1) constant { [16 x i8] } { [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F" }, align 1
@undefined = internal addrspace(1) constant [16 x i8] [i8 undef, i8 1, i8 2, i8 3, i8 4, i8 5, i8 6, i8 7, i8 8, i8 9, i8 10, i8 11, i8 12, i8 13, i8 14, i8 15], align 1
@twice = internal addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@sparse = internal addrspace(1) constant [64 x [8 x i8]] [[8 x i8] c"ABCDEFGH", [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer, [8 x i8] zeroinitializer], align 1
@inner = internal addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@moving = internal addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@half_seen = internal addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@bits = internal addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@factors = internal addrspace(1) constant [16 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F", align 1
@apart = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 1
@counter = internal addrspace(1) constant [264 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F\20\21\22\23\24\25\26\27\28\29\2A\2B\2C\2D\2E\2F\30\31\32\33\34\35\36\37\38\39\3A\3B\3C\3D\3E\3F\40\41\42\43\44\45\46\47\48\49\4A\4B\4C\4D\4E\4F\50\51\52\53\54\55\56\57\58\59\5A\5B\5C\5D\5E\5F\60\61\62\63\64\65\66\67\68\69\6A\6B\6C\6D\6E\6F\70\71\72\73\74\75\76\77\78\79\7A\7B\7C\7D\7E\7F\80\81\82\83\84\85\86\87\88\89\8A\8B\8C\8D\8E\8F\90\91\92\93\94\95\96\97\98\99\9A\9B\9C\9D\9E\9F\A0\A1\A2\A3\A4\A5\A6\A7\A8\A9\AA\AB\AC\AD\AE\AF\B0\B1\B2\B3\B4\B5\B6\B7\B8\B9\BA\BB\BC\BD\BE\BF\C0\C1\C2\C3\C4\C5\C6\C7\C8\C9\CA\CB\CC\CD\CE\CF\D0\D1\D2\D3\D4\D5\D6\D7\D8\D9\DA\DB\DC\DD\DE\DF\E0\E1\E2\E3\E4\E5\E6\E7\E8\E9\EA\EB\EC\ED\EE\EF\F0\F1\F2\F3\F4\F5\F6\F7\F8\F9\FA\00\01\02\03\04\05\06\07\08\09\0A\0B\0C", align 1
@side = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 16
@vol = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 16
@bytes6 = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 16
@shorts = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 16
@odd = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 16
@halfwords = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 16
@uniform = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 16
@uneven = internal addrspace(1) constant [32 x i8] c"\00\01\02\03\04\05\06\07\08\09\0A\0B\0C\0D\0E\0F\10\11\12\13\14\15\16\17\18\19\1A\1B\1C\1D\1E\1F", align 16

declare void @use(<4 x i8>)

define <4 x i8> @of_what_may_be_written(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @not_constant, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @not_constant, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @not_constant, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @not_constant, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define <4 x i8> @of_what_others_see(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @outside, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @outside, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @outside, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @outside, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define <4 x i8> @of_what_is_read_elsewhere(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @elsewhere, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @elsewhere, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @elsewhere, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @elsewhere, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define i8 @elsewhere_reader(i64 %i) {
  %p = getelementptr i8, ptr addrspace(1) @elsewhere, i64 %i
  %x = load i8, ptr addrspace(1) %p, align 1
  ret i8 %x
}

define <4 x i8> @of_what_is_named_elsewhere(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @escapes, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @escapes, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @escapes, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @escapes, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define ptr addrspace(1) @escapes_namer() {
  ret ptr addrspace(1) @escapes
}

define <4 x i8> @by_a_volatile_load(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @volatile, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @volatile, i64 %i1
  %b1 = load volatile i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @volatile, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @volatile, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define <4 x i8> @by_an_atomic_load(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @atomic, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @atomic, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @atomic, i64 %i2
  %b2 = load atomic i8, ptr addrspace(1) %p2 monotonic, align 1
  %i3 = add nuw nsw i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @atomic, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define <4 x i8> @by_an_index_of_64_bits(i64 %row) {
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @any, i64 %row
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %row, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @any, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %row, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @any, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %row, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @any, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define <4 x i8> @by_two_indices_of_which_one_has_64_bits(i64 %r, i32 %column) {
  %c = zext i32 %column to i64
  %r8 = shl nuw nsw i64 %r, 3
  %c4 = shl nuw nsw i64 %c, 2
  %s = add nuw nsw i64 %r8, %c4
  %i0 = add nuw nsw i64 %s, 3
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @two, i64 %i0
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %s, 2
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @two, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %s, 1
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @two, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @two, i64 %s
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define <4 x i8> @by_an_index_that_may_wrap(i32 %row) {
  %s0 = add i32 %row, 1
  %i0 = sext i32 %s0 to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @wraps, i64 %i0
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %s1 = add i32 %row, 5
  %i1 = sext i32 %s1 to i64
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @wraps, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %s2 = add i32 %row, 9
  %i2 = sext i32 %s2 to i64
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @wraps, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %s3 = add i32 %row, 13
  %i3 = sext i32 %s3 to i64
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @wraps, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define <4 x i8> @by_addresses_of_32_bits(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(4) @narrow, i64 %r
  %b0 = load i8, ptr addrspace(4) %p0, align 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(4) @narrow, i64 %i1
  %b1 = load i8, ptr addrspace(4) %p1, align 1
  %i2 = add nuw nsw i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(4) @narrow, i64 %i2
  %b2 = load i8, ptr addrspace(4) %p2, align 1
  %i3 = add nuw nsw i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(4) @narrow, i64 %i3
  %b3 = load i8, ptr addrspace(4) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define <4 x i8> @of_what_is_no_integers(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @structure, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @structure, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @structure, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @structure, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define <4 x i8> @of_what_is_not_defined(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @undefined, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @undefined, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @undefined, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @undefined, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define <4 x i8> @of_bytes_that_are_used_otherwise(i32 %row, ptr %to) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @twice, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @twice, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @twice, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @twice, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  store i8 %b2, ptr %to, align 1
  ret <4 x i8> %v3
}

define <4 x i8> @of_few_bytes_of_a_large_table(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @sparse, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 1
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @sparse, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 2
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @sparse, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 3
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @sparse, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  %xi0 = add nuw nsw i64 %r, 4
  %xp0 = getelementptr inbounds i8, ptr addrspace(1) @sparse, i64 %xi0
  %xb0 = load i8, ptr addrspace(1) %xp0, align 1
  %xi1 = add nuw nsw i64 %r, 5
  %xp1 = getelementptr inbounds i8, ptr addrspace(1) @sparse, i64 %xi1
  %xb1 = load i8, ptr addrspace(1) %xp1, align 1
  %xi2 = add nuw nsw i64 %r, 6
  %xp2 = getelementptr inbounds i8, ptr addrspace(1) @sparse, i64 %xi2
  %xb2 = load i8, ptr addrspace(1) %xp2, align 1
  %xi3 = add nuw nsw i64 %r, 7
  %xp3 = getelementptr inbounds i8, ptr addrspace(1) @sparse, i64 %xi3
  %xb3 = load i8, ptr addrspace(1) %xp3, align 1
  %xv0 = insertelement <4 x i8> poison, i8 %xb0, i32 0
  %xv1 = insertelement <4 x i8> %xv0, i8 %xb1, i32 1
  %xv2 = insertelement <4 x i8> %xv1, i8 %xb2, i32 2
  %xv3 = insertelement <4 x i8> %xv2, i8 %xb3, i32 3
  %yi0 = add nuw nsw i64 %r, 8
  %yp0 = getelementptr inbounds i8, ptr addrspace(1) @sparse, i64 %yi0
  %yb0 = load i8, ptr addrspace(1) %yp0, align 1
  %yi1 = add nuw nsw i64 %r, 9
  %yp1 = getelementptr inbounds i8, ptr addrspace(1) @sparse, i64 %yi1
  %yb1 = load i8, ptr addrspace(1) %yp1, align 1
  %yi2 = add nuw nsw i64 %r, 10
  %yp2 = getelementptr inbounds i8, ptr addrspace(1) @sparse, i64 %yi2
  %yb2 = load i8, ptr addrspace(1) %yp2, align 1
  %yi3 = add nuw nsw i64 %r, 11
  %yp3 = getelementptr inbounds i8, ptr addrspace(1) @sparse, i64 %yi3
  %yb3 = load i8, ptr addrspace(1) %yp3, align 1
  %yv0 = insertelement <4 x i8> poison, i8 %yb0, i32 0
  %yv1 = insertelement <4 x i8> %yv0, i8 %yb1, i32 1
  %yv2 = insertelement <4 x i8> %yv1, i8 %yb2, i32 2
  %yv3 = insertelement <4 x i8> %yv2, i8 %yb3, i32 3
  %s = add <4 x i8> %v3, %xv3
  %t = add <4 x i8> %s, %yv3
  ret <4 x i8> %t
}

define <4 x i8> @of_three_lanes(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @inner, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @inner, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @inner, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @inner, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 2
  ret <4 x i8> %v3
}

define <4 x i8> @of_an_unknown_lane(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @moving, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @moving, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @moving, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @moving, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 %row
  ret <4 x i8> %v3
}

define <4 x i8> @of_what_is_seen_half_made(i32 %row, ptr %to) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @half_seen, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @half_seen, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @half_seen, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @half_seen, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  store <4 x i8> %v1, ptr %to, align 4
  ret <4 x i8> %v3
}

define <4 x i8> @by_bits_that_may_be_set(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @bits, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = or i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @bits, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = or i64 %r, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @bits, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = or i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @bits, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define <4 x i8> @by_factors_that_differ(i32 %row) {
  %r = zext i32 %row to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @factors, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 4
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @factors, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %d = shl nuw nsw i64 %r, 1
  %i2 = add nuw nsw i64 %d, 8
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @factors, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 12
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @factors, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
  ret <4 x i8> %v3
}

define <4 x i8> @with_a_call_between_that_may_not_return(i32 %row) {
  %r = zext i32 %row to i64
  %ap0 = getelementptr inbounds i8, ptr addrspace(1) @apart, i64 %r
  %ab0 = load i8, ptr addrspace(1) %ap0, align 1
  %ai1 = add nuw nsw i64 %r, 4
  %ap1 = getelementptr inbounds i8, ptr addrspace(1) @apart, i64 %ai1
  %ab1 = load i8, ptr addrspace(1) %ap1, align 1
  %ai2 = add nuw nsw i64 %r, 8
  %ap2 = getelementptr inbounds i8, ptr addrspace(1) @apart, i64 %ai2
  %ab2 = load i8, ptr addrspace(1) %ap2, align 1
  %ai3 = add nuw nsw i64 %r, 12
  %ap3 = getelementptr inbounds i8, ptr addrspace(1) @apart, i64 %ai3
  %ab3 = load i8, ptr addrspace(1) %ap3, align 1
  %av0 = insertelement <4 x i8> poison, i8 %ab0, i32 0
  %av1 = insertelement <4 x i8> %av0, i8 %ab1, i32 1
  %av2 = insertelement <4 x i8> %av1, i8 %ab2, i32 2
  %av3 = insertelement <4 x i8> %av2, i8 %ab3, i32 3
  call void @use(<4 x i8> %av3)
  %bi0 = add nuw nsw i64 %r, 16
  %bp0 = getelementptr inbounds i8, ptr addrspace(1) @apart, i64 %bi0
  %bb0 = load i8, ptr addrspace(1) %bp0, align 1
  %bi1 = add nuw nsw i64 %r, 20
  %bp1 = getelementptr inbounds i8, ptr addrspace(1) @apart, i64 %bi1
  %bb1 = load i8, ptr addrspace(1) %bp1, align 1
  %bi2 = add nuw nsw i64 %r, 24
  %bp2 = getelementptr inbounds i8, ptr addrspace(1) @apart, i64 %bi2
  %bb2 = load i8, ptr addrspace(1) %bp2, align 1
  %bi3 = add nuw nsw i64 %r, 28
  %bp3 = getelementptr inbounds i8, ptr addrspace(1) @apart, i64 %bi3
  %bb3 = load i8, ptr addrspace(1) %bp3, align 1
  %bv0 = insertelement <4 x i8> poison, i8 %bb0, i32 0
  %bv1 = insertelement <4 x i8> %bv0, i8 %bb1, i32 1
  %bv2 = insertelement <4 x i8> %bv1, i8 %bb2, i32 2
  %bv3 = insertelement <4 x i8> %bv2, i8 %bb3, i32 3
  ret <4 x i8> %bv3
}

define void @by_a_counter_that_wraps() {
entry:
  br label %loop

loop:
  %k = phi i8 [ 0, %entry ], [ %next, %loop ]
  %r = zext i8 %k to i64
  %p0 = getelementptr inbounds i8, ptr addrspace(1) @counter, i64 %r
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %i1 = add nuw nsw i64 %r, 1
  %p1 = getelementptr inbounds i8, ptr addrspace(1) @counter, i64 %i1
  %b1 = load i8, ptr addrspace(1) %p1, align 1
  %i2 = add nuw nsw i64 %r, 2
  %p2 = getelementptr inbounds i8, ptr addrspace(1) @counter, i64 %i2
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %i3 = add nuw nsw i64 %r, 4
  %p3 = getelementptr inbounds i8, ptr addrspace(1) @counter, i64 %i3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
  %v0 = insertelement <4 x i8> poison, i8 %b0, i32 0
  %v1 = insertelement <4 x i8> %v0, i8 %b1, i32 1
  %v2 = insertelement <4 x i8> %v1, i8 %b2, i32 2
  %v3 = insertelement <4 x i8> %v2, i8 %b3, i32 3
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
