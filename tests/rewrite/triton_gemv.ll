; What Triton 3.6.0 makes of a kernel for sm_90, without debug data.
source_filename = "LLVMDialectModule"
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"

@global_smem = external local_unnamed_addr addrspace(3) global [0 x i8], align 16

; Function Attrs: nounwind
define ptx_kernel void @gemv(ptr addrspace(1) %0, ptr addrspace(1) %1, ptr addrspace(1) %2, i32 %3, ptr addrspace(1) readnone captures(none) %4, ptr addrspace(1) readnone captures(none) %5) local_unnamed_addr #0 {
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %8 = shl i32 %7, 5
  %9 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %10 = and i32 %9, 127
  %11 = and i32 %9, 120
  %12 = lshr exact i32 %11, 3
  %13 = and i32 %9, 31
  %14 = or disjoint i32 %12, %8
  %15 = or disjoint i32 %14, 16
  %16 = shl nuw nsw i32 %9, 4
  %17 = and i32 %16, 112
  %18 = mul i32 %3, %14
  %19 = mul i32 %3, %15
  %20 = sext i32 %18 to i64
  %21 = getelementptr i8, ptr addrspace(1) %1, i64 %20
  %22 = sext i32 %19 to i64
  %23 = getelementptr i8, ptr addrspace(1) %1, i64 %22
  %24 = icmp sgt i32 %3, 0
  br i1 %24, label %25, label %173

25:                                               ; preds = %6
  %26 = shl nuw nsw i32 %13, 2
  %27 = lshr i32 %9, 5
  %28 = and i32 %27, 3
  %29 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %26
  %30 = getelementptr inbounds nuw i8, ptr addrspace(3) %29, i32 %28
  %31 = lshr i32 %9, 1
  %32 = and i32 %31, 3
  %33 = shl nuw nsw i32 %9, 6
  %34 = and i32 %33, 64
  %35 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %34
  %36 = getelementptr inbounds nuw i8, ptr addrspace(3) %35, i32 %32
  %37 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 4
  %38 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 8
  %39 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 12
  %40 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 16
  %41 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 20
  %42 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 24
  %43 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 28
  %44 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 32
  %45 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 36
  %46 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 40
  %47 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 44
  %48 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 48
  %49 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 52
  %50 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 56
  %51 = getelementptr inbounds nuw i8, ptr addrspace(3) %36, i32 60
  br label %52

