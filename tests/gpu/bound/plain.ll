target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: nofree noinline norecurse nosync nounwind
define ptx_kernel void @gemv_int8(ptr addrspace(1) noundef readonly captures(none) %0, ptr addrspace(1) noundef readonly align 16 captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2, i32 noundef %3, i32 noundef %4) local_unnamed_addr #0 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = shl nsw i32 %6, 6
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = add nsw i32 %7, %8
  %10 = icmp slt i32 %9, %3
  br i1 %10, label %11, label %35

11:                                               ; preds = %5
  %12 = icmp sgt i32 %4, 0
  br i1 %12, label %13, label %15

13:                                               ; preds = %11
  %14 = mul nsw i32 %9, %4
  br label %19

15:                                               ; preds = %19, %11
  %16 = phi i32 [ 0, %11 ], [ %32, %19 ]
  %17 = sext i32 %9 to i64
  %18 = getelementptr inbounds i32, ptr addrspace(1) %2, i64 %17
  store i32 %16, ptr addrspace(1) %18, align 4
  br label %35

19:                                               ; preds = %19, %13
  %20 = phi i32 [ 0, %13 ], [ %33, %19 ]
  %21 = phi i32 [ 0, %13 ], [ %32, %19 ]
  %22 = add nsw i32 %20, %14
  %23 = sext i32 %22 to i64
  %24 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %23
  %25 = load i8, ptr addrspace(1) %24, align 1
  %26 = sext i8 %25 to i32
  %27 = zext i32 %20 to i64
  %28 = getelementptr inbounds i8, ptr addrspace(1) %1, i64 %27
  %29 = load i8, ptr addrspace(1) %28, align 1
  %30 = sext i8 %29 to i32
  %31 = mul nsw i32 %30, %26
  %32 = add nsw i32 %31, %21
  %33 = add nuw nsw i32 %20, 1
  %34 = icmp eq i32 %33, %4
  br i1 %34, label %15, label %19

35:                                               ; preds = %15, %5
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nofree noinline norecurse nosync nounwind
define ptx_kernel void @gemv_int8_columns(ptr addrspace(1) noundef readonly captures(none) %0, ptr addrspace(1) noundef readonly align 16 captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2, i32 noundef %3, i32 noundef %4) local_unnamed_addr #0 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = shl nsw i32 %6, 6
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = add nsw i32 %7, %8
  %10 = icmp slt i32 %9, %3
  br i1 %10, label %11, label %34

11:                                               ; preds = %5
  %12 = icmp sgt i32 %4, 0
  br i1 %12, label %17, label %13

13:                                               ; preds = %17, %11
  %14 = phi i32 [ 0, %11 ], [ %31, %17 ]
  %15 = sext i32 %9 to i64
  %16 = getelementptr inbounds i32, ptr addrspace(1) %2, i64 %15
  store i32 %14, ptr addrspace(1) %16, align 4
  br label %34

17:                                               ; preds = %17, %11
  %18 = phi i32 [ %32, %17 ], [ 0, %11 ]
  %19 = phi i32 [ %31, %17 ], [ 0, %11 ]
  %20 = mul nsw i32 %18, %3
  %21 = add nsw i32 %20, %9
  %22 = sext i32 %21 to i64
  %23 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %22
  %24 = load i8, ptr addrspace(1) %23, align 1
  %25 = sext i8 %24 to i32
  %26 = zext i32 %18 to i64
  %27 = getelementptr inbounds i8, ptr addrspace(1) %1, i64 %26
  %28 = load i8, ptr addrspace(1) %27, align 1
  %29 = sext i8 %28 to i32
  %30 = mul nsw i32 %29, %25
  %31 = add nsw i32 %30, %19
  %32 = add nuw nsw i32 %18, 1
  %33 = icmp eq i32 %32, %4
  br i1 %33, label %13, label %17

34:                                               ; preds = %13, %5
  ret void
}

; Function Attrs: nofree noinline norecurse nosync nounwind
define ptx_kernel void @gemv_float(ptr addrspace(1) noundef readonly captures(none) %0, ptr addrspace(1) noundef readonly align 16 captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2, i32 noundef %3, i32 noundef %4) local_unnamed_addr #0 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = shl nsw i32 %6, 6
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = add nsw i32 %7, %8
  %10 = icmp slt i32 %9, %3
  br i1 %10, label %11, label %33

