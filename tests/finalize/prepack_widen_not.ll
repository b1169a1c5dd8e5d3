; Bytes that must not, or cannot, be read as a word.
target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

declare void @elsewhere()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

;part byte
  %p{k} = getelementptr i8, ptr addrspace(1) %p, i64 {k}
  %b{k} = load i8, ptr addrspace(1) %p{k}, align {align}
;end
;part vector
;each k 0..3, last poison %v0..2
  %v{k} = insertelement <4 x i8> {last}, i8 %b{k}, i32 {k}
;end
  ret <4 x i8> %v3
;end

define <4 x i8> @of_unaligned_bytes(ptr addrspace(1) %p) {
  %b0 = load i8, ptr addrspace(1) %p, align 2
;use byte k 1..3, align 1 2 1
;use vector
}

define <4 x i8> @with_a_store_between(ptr addrspace(1) %p, ptr %q) {
  %b0 = load i8, ptr addrspace(1) %p, align 4
;use byte k 1, align 1
  store i8 1, ptr %q, align 1
;use byte k 2 3, align 2 1
;use vector
}

define <4 x i8> @with_a_call_between(ptr addrspace(1) %p) {
  %b0 = load i8, ptr addrspace(1) %p, align 4
;use byte k 1, align 1
  call void @elsewhere()
;use byte k 2 3, align 2 1
;use vector
}

define <4 x i8> @with_a_barrier_between(ptr addrspace(1) %p) {
  %b0 = load i8, ptr addrspace(1) %p, align 4
;use byte k 1, align 1
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
;use byte k 2 3, align 2 1
;use vector
}

define <4 x i8> @with_a_fence_between(ptr addrspace(1) %p) {
  %b0 = load i8, ptr addrspace(1) %p, align 4
;use byte k 1 2, align 1 2
  fence seq_cst
;use byte k 3, align 1
;use vector
}

define <4 x i8> @with_an_atomic_between(ptr addrspace(1) %p, ptr %q) {
  %b0 = load i8, ptr addrspace(1) %p, align 4
;use byte k 1 2, align 1 2
  %old = atomicrmw add ptr %q, i32 1 monotonic, align 4
;use byte k 3, align 1
;use vector
}

define <4 x i8> @with_a_volatile_load_between(ptr addrspace(1) %p, ptr %q) {
  %b0 = load i8, ptr addrspace(1) %p, align 4
  %other = load volatile i8, ptr %q, align 1
;use byte k 1..3, align 1 2 1
;use vector
}

define <4 x i8> @of_bytes_with_a_gap(ptr addrspace(1) %p) {
  %b0 = load i8, ptr addrspace(1) %p, align 4
;use byte k 1 2, align 1 2
  %p3 = getelementptr i8, ptr addrspace(1) %p, i64 4
  %b3 = load i8, ptr addrspace(1) %p3, align 4
;use vector
}

define <4 x i8> @of_bytes_in_another_order(ptr addrspace(1) %p) {
  %p0 = getelementptr i8, ptr addrspace(1) %p, i64 3
  %b0 = load i8, ptr addrspace(1) %p0, align 1
  %p1 = getelementptr i8, ptr addrspace(1) %p, i64 2
  %b1 = load i8, ptr addrspace(1) %p1, align 2
  %p2 = getelementptr i8, ptr addrspace(1) %p, i64 1
  %b2 = load i8, ptr addrspace(1) %p2, align 1
  %b3 = load i8, ptr addrspace(1) %p, align 4
;use vector
}

define <4 x i8> @of_bytes_of_two_pointers(ptr addrspace(1) %p, ptr addrspace(1) %q) {
  %b0 = load i8, ptr addrspace(1) %p, align 4
;use byte k 1, align 1
  %p2 = getelementptr i8, ptr addrspace(1) %q, i64 2
  %b2 = load i8, ptr addrspace(1) %p2, align 2
  %p3 = getelementptr i8, ptr addrspace(1) %q, i64 3
  %b3 = load i8, ptr addrspace(1) %p3, align 1
;use vector
}

define <4 x i8> @of_a_volatile_byte(ptr addrspace(1) %p) {
  %b0 = load volatile i8, ptr addrspace(1) %p, align 4
;use byte k 1..3, align 1 2 1
;use vector
}

define <4 x i8> @of_an_atomic_byte(ptr addrspace(1) %p) {
  %b0 = load i8, ptr addrspace(1) %p, align 4
;use byte k 1 2, align 1 2
  %p3 = getelementptr i8, ptr addrspace(1) %p, i64 3
  %b3 = load atomic i8, ptr addrspace(1) %p3 monotonic, align 1
;use vector
}

define <4 x i8> @of_bytes_in_two_blocks(ptr addrspace(1) %p) {
  %b0 = load i8, ptr addrspace(1) %p, align 4
;use byte k 1, align 1
  %p2 = getelementptr i8, ptr addrspace(1) %p, i64 2
  br label %next

next:
  %b2 = load i8, ptr addrspace(1) %p2, align 2
;use byte k 3, align 1
;use vector
}
