; Each of these may be written, or its address may go where nobody can see it.
@stored = internal addrspace(1) global i32 7
@stored_through_gep = internal addrspace(1) global [4 x i32] zeroinitializer
@stored_through_constant_gep = internal addrspace(1) global [4 x i32] zeroinitializer
@stored_through_phi = internal addrspace(1) global i32 7
@stored_through_select = internal addrspace(1) global i32 7
@stored_through_cast = internal addrspace(1) global i32 7
@stored_by_callee = internal addrspace(1) global i32 7
@given_away = internal addrspace(1) global i32 7
@given_to_a_pointer = internal addrspace(1) global i32 7
@given_to_assembly = internal addrspace(1) global i32 7
@given_too_much = internal addrspace(1) global i32 7
@given_to_what_may_be_replaced = internal addrspace(1) global i32 7
@address_stored = internal addrspace(1) global i32 7
@address_returned = internal addrspace(1) global i32 7
@address_a_number = internal addrspace(1) global i32 7
@address_in_a_table = internal global i32 7
@table = internal constant [1 x ptr] [ptr @address_in_a_table]
@address_in_a_vector = internal global i32 7
@read_volatile = internal addrspace(1) global i32 7
@read_atomic = internal addrspace(1) global i32 7
@added_to = internal addrspace(1) global i32 7
@exchanged = internal addrspace(1) global i32 7
@copied_to = internal addrspace(1) global [16 x i8] zeroinitializer
@copied_volatile = internal addrspace(1) global [16 x i8] zeroinitializer
@moved_to = internal addrspace(1) global [16 x i8] zeroinitializer
@external = addrspace(1) global i32 7
@weak = weak addrspace(1) global i32 7
@of_the_host = internal addrspace(1) externally_initialized global i32 7
@managed = internal addrspace(1) global i32 7
@used = internal global i32 7
@llvm.used = appending global [1 x ptr] [ptr @used], section "llvm.metadata"
@shared = internal addrspace(3) global i32 7
@local = internal addrspace(5) global i32 7
@of_a_thread = internal thread_local global i32 7
@of_another_alias = internal global i32 7
@alias = internal alias i32, ptr @of_another_alias
@no_initializer = external addrspace(1) global i32

declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
declare void @llvm.memcpy.p1.p0.i64(ptr addrspace(1), ptr, i64, i1)
declare void @llvm.memmove.p1.p0.i64(ptr addrspace(1), ptr, i64, i1)
declare void @elsewhere(ptr addrspace(1))

define internal void @writes(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p, align 4
  ret void
}

define internal void @takes_nothing() {
  ret void
}

define weak void @may_be_replaced(ptr addrspace(1) %p) {
  ret void
}

define ptr addrspace(1) @f(i32 %i, i1 %c, ptr %to, ptr %fn) {
entry:
  %a = load i32, ptr addrspace(1) @stored, align 4
  store i32 1, ptr addrspace(1) @stored, align 4
  %p = getelementptr [4 x i32], ptr addrspace(1) @stored_through_gep, i32 0, i32 %i
  store i32 1, ptr addrspace(1) %p, align 4
  store i32 1, ptr addrspace(1) getelementptr inbounds nuw (i8, ptr addrspace(1) @stored_through_constant_gep, i64 4), align 4
  br i1 %c, label %one, label %two

one:
  br label %two

two:
  %q = phi ptr addrspace(1) [ @stored_through_phi, %entry ], [ null, %one ]
  store i32 1, ptr addrspace(1) %q, align 4
  %s = select i1 %c, ptr addrspace(1) @stored_through_select, ptr addrspace(1) null
  store i32 1, ptr addrspace(1) %s, align 4
  store i32 1, ptr addrspacecast (ptr addrspace(1) @stored_through_cast to ptr), align 4
  call void @writes(ptr addrspace(1) @stored_by_callee)
  call void @elsewhere(ptr addrspace(1) @given_away)
  call void %fn(ptr addrspace(1) @given_to_a_pointer)
  call void asm sideeffect "st.global.b32 [$0], 1;", "l"(ptr addrspace(1) @given_to_assembly)
  call void @takes_nothing(ptr addrspace(1) @given_too_much)
  call void @may_be_replaced(ptr addrspace(1) @given_to_what_may_be_replaced)
  store ptr addrspace(1) @address_stored, ptr %to, align 8
  store i64 ptrtoint (ptr addrspace(1) @address_a_number to i64), ptr %to, align 8
  %t = load ptr, ptr @table, align 8
  store i32 1, ptr %t, align 4
  %v = insertelement <2 x ptr> poison, ptr @address_in_a_vector, i32 0
  %e = extractelement <2 x ptr> %v, i32 0
  store i32 1, ptr %e, align 4
  %b = load volatile i32, ptr addrspace(1) @read_volatile, align 4
  %d = load atomic i32, ptr addrspace(1) @read_atomic monotonic, align 4
  %g = atomicrmw add ptr addrspace(1) @added_to, i32 1 monotonic, align 4
  %h = cmpxchg ptr addrspace(1) @exchanged, i32 1, i32 2 monotonic monotonic, align 4
  call void @llvm.memcpy.p1.p0.i64(ptr addrspace(1) @copied_to, ptr %to, i64 16, i1 false)
  call void @llvm.memcpy.p0.p1.i64(ptr %to, ptr addrspace(1) @copied_volatile, i64 16, i1 true)
  call void @llvm.memmove.p1.p0.i64(ptr addrspace(1) @moved_to, ptr %to, i64 16, i1 false)
  %j = load i32, ptr addrspace(1) @external, align 4
  %k = load i32, ptr addrspace(1) @weak, align 4
  %l = load i32, ptr addrspace(1) @of_the_host, align 4
  %m = load i32, ptr addrspace(1) @managed, align 4
  %n = load i32, ptr @used, align 4
  %o = load i32, ptr addrspace(3) @shared, align 4
  %r = load i32, ptr addrspace(5) @local, align 4
  %u = load i32, ptr @of_a_thread, align 4
  store i32 1, ptr @alias, align 4
  %w = load i32, ptr addrspace(1) @no_initializer, align 4
  ret ptr addrspace(1) @address_returned
}

!nvvm.annotations = !{!0}
!0 = !{ptr addrspace(1) @managed, !"managed", i32 1}
