; Metadata that says something else stays.
define i32 @f(ptr %p) {
  %x = load i32, ptr %p, align 4, !range !0, !invariant.load !1
  ret i32 %x
}

!0 = !{i32 0, i32 8}
!1 = !{}
