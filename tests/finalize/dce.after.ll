@used = global i32 1

declare void @effect()

define i32 @f(i32 %x, ptr %p) {
  %v = load volatile i32, ptr %p, align 4
  call void @effect()
  store i32 %x, ptr %p, align 4
  ret i32 %x
}
