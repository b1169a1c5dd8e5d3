; What Triton 3.6.0 makes of a kernel for sm_90, without debug data.
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

; Function Attrs: nounwind
define ptx_kernel void @req_zp(ptr addrspace(1) %0, ptr addrspace(1) %1, ptr addrspace(1) readnone captures(none) %2, ptr addrspace(1) readnone captures(none) %3) local_unnamed_addr #0 {
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = shl i32 %5, 9
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = shl nuw nsw i32 %7, 2
  %9 = and i32 %8, 508
  %10 = or disjoint i32 %9, %6
  %11 = sext i32 %10 to i64
  %12 = getelementptr i8, ptr addrspace(1) %0, i64 %11
  %13 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %12) #3
  %14 = bitcast i32 %13 to <4 x i8>
  %15 = extractelement <4 x i8> %14, i64 0
  %16 = extractelement <4 x i8> %14, i64 1
  %17 = extractelement <4 x i8> %14, i64 2
  %18 = extractelement <4 x i8> %14, i64 3
  %19 = sext i8 %15 to i32
  %20 = sext i8 %16 to i32
  %21 = sext i8 %17 to i32
  %22 = sext i8 %18 to i32
  %23 = add nsw i32 %19, -7
  %24 = add nsw i32 %20, -7
  %25 = add nsw i32 %21, -7
  %26 = add nsw i32 %22, -7
  %27 = sitofp i32 %23 to float
  %28 = sitofp i32 %24 to float
  %29 = sitofp i32 %25 to float
  %30 = sitofp i32 %26 to float
  %31 = fmul float %27, 0x3F8930BE00000000
  %32 = fmul float %28, 0x3F8930BE00000000
  %33 = fmul float %29, 0x3F8930BE00000000
  %34 = fmul float %30, 0x3F8930BE00000000
  %35 = fmul float %31, 0x4054534080000000
  %36 = fmul float %32, 0x4054534080000000
  %37 = fmul float %33, 0x4054534080000000
  %38 = fmul float %34, 0x4054534080000000
  %39 = tail call float @llvm.nvvm.round.f(float %35) #3
  %40 = tail call float @llvm.nvvm.round.f(float %36) #3
  %41 = tail call float @llvm.nvvm.round.f(float %37) #3
  %42 = tail call float @llvm.nvvm.round.f(float %38) #3
  %43 = getelementptr i8, ptr addrspace(1) %1, i64 %11
  %44 = insertelement <4 x float> poison, float %39, i64 0
  %45 = insertelement <4 x float> %44, float %40, i64 1
  %46 = insertelement <4 x float> %45, float %41, i64 2
  %47 = insertelement <4 x float> %46, float %42, i64 3
  %48 = fptosi <4 x float> %47 to <4 x i32>
  %49 = add <4 x i32> %48, splat (i32 7)
  %50 = tail call <4 x i32> @llvm.smax.v4i32(<4 x i32> %49, <4 x i32> splat (i32 -128))
  %51 = tail call <4 x i32> @llvm.smin.v4i32(<4 x i32> %50, <4 x i32> splat (i32 127))
  %52 = trunc nsw <4 x i32> %51 to <4 x i8>
  %53 = bitcast <4 x i8> %52 to i32
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %53, ptr addrspace(1) %43) #3
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.nvvm.round.f(float) #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <4 x i32> @llvm.smax.v4i32(<4 x i32>, <4 x i32>) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <4 x i32> @llvm.smin.v4i32(<4 x i32>, <4 x i32>) #2

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { nounwind }

!llvm.module.flags = !{!0, !1}
!llvm.ident = !{!2}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!2 = !{!"clang version 3.8.0 (tags/RELEASE_380/final)"}