11:                                               ; preds = %5
  %12 = icmp sgt i32 %4, 0
  br i1 %12, label %13, label %15

13:                                               ; preds = %11
  %14 = mul nsw i32 %9, %4
  br label %19

15:                                               ; preds = %19, %11
  %16 = phi float [ 0.000000e+00, %11 ], [ %30, %19 ]
  %17 = sext i32 %9 to i64
  %18 = getelementptr inbounds float, ptr addrspace(1) %2, i64 %17
  store float %16, ptr addrspace(1) %18, align 4
  br label %33

19:                                               ; preds = %19, %13
  %20 = phi i32 [ 0, %13 ], [ %31, %19 ]
  %21 = phi float [ 0.000000e+00, %13 ], [ %30, %19 ]
  %22 = add nsw i32 %20, %14
  %23 = sext i32 %22 to i64
  %24 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %23
  %25 = load float, ptr addrspace(1) %24, align 4
  %26 = zext i32 %20 to i64
  %27 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %26
  %28 = load float, ptr addrspace(1) %27, align 4
  %29 = fmul float %25, %28
  %30 = fadd float %21, %29
  %31 = add nuw nsw i32 %20, 1
  %32 = icmp eq i32 %31, %4
  br i1 %32, label %15, label %19

33:                                               ; preds = %15, %5
  ret void
}

; Function Attrs: nofree noinline norecurse nosync nounwind
define ptx_kernel void @gemv_float_columns(ptr addrspace(1) noundef readonly captures(none) %0, ptr addrspace(1) noundef readonly align 16 captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2, i32 noundef %3, i32 noundef %4) local_unnamed_addr #0 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = shl nsw i32 %6, 6
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = add nsw i32 %7, %8
  %10 = icmp slt i32 %9, %3
  br i1 %10, label %11, label %32

11:                                               ; preds = %5
  %12 = icmp sgt i32 %4, 0
  br i1 %12, label %17, label %13

13:                                               ; preds = %17, %11
  %14 = phi float [ 0.000000e+00, %11 ], [ %29, %17 ]
  %15 = sext i32 %9 to i64
  %16 = getelementptr inbounds float, ptr addrspace(1) %2, i64 %15
  store float %14, ptr addrspace(1) %16, align 4
  br label %32

17:                                               ; preds = %17, %11
  %18 = phi i32 [ %30, %17 ], [ 0, %11 ]
  %19 = phi float [ %29, %17 ], [ 0.000000e+00, %11 ]
  %20 = mul nsw i32 %18, %3
  %21 = add nsw i32 %20, %9
  %22 = sext i32 %21 to i64
  %23 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %22
  %24 = load float, ptr addrspace(1) %23, align 4
  %25 = zext i32 %18 to i64
  %26 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %25
  %27 = load float, ptr addrspace(1) %26, align 4
  %28 = fmul float %24, %27
  %29 = fadd float %19, %28
  %30 = add nuw nsw i32 %18, 1
  %31 = icmp eq i32 %30, %4
  br i1 %31, label %13, label %17

32:                                               ; preds = %13, %5
  ret void
}

; Function Attrs: nofree noinline norecurse nosync nounwind
define ptx_kernel void @matmul_int8(ptr addrspace(1) noundef readonly captures(none) %0, ptr addrspace(1) noundef readonly align 16 captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2, i32 noundef %3, i32 noundef %4) local_unnamed_addr #0 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = shl nsw i32 %6, 6
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = add nsw i32 %7, %8
  %10 = icmp slt i32 %9, %3
  br i1 %10, label %11, label %43

11:                                               ; preds = %5
  %12 = icmp sgt i32 %4, 0
  br i1 %12, label %15, label %13

13:                                               ; preds = %11
  %14 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  br label %19

15:                                               ; preds = %11
  %16 = mul nsw i32 %9, %4
  %17 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %18 = mul nsw i32 %17, %4
  br label %26

