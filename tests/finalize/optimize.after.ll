target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: write)
define ptx_kernel void @kernel(ptr addrspace(1) writeonly captures(none) initializes((0, 4)) %out, i32 %n) local_unnamed_addr #0 {
  store i32 0, ptr addrspace(1) %out, align 4
  ret void
}

define ptx_kernel void @scheduled(ptr addrspace(1) %out, i32 %n) local_unnamed_addr {
  %x = xor i32 %n, %n
  call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %x, ptr addrspace(1) %out)
  ret void
}

attributes #0 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: write) }
