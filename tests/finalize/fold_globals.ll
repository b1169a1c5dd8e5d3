@plain = internal addrspace(1) global i32 7
@generic = private global [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@constant_space = internal addrspace(4) global i32 7
@through_phi = internal addrspace(1) global [4 x i32] zeroinitializer
@through_select = internal addrspace(1) global [2 x i32] zeroinitializer
@through_call = internal addrspace(1) global i32 9
@copied_from = internal addrspace(1) global [16 x i8] zeroinitializer
@compared = internal addrspace(1) global i32 7
@through_cast = internal addrspace(1) global i32 7
@by_value = internal global { i32 } { i32 7 }
@in_a_loop_of_calls = internal addrspace(1) global i32 8

declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)

define internal i32 @reads(ptr addrspace(1) %p) {
  %x = load i32, ptr addrspace(1) %p, align 4
  ret i32 %x
}

define internal i32 @calls_itself(ptr addrspace(1) %p, i32 %n) {
  %x = load i32, ptr addrspace(1) %p, align 4
  %y = call i32 @calls_itself(ptr addrspace(1) %p, i32 %x)
  ret i32 %y
}

define internal i32 @takes_a_copy(ptr byval({ i32 }) %p) {
  %x = load i32, ptr %p, align 4
  ret i32 %x
}

define i32 @f(i32 %i, i1 %c, ptr %to) {
entry:
  %a = load i32, ptr addrspace(1) @plain, align 4
  %p = getelementptr [4 x i32], ptr @generic, i32 0, i32 %i
  %b = load i32, ptr %p, align 4
  %d = load i32, ptr addrspace(4) @constant_space, align 4
  br label %loop

loop:
  %q = phi ptr addrspace(1) [ @through_phi, %entry ], [ %q2, %loop ]
  %q2 = getelementptr i32, ptr addrspace(1) %q, i32 1
  %e = load i32, ptr addrspace(1) %q, align 4
  %s = select i1 %c, ptr addrspace(1) @through_select, ptr addrspace(1) getelementptr inbounds nuw (i8, ptr addrspace(1) @through_select, i64 4)
  %g = load i32, ptr addrspace(1) %s, align 4
  %more = icmp eq i32 %e, %g
  br i1 %more, label %loop, label %end

end:
  %h = call i32 @reads(ptr addrspace(1) @through_call)
  call void @llvm.memcpy.p0.p1.i64(ptr %to, ptr addrspace(1) @copied_from, i64 16, i1 false)
  %is = icmp eq ptr addrspace(1) @compared, null
  %j = load i32, ptr addrspacecast (ptr addrspace(1) @through_cast to ptr), align 4
  %k = call i32 @takes_a_copy(ptr byval({ i32 }) @by_value)
  %l = call i32 @calls_itself(ptr addrspace(1) @in_a_loop_of_calls, i32 1)
  ret i32 %h
}
