@table = internal constant [2 x ptr] [ptr @one, ptr @two]

define internal i32 @one(i32 %x) {
  %y = mul i32 %x, 11
  ret i32 %y
}

define internal i32 @two(i32 %x) {
  %y = mul i32 %x, 13
  ret i32 %y
}

define i32 @f(i32 %x) {
  %callee = load ptr, ptr getelementptr inbounds ([2 x ptr], ptr @table, i64 0, i64 1), align 8
  %y = call i32 %callee(i32 %x)
  ret i32 %y
}
