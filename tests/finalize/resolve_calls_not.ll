; The index is not known, the table can be written, or it is read volatile.
@table = internal constant [2 x ptr] [ptr @one, ptr @two]
@written = internal global [1 x ptr] [ptr @one]
@replaced = weak constant [1 x ptr] [ptr @one]

define internal i32 @one(i32 %x) {
  %y = mul i32 %x, 11
  ret i32 %y
}

define internal i32 @two(i32 %x) {
  %y = mul i32 %x, 13
  ret i32 %y
}

define i32 @f(i32 %x, i64 %i) {
  %p = getelementptr inbounds ptr, ptr @table, i64 %i
  %callee = load ptr, ptr %p, align 8
  %y = call i32 %callee(i32 %x)
  ret i32 %y
}

define i32 @g(i32 %x, ptr %new) {
  %callee = load ptr, ptr @written, align 8
  store ptr %new, ptr @written, align 8
  %y = call i32 %callee(i32 %x)
  ret i32 %y
}

define i32 @h(i32 %x) {
  %callee = load volatile ptr, ptr @table, align 8
  %y = call i32 %callee(i32 %x)
  ret i32 %y
}

define i32 @i(i32 %x) {
  %callee = load ptr, ptr @replaced, align 8
  %y = call i32 %callee(i32 %x)
  ret i32 %y
}