19:                                               ; preds = %26, %13
  %20 = phi i32 [ %14, %13 ], [ %17, %26 ]
  %21 = phi i32 [ 0, %13 ], [ %40, %26 ]
  %22 = mul nsw i32 %20, %3
  %23 = add nsw i32 %22, %9
  %24 = sext i32 %23 to i64
  %25 = getelementptr inbounds i32, ptr addrspace(1) %2, i64 %24
  store i32 %21, ptr addrspace(1) %25, align 4
  br label %43

26:                                               ; preds = %26, %15
  %27 = phi i32 [ 0, %15 ], [ %41, %26 ]
  %28 = phi i32 [ 0, %15 ], [ %40, %26 ]
  %29 = add nsw i32 %27, %16
  %30 = sext i32 %29 to i64
  %31 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %30
  %32 = load i8, ptr addrspace(1) %31, align 1
  %33 = sext i8 %32 to i32
  %34 = add nsw i32 %27, %18
  %35 = sext i32 %34 to i64
  %36 = getelementptr inbounds i8, ptr addrspace(1) %1, i64 %35
  %37 = load i8, ptr addrspace(1) %36, align 1
  %38 = sext i8 %37 to i32
  %39 = mul nsw i32 %38, %33
  %40 = add nsw i32 %39, %28
  %41 = add nuw nsw i32 %27, 1
  %42 = icmp eq i32 %41, %4
  br i1 %42, label %19, label %26

43:                                               ; preds = %19, %5
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #1

; Function Attrs: nofree noinline norecurse nosync nounwind
define ptx_kernel void @matmul_float(ptr addrspace(1) noundef readonly captures(none) %0, ptr addrspace(1) noundef readonly align 16 captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2, i32 noundef %3, i32 noundef %4) local_unnamed_addr #0 {
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = shl nsw i32 %6, 6
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = add nsw i32 %7, %8
  %10 = icmp slt i32 %9, %3
  br i1 %10, label %11, label %41

11:                                               ; preds = %5
  %12 = icmp sgt i32 %4, 0
  br i1 %12, label %15, label %13

13:                                               ; preds = %11
  %14 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  br label %19

15:                                               ; preds = %11
  %16 = mul nsw i32 %9, %4
  %17 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %18 = mul nsw i32 %17, %4
  br label %26

19:                                               ; preds = %26, %13
  %20 = phi i32 [ %14, %13 ], [ %17, %26 ]
  %21 = phi float [ 0.000000e+00, %13 ], [ %38, %26 ]
  %22 = mul nsw i32 %20, %3
  %23 = add nsw i32 %22, %9
  %24 = sext i32 %23 to i64
  %25 = getelementptr inbounds float, ptr addrspace(1) %2, i64 %24
  store float %21, ptr addrspace(1) %25, align 4
  br label %41

26:                                               ; preds = %26, %15
  %27 = phi i32 [ 0, %15 ], [ %39, %26 ]
  %28 = phi float [ 0.000000e+00, %15 ], [ %38, %26 ]
  %29 = add nsw i32 %27, %16
  %30 = sext i32 %29 to i64
  %31 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %30
  %32 = load float, ptr addrspace(1) %31, align 4
  %33 = add nsw i32 %27, %18
  %34 = sext i32 %33 to i64
  %35 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %34
  %36 = load float, ptr addrspace(1) %35, align 4
  %37 = fmul float %32, %36
  %38 = fadd float %28, %37
  %39 = add nuw nsw i32 %27, 1
  %40 = icmp eq i32 %39, %4
  br i1 %40, label %19, label %26

41:                                               ; preds = %19, %5
  ret void
}

; Function Attrs: nofree noinline norecurse nosync nounwind
define ptx_kernel void @convolution_int8(ptr addrspace(1) noundef readonly captures(none) %0, ptr addrspace(1) noundef readonly align 16 captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2, i32 noundef %3, i32 noundef %4, i32 noundef %5, i32 noundef %6) local_unnamed_addr #0 {
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %9 = shl nsw i32 %8, 6
  %10 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %11 = add nsw i32 %9, %10
  %12 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %13 = icmp slt i32 %11, %6
  br i1 %13, label %14, label %73

