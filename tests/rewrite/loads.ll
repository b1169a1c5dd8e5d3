declare void @work()
declare i32 @pure(i32) memory(none)
declare i32 @look() memory(read)
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
define i32 @pair(ptr %p) {
  %a = load i32, ptr %p, align 4
  %b = load i32, ptr %p, align 8
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @pair.after(ptr %p) {
  %a = load i32, ptr %p, align 4
  %1 = mul i32 %a, 2
  ret i32 %1
}
define i32 @one_load(ptr %p) {
  %a = load i32, ptr %p, align 4
  %r = add i32 %a, %a
  ret i32 %r
}
define i32 @one_load.after(ptr %p) {
  %a = load i32, ptr %p, align 4
  %1 = mul i32 %a, 2
  ret i32 %1
}
define i32 @two_places(ptr %p, ptr %q) {
  %a = load i32, ptr %p, align 4
  %b = load i32, ptr %q, align 4
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @badly_aligned(ptr %p) {
  %a = load i32, ptr %p, align 4
  %b = load i32, ptr %p, align 2
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @elsewhere(ptr addrspace(1) %p) {
  %a = load i32, ptr addrspace(1) %p, align 4
  %b = load i32, ptr addrspace(1) %p, align 4
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @volatile(ptr %p) {
  %a = load i32, ptr %p, align 4
  %b = load volatile i32, ptr %p, align 4
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @atomic(ptr %p) {
  %a = load i32, ptr %p, align 4
  %b = load atomic i32, ptr %p monotonic, align 4
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @across_a_store(ptr %p, ptr %q) {
  %a = load i32, ptr %p, align 4
  store i32 1, ptr %q, align 4
  %b = load i32, ptr %p, align 4
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @before_a_store(ptr %p, ptr %q) {
  %a = load i32, ptr %p, align 4
  %b = load i32, ptr %p, align 4
  store i32 1, ptr %q, align 4
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @behind_a_store(ptr %p, ptr %q) {
  store i32 1, ptr %q, align 4
  %a = load i32, ptr %p, align 4
  %b = load i32, ptr %p, align 4
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @behind_a_store.after(ptr %p, ptr %q) {
  store i32 1, ptr %q, align 4
  %a = load i32, ptr %p, align 4
  %1 = mul i32 %a, 2
  ret i32 %1
}
define i32 @across_a_call(ptr %p) {
  %a = load i32, ptr %p, align 4
  call void @work()
  %b = load i32, ptr %p, align 4
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @across_a_pure_call(ptr %p, ptr %q) {
  %a = load i32, ptr %p, align 4
  %c = call i32 @pure(i32 %a)
  %d = call i32 @look()
  %b = load i32, ptr %p, align 4
  %r = add i32 %a, %b
  %s = xor i32 %c, %d
  %t = sub i32 %s, %r
  ret i32 %t
}
define i32 @across_a_pure_call.after(ptr %p, ptr %q) {
  %a = load i32, ptr %p, align 4
  %c = call i32 @pure(i32 %a)
  %d = call i32 @look()
  %1 = mul i32 %a, 2
  %s = xor i32 %c, %d
  %t = sub i32 %s, %1
  ret i32 %t
}
define i32 @across_a_barrier(ptr %p) {
  %a = load i32, ptr %p, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %b = load i32, ptr %p, align 4
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @across_a_fence(ptr %p) {
  %a = load i32, ptr %p, align 4
  fence seq_cst
  %b = load i32, ptr %p, align 4
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @across_an_atomic(ptr %p, ptr %q) {
  %a = load i32, ptr %p, align 4
  %o = atomicrmw add ptr %q, i32 1 monotonic
  %b = load i32, ptr %p, align 4
  %r = add i32 %a, %b
  ret i32 %r
}
define i32 @across_assembly(ptr %p) {
  %a = load i32, ptr %p, align 4
  call void asm sideeffect "nop", ""()
  %b = load i32, ptr %p, align 4
  %r = add i32 %a, %b
  ret i32 %r
}
