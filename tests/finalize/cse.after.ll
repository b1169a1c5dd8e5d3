define i32 @f(i32 %x, ptr addrspace(1) noalias readonly %p) {
  %a = mul i32 %x, %x
  %l = load i32, ptr addrspace(1) %p, align 4
  %c = add i32 %a, %l
  %d = sub i32 %a, %l
  %e = xor i32 %c, %d
  ret i32 %e
}