14:                                               ; preds = %7
  %15 = icmp sgt i32 %3, 0
  br i1 %15, label %18, label %16

16:                                               ; preds = %14
  %17 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  br label %32

18:                                               ; preds = %14
  %19 = icmp sgt i32 %4, 0
  %20 = mul nsw i32 %12, %3
  %21 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %22 = add nsw i32 %3, -1
  %23 = add i32 %22, %6
  br label %24

24:                                               ; preds = %49, %18
  %25 = phi i32 [ 0, %18 ], [ %50, %49 ]
  %26 = phi i32 [ 0, %18 ], [ %53, %49 ]
  %27 = add nsw i32 %25, %20
  %28 = mul nsw i32 %27, %3
  %29 = add nsw i32 %25, %21
  %30 = mul nsw i32 %29, %23
  %31 = add nsw i32 %30, %11
  br label %41

32:                                               ; preds = %49, %16
  %33 = phi i32 [ %17, %16 ], [ %21, %49 ]
  %34 = phi i32 [ 0, %16 ], [ %53, %49 ]
  %35 = mul nsw i32 %33, %6
  %36 = add nsw i32 %35, %11
  %37 = mul nsw i32 %36, %5
  %38 = add nsw i32 %37, %12
  %39 = sext i32 %38 to i64
  %40 = getelementptr inbounds i32, ptr addrspace(1) %2, i64 %39
  store i32 %34, ptr addrspace(1) %40, align 4
  br label %73

41:                                               ; preds = %52, %24
  %42 = phi i32 [ 0, %24 ], [ %54, %52 ]
  %43 = phi i32 [ %26, %24 ], [ %53, %52 ]
  br i1 %19, label %44, label %52

44:                                               ; preds = %41
  %45 = add nsw i32 %42, %28
  %46 = mul nsw i32 %45, %4
  %47 = add nsw i32 %31, %42
  %48 = mul nsw i32 %47, %4
  br label %56

49:                                               ; preds = %52
  %50 = add nuw nsw i32 %25, 1
  %51 = icmp eq i32 %50, %3
  br i1 %51, label %32, label %24

52:                                               ; preds = %56, %41
  %53 = phi i32 [ %43, %41 ], [ %70, %56 ]
  %54 = add nuw nsw i32 %42, 1
  %55 = icmp eq i32 %54, %3
  br i1 %55, label %49, label %41

56:                                               ; preds = %56, %44
  %57 = phi i32 [ 0, %44 ], [ %71, %56 ]
  %58 = phi i32 [ %43, %44 ], [ %70, %56 ]
  %59 = add nsw i32 %57, %46
  %60 = sext i32 %59 to i64
  %61 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %60
  %62 = load i8, ptr addrspace(1) %61, align 1
  %63 = sext i8 %62 to i32
  %64 = add nsw i32 %57, %48
  %65 = sext i32 %64 to i64
  %66 = getelementptr inbounds i8, ptr addrspace(1) %1, i64 %65
  %67 = load i8, ptr addrspace(1) %66, align 1
  %68 = sext i8 %67 to i32
  %69 = mul nsw i32 %68, %63
  %70 = add nsw i32 %69, %58
  %71 = add nuw nsw i32 %57, 1
  %72 = icmp eq i32 %71, %4
  br i1 %72, label %52, label %56

73:                                               ; preds = %32, %7
  ret void
}

; Function Attrs: nofree noinline norecurse nosync nounwind
define ptx_kernel void @convolution_int8_columns(ptr addrspace(1) noundef readonly captures(none) %0, ptr addrspace(1) noundef readonly align 16 captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2, i32 noundef %3, i32 noundef %4, i32 noundef %5, i32 noundef %6) local_unnamed_addr #0 {
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %9 = shl nsw i32 %8, 6
  %10 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %11 = add nsw i32 %9, %10
  %12 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %13 = icmp slt i32 %11, %6
  br i1 %13, label %14, label %73

14:                                               ; preds = %7
  %15 = icmp sgt i32 %3, 0
  br i1 %15, label %18, label %16

16:                                               ; preds = %14
  %17 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  br label %30

18:                                               ; preds = %14
  %19 = icmp sgt i32 %4, 0
  %20 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %21 = add nsw i32 %3, -1
  %22 = add i32 %21, %6
  br label %23

