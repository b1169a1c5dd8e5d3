target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

@tile = internal addrspace(3) global [32 x i32] undef
@w = internal addrspace(1) constant [64 x i32] zeroinitializer, align 16

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define ptx_kernel void @kernel(ptr addrspace(1) %x, ptr addrspace(1) %out) "nvvm.reqntid"="32" {
begin:
  %p0 = getelementptr i32, ptr addrspace(1) %x, i32 0
  %is = icmp sgt i32 3, 0
  %r0 = call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %p0, i1 %is)
  %q0 = getelementptr i32, ptr addrspace(1) @w, i32 0
  %0 = call i32 asm sideeffect "ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %q0)
  %p1 = getelementptr i32, ptr addrspace(1) %x, i32 32
  %r1 = call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %p1, i1 %is)
  %q1 = getelementptr i32, ptr addrspace(1) @w, i32 4
  %1 = call i32 asm sideeffect "ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %q1)
  %p2 = getelementptr i32, ptr addrspace(1) %x, i32 64
  %r2 = call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %p2, i1 %is)
  %q2 = getelementptr i32, ptr addrspace(1) @w, i32 8
  %2 = call i32 asm sideeffect "ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l"(ptr addrspace(1) %q2)
  %id = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %own = getelementptr i32, ptr addrspace(3) @tile, i32 %id
  %turned = xor i32 %id, 31
  %other = getelementptr i32, ptr addrspace(3) @tile, i32 %turned
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 %r0, ptr addrspace(3) %own, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %s0 = load i32, ptr addrspace(3) %other, align 4
  %m0 = mul i32 %s0, %0
  %t0 = add i32 %m0, 0
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 %r1, ptr addrspace(3) %own, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %s1 = load i32, ptr addrspace(3) %other, align 4
  %m1 = mul i32 %s1, %1
  %t1 = add i32 %m1, %t0
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  store i32 %r2, ptr addrspace(3) %own, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %s2 = load i32, ptr addrspace(3) %other, align 4
  %m2 = mul i32 %s2, %2
  %t2 = add i32 %m2, %t1
  %found = getelementptr i32, ptr addrspace(1) %x, i32 %t2
  %last = call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %found, i1 %is)
  %sum = add i32 %last, %t2
  %to = getelementptr i32, ptr addrspace(1) %out, i32 %id
  store i32 %sum, ptr addrspace(1) %to, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %p3 = getelementptr i32, ptr addrspace(1) %x, i32 96
  %late = call i32 asm sideeffect "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(ptr addrspace(1) %p3, i1 %is)
  store i32 %late, ptr addrspace(1) %to, align 4
  ret void
}
