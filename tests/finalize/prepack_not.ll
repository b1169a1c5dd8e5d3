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
@opposite = internal addrspace(1) constant [204 x i32] [i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63, i32 64, i32 65, i32 66, i32 67, i32 68, i32 69, i32 70, i32 71, i32 72, i32 73, i32 74, i32 75, i32 76, i32 77, i32 78, i32 79, i32 80, i32 81, i32 82, i32 83, i32 84, i32 85, i32 86, i32 87, i32 88, i32 89, i32 90, i32 91, i32 92, i32 93, i32 94, i32 95, i32 96, i32 97, i32 98, i32 99, i32 100, i32 101, i32 102, i32 103, i32 104, i32 105, i32 106, i32 107, i32 108, i32 109, i32 110, i32 111, i32 112, i32 113, i32 114, i32 115, i32 116, i32 117, i32 118, i32 119, i32 120, i32 121, i32 122, i32 123, i32 124, i32 125, i32 126, i32 127, i32 128, i32 129, i32 130, i32 131, i32 132, i32 133, i32 134, i32 135, i32 136, i32 137, i32 138, i32 139, i32 140, i32 141, i32 142, i32 143, i32 144, i32 145, i32 146, i32 147, i32 148, i32 149, i32 150, i32 151, i32 152, i32 153, i32 154, i32 155, i32 156, i32 157, i32 158, i32 159, i32 160, i32 161, i32 162, i32 163, i32 164, i32 165, i32 166, i32 167, i32 168, i32 169, i32 170, i32 171, i32 172, i32 173, i32 174, i32 175, i32 176, i32 177, i32 178, i32 179, i32 180, i32 181, i32 182, i32 183, i32 184, i32 185, i32 186, i32 187, i32 188, i32 189, i32 190, i32 191, i32 192, i32 193, i32 194, i32 195, i32 196, i32 197, i32 198, i32 199, i32 200, i32 201, i32 202, i32 203], align 16
@lines = internal addrspace(1) constant [128 x i32] [i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31, i32 32, i32 33, i32 34, i32 35, i32 36, i32 37, i32 38, i32 39, i32 40, i32 41, i32 42, i32 43, i32 44, i32 45, i32 46, i32 47, i32 48, i32 49, i32 50, i32 51, i32 52, i32 53, i32 54, i32 55, i32 56, i32 57, i32 58, i32 59, i32 60, i32 61, i32 62, i32 63, i32 64, i32 65, i32 66, i32 67, i32 68, i32 69, i32 70, i32 71, i32 72, i32 73, i32 74, i32 75, i32 76, i32 77, i32 78, i32 79, i32 80, i32 81, i32 82, i32 83, i32 84, i32 85, i32 86, i32 87, i32 88, i32 89, i32 90, i32 91, i32 92, i32 93, i32 94, i32 95, i32 96, i32 97, i32 98, i32 99, i32 100, i32 101, i32 102, i32 103, i32 104, i32 105, i32 106, i32 107, i32 108, i32 109, i32 110, i32 111, i32 112, i32 113, i32 114, i32 115, i32 116, i32 117, i32 118, i32 119, i32 120, i32 121, i32 122, i32 123, i32 124, i32 125, i32 126, i32 127], align 16

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