23:                                               ; preds = %47, %18
  %24 = phi i32 [ 0, %18 ], [ %48, %47 ]
  %25 = phi i32 [ 0, %18 ], [ %51, %47 ]
  %26 = mul nsw i32 %24, %3
  %27 = add nsw i32 %24, %20
  %28 = mul nsw i32 %27, %22
  %29 = add nsw i32 %28, %11
  br label %39

30:                                               ; preds = %47, %16
  %31 = phi i32 [ %17, %16 ], [ %20, %47 ]
  %32 = phi i32 [ 0, %16 ], [ %51, %47 ]
  %33 = mul nsw i32 %31, %6
  %34 = add nsw i32 %33, %11
  %35 = mul nsw i32 %34, %5
  %36 = add nsw i32 %35, %12
  %37 = sext i32 %36 to i64
  %38 = getelementptr inbounds i32, ptr addrspace(1) %2, i64 %37
  store i32 %32, ptr addrspace(1) %38, align 4
  br label %73

39:                                               ; preds = %50, %23
  %40 = phi i32 [ 0, %23 ], [ %52, %50 ]
  %41 = phi i32 [ %25, %23 ], [ %51, %50 ]
  br i1 %19, label %42, label %50

42:                                               ; preds = %39
  %43 = add nsw i32 %40, %26
  %44 = mul nsw i32 %43, %4
  %45 = add nsw i32 %29, %40
  %46 = mul nsw i32 %45, %4
  br label %54

47:                                               ; preds = %50
  %48 = add nuw nsw i32 %24, 1
  %49 = icmp eq i32 %48, %3
  br i1 %49, label %30, label %23

50:                                               ; preds = %54, %39
  %51 = phi i32 [ %41, %39 ], [ %70, %54 ]
  %52 = add nuw nsw i32 %40, 1
  %53 = icmp eq i32 %52, %3
  br i1 %53, label %47, label %39

54:                                               ; preds = %54, %42
  %55 = phi i32 [ 0, %42 ], [ %71, %54 ]
  %56 = phi i32 [ %41, %42 ], [ %70, %54 ]
  %57 = add nsw i32 %55, %44
  %58 = mul nsw i32 %57, %5
  %59 = add nsw i32 %58, %12
  %60 = sext i32 %59 to i64
  %61 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %60
  %62 = load i8, ptr addrspace(1) %61, align 1
  %63 = sext i8 %62 to i32
  %64 = add nsw i32 %55, %46
  %65 = sext i32 %64 to i64
  %66 = getelementptr inbounds i8, ptr addrspace(1) %1, i64 %65
  %67 = load i8, ptr addrspace(1) %66, align 1
  %68 = sext i8 %67 to i32
  %69 = mul nsw i32 %68, %63
  %70 = add nsw i32 %69, %56
  %71 = add nuw nsw i32 %55, 1
  %72 = icmp eq i32 %71, %4
  br i1 %72, label %50, label %54

73:                                               ; preds = %30, %7
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.z() #1

; Function Attrs: nofree noinline norecurse nosync nounwind
define ptx_kernel void @convolution_float(ptr addrspace(1) noundef readonly captures(none) %0, ptr addrspace(1) noundef readonly align 16 captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2, i32 noundef %3, i32 noundef %4, i32 noundef %5, i32 noundef %6) local_unnamed_addr #0 {
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %9 = shl nsw i32 %8, 6
  %10 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %11 = add nsw i32 %9, %10
  %12 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %13 = icmp slt i32 %11, %6
  br i1 %13, label %14, label %71

14:                                               ; preds = %7
  %15 = icmp sgt i32 %3, 0
  br i1 %15, label %18, label %16

16:                                               ; preds = %14
  %17 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  br label %32

18:                                               ; preds = %14
  %19 = icmp sgt i32 %4, 0
  %20 = mul nsw i32 %12, %3
  %21 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %22 = add nsw i32 %3, -1
  %23 = add i32 %22, %6
  br label %24

