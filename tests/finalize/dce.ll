@unused = internal global i32 1
@used = global i32 1

declare void @effect()

define internal void @unused_function() {
  call void @effect()
  ret void
}

define i32 @f(i32 %x, ptr %p) {
  %a = mul i32 %x, %x
  %b = add i32 %a, %a
  %v = load volatile i32, ptr %p, align 4
  call void @effect()
  store i32 %x, ptr %p, align 4
  ret i32 %x
}
