target datalayout = "e-p3:32:32-p4:32:32-p5:32:32-i64:64-i128:128-v16:16-v32:32-n16:32:64"

define ptx_kernel void @kernel(ptr addrspace(1) %out, i32 %n) {
  %room = alloca i32, align 4
  store i32 %n, ptr %room, align 4
  %a = load i32, ptr %room, align 4
  %b = load i32, ptr %room, align 4
  %x = xor i32 %a, %b
  store i32 %x, ptr addrspace(1) %out, align 4
  ret void
}

; Triton's: it stays as it is.
define ptx_kernel void @scheduled(ptr addrspace(1) %out, i32 %n) {
  %x = xor i32 %n, %n
  call void asm sideeffect "st.global.b32 [ $1 + 0 ], { $0 };", "r,l"(i32 %x, ptr addrspace(1) %out)
  ret void
}