24:                                               ; preds = %49, %18
  %25 = phi i32 [ 0, %18 ], [ %50, %49 ]
  %26 = phi float [ 0.000000e+00, %18 ], [ %53, %49 ]
  %27 = add nsw i32 %25, %20
  %28 = mul nsw i32 %27, %3
  %29 = add nsw i32 %25, %21
  %30 = mul nsw i32 %29, %23
  %31 = add nsw i32 %30, %11
  br label %41

32:                                               ; preds = %49, %16
  %33 = phi i32 [ %17, %16 ], [ %21, %49 ]
  %34 = phi float [ 0.000000e+00, %16 ], [ %53, %49 ]
  %35 = mul nsw i32 %33, %6
  %36 = add nsw i32 %35, %11
  %37 = mul nsw i32 %36, %5
  %38 = add nsw i32 %37, %12
  %39 = sext i32 %38 to i64
  %40 = getelementptr inbounds float, ptr addrspace(1) %2, i64 %39
  store float %34, ptr addrspace(1) %40, align 4
  br label %71

41:                                               ; preds = %52, %24
  %42 = phi i32 [ 0, %24 ], [ %54, %52 ]
  %43 = phi float [ %26, %24 ], [ %53, %52 ]
  br i1 %19, label %44, label %52

44:                                               ; preds = %41
  %45 = add nsw i32 %42, %28
  %46 = mul nsw i32 %45, %4
  %47 = add nsw i32 %31, %42
  %48 = mul nsw i32 %47, %4
  br label %56

49:                                               ; preds = %52
  %50 = add nuw nsw i32 %25, 1
  %51 = icmp eq i32 %50, %3
  br i1 %51, label %32, label %24

52:                                               ; preds = %56, %41
  %53 = phi float [ %43, %41 ], [ %68, %56 ]
  %54 = add nuw nsw i32 %42, 1
  %55 = icmp eq i32 %54, %3
  br i1 %55, label %49, label %41

56:                                               ; preds = %56, %44
  %57 = phi i32 [ 0, %44 ], [ %69, %56 ]
  %58 = phi float [ %43, %44 ], [ %68, %56 ]
  %59 = add nsw i32 %57, %46
  %60 = sext i32 %59 to i64
  %61 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %60
  %62 = load float, ptr addrspace(1) %61, align 4
  %63 = add nsw i32 %57, %48
  %64 = sext i32 %63 to i64
  %65 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %64
  %66 = load float, ptr addrspace(1) %65, align 4
  %67 = fmul float %62, %66
  %68 = fadd float %58, %67
  %69 = add nuw nsw i32 %57, 1
  %70 = icmp eq i32 %69, %4
  br i1 %70, label %52, label %56

71:                                               ; preds = %32, %7
  ret void
}

; Function Attrs: nofree noinline norecurse nosync nounwind
define ptx_kernel void @convolution_float_columns(ptr addrspace(1) noundef readonly captures(none) %0, ptr addrspace(1) noundef readonly align 16 captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2, i32 noundef %3, i32 noundef %4, i32 noundef %5, i32 noundef %6) local_unnamed_addr #0 {
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %9 = shl nsw i32 %8, 6
  %10 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %11 = add nsw i32 %9, %10
  %12 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %13 = icmp slt i32 %11, %6
  br i1 %13, label %14, label %71

14:                                               ; preds = %7
  %15 = icmp sgt i32 %3, 0
  br i1 %15, label %18, label %16

16:                                               ; preds = %14
  %17 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  br label %30

18:                                               ; preds = %14
  %19 = icmp sgt i32 %4, 0
  %20 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %21 = add nsw i32 %3, -1
  %22 = add i32 %21, %6
  br label %23

23:                                               ; preds = %47, %18
  %24 = phi i32 [ 0, %18 ], [ %48, %47 ]
  %25 = phi float [ 0.000000e+00, %18 ], [ %51, %47 ]
  %26 = mul nsw i32 %24, %3
  %27 = add nsw i32 %24, %20
  %28 = mul nsw i32 %27, %22
  %29 = add nsw i32 %28, %11
  br label %39

