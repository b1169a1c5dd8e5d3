target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@rows.packed = internal addrspace(1) constant [64 x i32] [i32 0, i32 1065353216, i32 1073741824, i32 1077936128, i32 1090519040, i32 1091567616, i32 1092616192, i32 1093664768, i32 1098907648, i32 1099431936, i32 1099956224, i32 1100480512, i32 1103101952, i32 1103626240, i32 1104150528, i32 1104674816, i32 1107296256, i32 1107558400, i32 1107820544, i32 1108082688, i32 1109393408, i32 1109655552, i32 1109917696, i32 1110179840, i32 1111490560, i32 1111752704, i32 1112014848, i32 1112276992, i32 1113587712, i32 1113849856, i32 1114112000, i32 1114374144, i32 1082130432, i32 1084227584, i32 1086324736, i32 1088421888, i32 1094713344, i32 1095761920, i32 1096810496, i32 1097859072, i32 1101004800, i32 1101529088, i32 1102053376, i32 1102577664, i32 1105199104, i32 1105723392, i32 1106247680, i32 1106771968, i32 1108344832, i32 1108606976, i32 1108869120, i32 1109131264, i32 1110441984, i32 1110704128, i32 1110966272, i32 1111228416, i32 1112539136, i32 1112801280, i32 1113063424, i32 1113325568, i32 1114636288, i32 1114898432, i32 1115160576, i32 1115422720], align 16
@columns.packed = internal addrspace(1) constant [64 x i32] [i32 0, i32 1090519040, i32 1098907648, i32 1103101952, i32 1065353216, i32 1091567616, i32 1099431936, i32 1103626240, i32 1073741824, i32 1092616192, i32 1099956224, i32 1104150528, i32 1077936128, i32 1093664768, i32 1100480512, i32 1104674816, i32 1082130432, i32 1094713344, i32 1101004800, i32 1105199104, i32 1084227584, i32 1095761920, i32 1101529088, i32 1105723392, i32 1086324736, i32 1096810496, i32 1102053376, i32 1106247680, i32 1088421888, i32 1097859072, i32 1102577664, i32 1106771968, i32 1107296256, i32 1109393408, i32 1111490560, i32 1113587712, i32 1107558400, i32 1109655552, i32 1111752704, i32 1113849856, i32 1107820544, i32 1109917696, i32 1112014848, i32 1114112000, i32 1108082688, i32 1110179840, i32 1112276992, i32 1114374144, i32 1108344832, i32 1110441984, i32 1112539136, i32 1114636288, i32 1108606976, i32 1110704128, i32 1112801280, i32 1114898432, i32 1108869120, i32 1110966272, i32 1113063424, i32 1115160576, i32 1109131264, i32 1111228416, i32 1113325568, i32 1115422720], align 16

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

define ptx_kernel void @by_rows(ptr addrspace(1) %out) {
begin:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %start = shl nsw i32 %block, 2
  %row = add nsw i32 %start, %thread
  br label %loop

loop:                                             ; preds = %loop, %begin
  %k = phi i32 [ 0, %begin ], [ %next, %loop ]
  %sum = phi float [ 0.000000e+00, %begin ], [ %s3, %loop ]
  %0 = sext i32 %thread to i64
  %1 = sext i32 %block to i64
  %2 = mul i64 %1, 4
  %3 = add i64 %0, %2
  %4 = sext i32 %k to i64
  %5 = mul i64 %4, 2
  %6 = add i64 %3, %5
  %7 = mul i64 %6, 4
  %8 = getelementptr inbounds i32, ptr addrspace(1) @rows.packed, i64 %7
  %9 = load <4 x i32>, ptr addrspace(1) %8, align 16
  %10 = extractelement <4 x i32> %9, i32 0
  %11 = bitcast i32 %10 to float
  %12 = extractelement <4 x i32> %9, i32 1
  %13 = bitcast i32 %12 to float
  %14 = extractelement <4 x i32> %9, i32 2
  %15 = bitcast i32 %14 to float
  %16 = extractelement <4 x i32> %9, i32 3
  %17 = bitcast i32 %16 to float
  %s0 = fadd float %sum, %11
  %s1 = fadd float %s0, %13
  %s2 = fadd float %s1, %15
  %s3 = fadd float %s2, %17
  %next = add nuw nsw i32 %k, 4
  %end = icmp eq i32 %next, 8
  br i1 %end, label %done, label %loop

done:                                             ; preds = %loop
  %to = getelementptr float, ptr addrspace(1) %out, i32 %row
  store float %s3, ptr addrspace(1) %to, align 4
  ret void
}

define ptx_kernel void @by_columns(ptr addrspace(1) %out) {
begin:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %start = shl nsw i32 %block, 2
  %row = add nsw i32 %start, %thread
  br label %loop

loop:                                             ; preds = %loop, %begin
  %k = phi i32 [ 0, %begin ], [ %next, %loop ]
  %sum = phi float [ 0.000000e+00, %begin ], [ %s3, %loop ]
  %0 = sext i32 %thread to i64
  %1 = sext i32 %block to i64
  %2 = mul i64 %1, 4
  %3 = add i64 %0, %2
  %4 = sext i32 %k to i64
  %5 = mul i64 %4, 2
  %6 = add i64 %3, %5
  %7 = mul i64 %6, 4
  %8 = getelementptr inbounds i32, ptr addrspace(1) @columns.packed, i64 %7
  %9 = load <4 x i32>, ptr addrspace(1) %8, align 16
  %10 = extractelement <4 x i32> %9, i32 0
  %11 = bitcast i32 %10 to float
  %12 = extractelement <4 x i32> %9, i32 1
  %13 = bitcast i32 %12 to float
  %14 = extractelement <4 x i32> %9, i32 2
  %15 = bitcast i32 %14 to float
  %16 = extractelement <4 x i32> %9, i32 3
  %17 = bitcast i32 %16 to float
  %s0 = fadd float %sum, %11
  %s1 = fadd float %s0, %13
  %s2 = fadd float %s1, %15
  %s3 = fadd float %s2, %17
  %next = add nuw nsw i32 %k, 4
  %end = icmp eq i32 %next, 8
  br i1 %end, label %done, label %loop

done:                                             ; preds = %loop
  %to = getelementptr float, ptr addrspace(1) %out, i32 %row
  store float %s3, ptr addrspace(1) %to, align 4
  ret void
}
