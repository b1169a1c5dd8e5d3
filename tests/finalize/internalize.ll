$group = comdat any

@table = addrspace(1) global i32 1
@hidden = hidden addrspace(1) global i32 2, comdat($group)
@weak = weak addrspace(1) global i32 3
@alias = alias i32, ptr addrspace(1) @table

define void @helper() {
  ret void
}

define linkonce_odr void @inline_helper() comdat {
  ret void
}

$inline_helper = comdat any

define ptx_kernel void @kernel() {
  ret void
}

define protected ptx_kernel void @other() {
  ret void
}