52:                                               ; preds = %52, %25
  %53 = phi i32 [ 0, %25 ], [ %171, %52 ]
  %54 = phi <2 x i32> [ zeroinitializer, %25 ], [ %170, %52 ]
  %55 = or disjoint i32 %53, %17
  %56 = or disjoint i32 %53, %10
  %57 = sext i32 %56 to i64
  %58 = getelementptr i8, ptr addrspace(1) %0, i64 %57
  %59 = tail call i8 asm sideeffect "mov.u16 $0, 0x0;\0A\09ld.global.b8 { $0 }, [ $1 + 0 ];", "=c,l"(ptr addrspace(1) %58) #4
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %60 = insertelement <1 x i8> poison, i8 %59, i64 0
  store <1 x i8> %60, ptr addrspace(3) %30, align 1
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %61 = load i8, ptr addrspace(3) %36, align 1
  %62 = load i8, ptr addrspace(3) %37, align 1
  %63 = load i8, ptr addrspace(3) %38, align 1
  %64 = load i8, ptr addrspace(3) %39, align 1
  %65 = load i8, ptr addrspace(3) %40, align 1
  %66 = load i8, ptr addrspace(3) %41, align 1
  %67 = load i8, ptr addrspace(3) %42, align 1
  %68 = load i8, ptr addrspace(3) %43, align 1
  %69 = load i8, ptr addrspace(3) %44, align 1
  %70 = load i8, ptr addrspace(3) %45, align 1
  %71 = load i8, ptr addrspace(3) %46, align 1
  %72 = load i8, ptr addrspace(3) %47, align 1
  %73 = load i8, ptr addrspace(3) %48, align 1
  %74 = load i8, ptr addrspace(3) %49, align 1
  %75 = load i8, ptr addrspace(3) %50, align 1
  %76 = load i8, ptr addrspace(3) %51, align 1
  %77 = sext i32 %55 to i64
  %78 = getelementptr i8, ptr addrspace(1) %21, i64 %77
  %79 = getelementptr i8, ptr addrspace(1) %23, i64 %77
  %80 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];", "=r,=r,=r,=r,l"(ptr addrspace(1) %78) #4
  %81 = extractvalue { i32, i32, i32, i32 } %80, 0
  %82 = bitcast i32 %81 to <4 x i8>
  %83 = extractvalue { i32, i32, i32, i32 } %80, 1
  %84 = bitcast i32 %83 to <4 x i8>
  %85 = extractvalue { i32, i32, i32, i32 } %80, 2
  %86 = bitcast i32 %85 to <4 x i8>
  %87 = extractvalue { i32, i32, i32, i32 } %80, 3
  %88 = bitcast i32 %87 to <4 x i8>
  %89 = tail call { i32, i32, i32, i32 } asm sideeffect "mov.u32 $0, 0x0;\0A\09mov.u32 $1, 0x0;\0A\09mov.u32 $2, 0x0;\0A\09mov.u32 $3, 0x0;\0A\09ld.global.v4.b32 { $0, $1, $2, $3 }, [ $4 + 0 ];", "=r,=r,=r,=r,l"(ptr addrspace(1) %79) #4
  %90 = extractvalue { i32, i32, i32, i32 } %89, 0
  %91 = bitcast i32 %90 to <4 x i8>
  %92 = extractvalue { i32, i32, i32, i32 } %89, 1
  %93 = bitcast i32 %92 to <4 x i8>
  %94 = extractvalue { i32, i32, i32, i32 } %89, 2
  %95 = bitcast i32 %94 to <4 x i8>
  %96 = extractvalue { i32, i32, i32, i32 } %89, 3
  %97 = bitcast i32 %96 to <4 x i8>
  %98 = insertelement <16 x i8> poison, i8 %61, i64 0
  %99 = insertelement <16 x i8> %98, i8 %62, i64 1
  %100 = insertelement <16 x i8> %99, i8 %63, i64 2
  %101 = insertelement <16 x i8> %100, i8 %64, i64 3
  %102 = insertelement <16 x i8> %101, i8 %65, i64 4
  %103 = insertelement <16 x i8> %102, i8 %66, i64 5
  %104 = insertelement <16 x i8> %103, i8 %67, i64 6
  %105 = insertelement <16 x i8> %104, i8 %68, i64 7
  %106 = insertelement <16 x i8> %105, i8 %69, i64 8
  %107 = insertelement <16 x i8> %106, i8 %70, i64 9
  %108 = insertelement <16 x i8> %107, i8 %71, i64 10
  %109 = insertelement <16 x i8> %108, i8 %72, i64 11
  %110 = insertelement <16 x i8> %109, i8 %73, i64 12
  %111 = insertelement <16 x i8> %110, i8 %74, i64 13
  %112 = insertelement <16 x i8> %111, i8 %75, i64 14
  %113 = insertelement <16 x i8> %112, i8 %76, i64 15
  %114 = sext <16 x i8> %113 to <16 x i32>
  %115 = shufflevector <4 x i8> %82, <4 x i8> %84, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %116 = shufflevector <4 x i8> %86, <4 x i8> poison, <16 x i32> <i32 0, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %117 = shufflevector <16 x i8> %115, <16 x i8> %116, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %118 = shufflevector <4 x i8> %86, <4 x i8> poison, <16 x i32> <i32 poison, i32 1, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %119 = shufflevector <16 x i8> %117, <16 x i8> %118, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 17, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %120 = shufflevector <4 x i8> %86, <4 x i8> poison, <16 x i32> <i32 poison, i32 poison, i32 2, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %121 = shufflevector <16 x i8> %119, <16 x i8> %120, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 18, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %122 = shufflevector <4 x i8> %86, <4 x i8> poison, <16 x i32> <i32 poison, i32 poison, i32 poison, i32 3, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %123 = shufflevector <16 x i8> %121, <16 x i8> %122, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 19, i32 poison, i32 poison, i32 poison, i32 poison>
  %124 = shufflevector <4 x i8> %88, <4 x i8> poison, <16 x i32> <i32 0, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %125 = shufflevector <16 x i8> %123, <16 x i8> %124, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 16, i32 poison, i32 poison, i32 poison>
  %126 = shufflevector <4 x i8> %88, <4 x i8> poison, <16 x i32> <i32 poison, i32 1, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %127 = shufflevector <16 x i8> %125, <16 x i8> %126, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 17, i32 poison, i32 poison>
  %128 = shufflevector <4 x i8> %88, <4 x i8> poison, <16 x i32> <i32 poison, i32 poison, i32 2, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %129 = shufflevector <16 x i8> %127, <16 x i8> %128, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 18, i32 poison>
  %130 = shufflevector <4 x i8> %88, <4 x i8> poison, <16 x i32> <i32 poison, i32 poison, i32 poison, i32 3, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %131 = shufflevector <16 x i8> %129, <16 x i8> %130, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 19>
  %132 = sext <16 x i8> %131 to <16 x i32>
  %133 = mul nsw <16 x i32> %132, %114
  %134 = shufflevector <4 x i8> %91, <4 x i8> %93, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %135 = shufflevector <4 x i8> %95, <4 x i8> poison, <16 x i32> <i32 0, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %136 = shufflevector <16 x i8> %134, <16 x i8> %135, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 16, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %137 = shufflevector <4 x i8> %95, <4 x i8> poison, <16 x i32> <i32 poison, i32 1, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %138 = shufflevector <16 x i8> %136, <16 x i8> %137, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 17, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %139 = shufflevector <4 x i8> %95, <4 x i8> poison, <16 x i32> <i32 poison, i32 poison, i32 2, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %140 = shufflevector <16 x i8> %138, <16 x i8> %139, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 18, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %141 = shufflevector <4 x i8> %95, <4 x i8> poison, <16 x i32> <i32 poison, i32 poison, i32 poison, i32 3, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %142 = shufflevector <16 x i8> %140, <16 x i8> %141, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 19, i32 poison, i32 poison, i32 poison, i32 poison>
  %143 = shufflevector <4 x i8> %97, <4 x i8> poison, <16 x i32> <i32 0, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %144 = shufflevector <16 x i8> %142, <16 x i8> %143, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 16, i32 poison, i32 poison, i32 poison>
  %145 = shufflevector <4 x i8> %97, <4 x i8> poison, <16 x i32> <i32 poison, i32 1, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %146 = shufflevector <16 x i8> %144, <16 x i8> %145, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 17, i32 poison, i32 poison>
  %147 = shufflevector <4 x i8> %97, <4 x i8> poison, <16 x i32> <i32 poison, i32 poison, i32 2, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %148 = shufflevector <16 x i8> %146, <16 x i8> %147, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 18, i32 poison>
  %149 = shufflevector <4 x i8> %97, <4 x i8> poison, <16 x i32> <i32 poison, i32 poison, i32 poison, i32 3, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison, i32 poison>
  %150 = shufflevector <16 x i8> %148, <16 x i8> %149, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 19>
  %151 = sext <16 x i8> %150 to <16 x i32>
  %152 = mul nsw <16 x i32> %151, %114
  %153 = tail call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %133)
  %154 = tail call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %152)
  %155 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %153, i32 4, i32 31)
  %156 = add i32 %153, %155
  %157 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %156, i32 2, i32 31)
  %158 = add i32 %156, %157
  %159 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %158, i32 1, i32 31)
  %160 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %154, i32 4, i32 31)
  %161 = add i32 %154, %160
  %162 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %161, i32 2, i32 31)
  %163 = add i32 %161, %162
  %164 = tail call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %163, i32 1, i32 31)
  %165 = insertelement <2 x i32> poison, i32 %159, i64 0
  %166 = insertelement <2 x i32> %165, i32 %164, i64 1
  %167 = add <2 x i32> %166, %54
  %168 = insertelement <2 x i32> poison, i32 %158, i64 0
  %169 = insertelement <2 x i32> %168, i32 %163, i64 1
  %170 = add <2 x i32> %167, %169
  %171 = add i32 %53, 128
  %172 = icmp slt i32 %171, %3
  br i1 %172, label %52, label %173

