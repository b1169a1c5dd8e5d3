; What Triton 3.6.0 makes of a kernel for sm_90, without debug data.
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

; Function Attrs: nounwind
define ptx_kernel void @req(ptr addrspace(1) %0, ptr addrspace(1) %1, ptr addrspace(1) readnone captures(none) %2, ptr addrspace(1) readnone captures(none) %3) local_unnamed_addr #0 {
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = shl i32 %5, 9
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = shl nuw nsw i32 %7, 2
  %9 = and i32 %8, 508
  %10 = or disjoint i32 %9, %6
  %11 = sext i32 %10 to i64
  %12 = getelementptr i8, ptr addrspace(1) %0, i64 %11
  %13 = tail call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %12) #4
  %14 = bitcast i32 %13 to <4 x i8>
  %15 = extractelement <4 x i8> %14, i64 0
  %16 = extractelement <4 x i8> %14, i64 1
  %17 = extractelement <4 x i8> %14, i64 2
  %18 = extractelement <4 x i8> %14, i64 3
  %19 = sitofp i8 %15 to float
  %20 = sitofp i8 %16 to float
  %21 = sitofp i8 %17 to float
  %22 = sitofp i8 %18 to float
  %23 = fmul float %19, 0x3F8930BE00000000
  %24 = fmul float %20, 0x3F8930BE00000000
  %25 = fmul float %21, 0x3F8930BE00000000
  %26 = fmul float %22, 0x3F8930BE00000000
  %27 = tail call float @llvm.nvvm.div.full(float %23, float 0x3F8930BE00000000)
  %28 = tail call float @llvm.nvvm.div.full(float %24, float 0x3F8930BE00000000)
  %29 = tail call float @llvm.nvvm.div.full(float %25, float 0x3F8930BE00000000)
  %30 = tail call float @llvm.nvvm.div.full(float %26, float 0x3F8930BE00000000)
  %31 = tail call float @llvm.nvvm.round.f(float %27) #4
  %32 = tail call float @llvm.nvvm.round.f(float %28) #4
  %33 = tail call float @llvm.nvvm.round.f(float %29) #4
  %34 = tail call float @llvm.nvvm.round.f(float %30) #4
  %35 = getelementptr i8, ptr addrspace(1) %1, i64 %11
  %36 = insertelement <4 x float> poison, float %31, i64 0
  %37 = insertelement <4 x float> %36, float %32, i64 1
  %38 = insertelement <4 x float> %37, float %33, i64 2
  %39 = insertelement <4 x float> %38, float %34, i64 3
  %40 = tail call <4 x float> @llvm.maxnum.v4f32(<4 x float> %39, <4 x float> splat (float -1.280000e+02))
  %41 = tail call <4 x float> @llvm.minnum.v4f32(<4 x float> %40, <4 x float> splat (float 1.270000e+02))
  %42 = fptosi <4 x float> %41 to <4 x i8>
  %43 = bitcast <4 x i8> %42 to i32
  tail call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %43, ptr addrspace(1) %35) #4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(none)
declare float @llvm.nvvm.div.full(float, float) #2

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.nvvm.round.f(float) #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <4 x float> @llvm.maxnum.v4f32(<4 x float>, <4 x float>) #3

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <4 x float> @llvm.minnum.v4f32(<4 x float>, <4 x float>) #3

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nofree nosync nounwind willreturn memory(none) }
attributes #3 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { nounwind }

!llvm.module.flags = !{!0, !1}
!llvm.ident = !{!2}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
!2 = !{!"clang version 3.8.0 (tags/RELEASE_380/final)"}