30:                                               ; preds = %47, %16
  %31 = phi i32 [ %17, %16 ], [ %20, %47 ]
  %32 = phi float [ 0.000000e+00, %16 ], [ %51, %47 ]
  %33 = mul nsw i32 %31, %6
  %34 = add nsw i32 %33, %11
  %35 = mul nsw i32 %34, %5
  %36 = add nsw i32 %35, %12
  %37 = sext i32 %36 to i64
  %38 = getelementptr inbounds float, ptr addrspace(1) %2, i64 %37
  store float %32, ptr addrspace(1) %38, align 4
  br label %71

39:                                               ; preds = %50, %23
  %40 = phi i32 [ 0, %23 ], [ %52, %50 ]
  %41 = phi float [ %25, %23 ], [ %51, %50 ]
  br i1 %19, label %42, label %50

42:                                               ; preds = %39
  %43 = add nsw i32 %40, %26
  %44 = mul nsw i32 %43, %4
  %45 = add nsw i32 %29, %40
  %46 = mul nsw i32 %45, %4
  br label %54

47:                                               ; preds = %50
  %48 = add nuw nsw i32 %24, 1
  %49 = icmp eq i32 %48, %3
  br i1 %49, label %30, label %23

50:                                               ; preds = %54, %39
  %51 = phi float [ %41, %39 ], [ %68, %54 ]
  %52 = add nuw nsw i32 %40, 1
  %53 = icmp eq i32 %52, %3
  br i1 %53, label %47, label %39

54:                                               ; preds = %54, %42
  %55 = phi i32 [ 0, %42 ], [ %69, %54 ]
  %56 = phi float [ %41, %42 ], [ %68, %54 ]
  %57 = add nsw i32 %55, %44
  %58 = mul nsw i32 %57, %5
  %59 = add nsw i32 %58, %12
  %60 = sext i32 %59 to i64
  %61 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %60
  %62 = load float, ptr addrspace(1) %61, align 4
  %63 = add nsw i32 %55, %46
  %64 = sext i32 %63 to i64
  %65 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %64
  %66 = load float, ptr addrspace(1) %65, align 4
  %67 = fmul float %62, %66
  %68 = fadd float %56, %67
  %69 = add nuw nsw i32 %55, 1
  %70 = icmp eq i32 %69, %4
  br i1 %70, label %50, label %54

71:                                               ; preds = %30, %7
  ret void
}

; Function Attrs: nofree noinline norecurse nosync nounwind
define ptx_kernel void @depthwise_int8(ptr addrspace(1) noundef readonly captures(none) %0, ptr addrspace(1) noundef readonly align 16 captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2, i32 noundef %3, i32 noundef %4, i32 noundef %5) local_unnamed_addr #0 {
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %8 = shl nsw i32 %7, 6
  %9 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %10 = add nsw i32 %8, %9
  %11 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %12 = icmp slt i32 %10, %4
  br i1 %12, label %13, label %58

13:                                               ; preds = %6
  %14 = icmp sgt i32 %3, 0
  %15 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  br i1 %14, label %16, label %26

16:                                               ; preds = %13
  %17 = add nsw i32 %3, -1
  %18 = add i32 %17, %5
  br label %19

19:                                               ; preds = %34, %16
  %20 = phi i32 [ 0, %16 ], [ %35, %34 ]
  %21 = phi i32 [ 0, %16 ], [ %55, %34 ]
  %22 = mul nsw i32 %20, %3
  %23 = add nsw i32 %20, %15
  %24 = mul nsw i32 %23, %18
  %25 = add nsw i32 %24, %11
  br label %37

26:                                               ; preds = %34, %13
  %27 = phi i32 [ 0, %13 ], [ %55, %34 ]
  %28 = mul nsw i32 %15, %5
  %29 = add nsw i32 %28, %11
  %30 = mul nsw i32 %29, %4
  %31 = add nsw i32 %30, %10
  %32 = sext i32 %31 to i64
  %33 = getelementptr inbounds i32, ptr addrspace(1) %2, i64 %32
  store i32 %27, ptr addrspace(1) %33, align 4
  br label %58

34:                                               ; preds = %37
  %35 = add nuw nsw i32 %20, 1
  %36 = icmp eq i32 %35, %3
  br i1 %36, label %26, label %19