173:                                              ; preds = %52, %6
  %174 = phi <2 x i32> [ zeroinitializer, %6 ], [ %170, %52 ]
  %175 = or disjoint i32 %8, %13
  %176 = sext i32 %175 to i64
  %177 = getelementptr i32, ptr addrspace(1) %2, i64 %176
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %178 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %11
  store <2 x i32> %174, ptr addrspace(3) %178, align 8
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %179 = shl nuw nsw i32 %9, 3
  %180 = and i32 %179, 120
  %181 = lshr i32 %9, 2
  %182 = and i32 %181, 4
  %183 = getelementptr inbounds nuw i8, ptr addrspace(3) @global_smem, i32 %180
  %184 = getelementptr inbounds nuw i8, ptr addrspace(3) %183, i32 %182
  %185 = load i32, ptr addrspace(3) %184, align 4
  %186 = and i32 %9, 96
  %187 = icmp eq i32 %186, 0
  tail call void asm sideeffect "@$2 st.global.b32 [ $1 + 0 ], { $0 };", "r,l,b"(i32 %185, ptr addrspace(1) %177, i1 %187) #4
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32) #3

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.vector.reduce.add.v16i32(<16 x i32>) #1

attributes #0 = { nounwind "nvvm.reqntid"="128" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind }
attributes #3 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #4 = { nounwind }

!llvm.module.flags = !{!0, !1}

!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !{i32 4, !"nvvm-reflect-ftz", i32 1}
