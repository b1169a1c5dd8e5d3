@table = internal addrspace(1) global i32 1
@hidden = internal addrspace(1) global i32 2
@weak = internal addrspace(1) global i32 3

@alias = internal alias i32, ptr addrspace(1) @table

define internal void @helper() {
  ret void
}

define internal void @inline_helper() {
  ret void
}

define ptx_kernel void @kernel() {
  ret void
}

define internal ptx_kernel void @other() {
  ret void
}