37:                                               ; preds = %37, %19
  %38 = phi i32 [ 0, %19 ], [ %56, %37 ]
  %39 = phi i32 [ %21, %19 ], [ %55, %37 ]
  %40 = add nsw i32 %38, %22
  %41 = mul nsw i32 %40, %4
  %42 = add nsw i32 %41, %10
  %43 = sext i32 %42 to i64
  %44 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %43
  %45 = load i8, ptr addrspace(1) %44, align 1
  %46 = sext i8 %45 to i32
  %47 = add nsw i32 %25, %38
  %48 = mul nsw i32 %47, %4
  %49 = add nsw i32 %48, %10
  %50 = sext i32 %49 to i64
  %51 = getelementptr inbounds i8, ptr addrspace(1) %1, i64 %50
  %52 = load i8, ptr addrspace(1) %51, align 1
  %53 = sext i8 %52 to i32
  %54 = mul nsw i32 %53, %46
  %55 = add nsw i32 %54, %39
  %56 = add nuw nsw i32 %38, 1
  %57 = icmp eq i32 %56, %3
  br i1 %57, label %34, label %37

58:                                               ; preds = %26, %6
  ret void
}

; Function Attrs: nofree noinline norecurse nosync nounwind
define ptx_kernel void @depthwise_float(ptr addrspace(1) noundef readonly captures(none) %0, ptr addrspace(1) noundef readonly align 16 captures(none) %1, ptr addrspace(1) noundef writeonly captures(none) %2, i32 noundef %3, i32 noundef %4, i32 noundef %5) local_unnamed_addr #0 {
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %8 = shl nsw i32 %7, 6
  %9 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %10 = add nsw i32 %8, %9
  %11 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %12 = icmp slt i32 %10, %4
  br i1 %12, label %13, label %56

13:                                               ; preds = %6
  %14 = icmp sgt i32 %3, 0
  %15 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  br i1 %14, label %16, label %26

16:                                               ; preds = %13
  %17 = add nsw i32 %3, -1
  %18 = add i32 %17, %5
  br label %19

19:                                               ; preds = %34, %16
  %20 = phi i32 [ 0, %16 ], [ %35, %34 ]
  %21 = phi float [ 0.000000e+00, %16 ], [ %53, %34 ]
  %22 = mul nsw i32 %20, %3
  %23 = add nsw i32 %20, %15
  %24 = mul nsw i32 %23, %18
  %25 = add nsw i32 %24, %11
  br label %37

26:                                               ; preds = %34, %13
  %27 = phi float [ 0.000000e+00, %13 ], [ %53, %34 ]
  %28 = mul nsw i32 %15, %5
  %29 = add nsw i32 %28, %11
  %30 = mul nsw i32 %29, %4
  %31 = add nsw i32 %30, %10
  %32 = sext i32 %31 to i64
  %33 = getelementptr inbounds float, ptr addrspace(1) %2, i64 %32
  store float %27, ptr addrspace(1) %33, align 4
  br label %56

34:                                               ; preds = %37
  %35 = add nuw nsw i32 %20, 1
  %36 = icmp eq i32 %35, %3
  br i1 %36, label %26, label %19

37:                                               ; preds = %37, %19
  %38 = phi i32 [ 0, %19 ], [ %54, %37 ]
  %39 = phi float [ %21, %19 ], [ %53, %37 ]
  %40 = add nsw i32 %38, %22
  %41 = mul nsw i32 %40, %4
  %42 = add nsw i32 %41, %10
  %43 = sext i32 %42 to i64
  %44 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %43
  %45 = load float, ptr addrspace(1) %44, align 4
  %46 = add nsw i32 %25, %38
  %47 = mul nsw i32 %46, %4
  %48 = add nsw i32 %47, %10
  %49 = sext i32 %48 to i64
  %50 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %49
  %51 = load float, ptr addrspace(1) %50, align 4
  %52 = fmul float %45, %51
  %53 = fadd float %39, %52
  %54 = add nuw nsw i32 %38, 1
  %55 = icmp eq i32 %54, %3
  br i1 %55, label %34, label %37

56:                                               ; preds = %26, %6
  ret void
}

attributes #0 = { nofree noinline norecurse nosync nounwind }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }

