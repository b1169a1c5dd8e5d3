; What somebody outside of the module names.
@shared_memory = external addrspace(3) global [0 x i8]
@written_by_the_host = addrspace(1) externally_initialized global i32 7
@constant_of_the_host = addrspace(4) externally_initialized global i32 7
@managed = addrspace(1) global i32 7
@named_in_used = global i32 1
@named_in_compiler_used = addrspace(1) global i32 1
@llvm.used = appending global [1 x ptr] [ptr @named_in_used], section "llvm.metadata"
@llvm.compiler.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @named_in_compiler_used to ptr)], section "llvm.metadata"
@own = internal global i32 1
@available = available_externally global i32 1

declare void @elsewhere()

define ptx_kernel void @kernel() {
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{ptr addrspace(1) @managed, !"managed", i32 1}
