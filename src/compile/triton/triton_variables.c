/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/triton_compile.h>

#include "base/base.h"

/*
 * Source: getCacheInvalidatingEnvVars() in include/triton/Tools/Sys/GetEnv.hpp of Triton
 * 3.0 to 3.6; by name. PTXAS_OPTIONS enters as an option.
 */
static const struct tkb_triton_variable variables[] = {
	{ "ALLOW_LHS_TMEM_LAYOUT_CONVERSION", true },
	{ "AMDGCN_ENABLE_DUMP", true },
	{ "AMDGCN_USE_BUFFER_ATOMICS", true },
	{ "AMDGCN_USE_BUFFER_OPS", true },
	{ "DISABLE_FAST_REDUCTION", false },
	{ "DISABLE_LLVM_OPT", true },
	{ "DISABLE_MMA_V3", true },
	{ "DISABLE_MMA_V5", true },
	{ "DISABLE_PTXAS_OPT", true },
	{ "ENABLE_MMA_V5_ATT_PIPELINE", false },
	{ "ENABLE_NVIDIA_WAR", false },
	{ "LLVM_ENABLE_TIMING", true },
	{ "LLVM_EXTRACT_DI_LOCAL_VARIABLES", true },
	{ "LLVM_IR_ENABLE_DUMP", true },
	{ "LLVM_PASS_PLUGIN_PATH", true },
	{ "MLIR_DISABLE_MULTITHREADING", true },
	{ "MLIR_DUMP_PATH", true },
	{ "MLIR_ENABLE_DIAGNOSTICS", true },
	{ "MLIR_ENABLE_DUMP", true },
	{ "MLIR_ENABLE_TIMING", true },
	{ "NVPTX_ENABLE_DUMP", true },
	{ "PTXAS_OPTIONS", false },
	{ "TRITON_DEFAULT_FP_FUSION", true },
	{ "TRITON_DISABLE_LINE_INFO", true },
	{ "TRITON_DUMP_MIR", true },
	{ "TRITON_ENABLE_ASAN", true },
	{ "TRITON_ENABLE_EXPERIMENTAL_CONSAN", true },
	{ "TRITON_ENABLE_LLVM_DEBUG", true },
	{ "TRITON_F32_DEFAULT", true },
	{ "TRITON_HIP_USE_ASYNC_COPY", true },
	{ "TRITON_HIP_USE_BLOCK_PINGPONG", true },
	{ "TRITON_HIP_USE_IN_THREAD_TRANSPOSE", true },
	{ "TRITON_LLVM_DEBUG_ONLY", true },
	{ "TRITON_OVERRIDE_ARCH", true },
	{ "TRITON_PASS_PLUGIN_PATH", true },
	{ "TRITON_PLUGIN_PATHS", true },
	{ "TRITON_PREFER_TMEM_16x256_LAYOUT", true },
	{ "USE_IR_LOC", true },
	{ "USE_TTGIR_LOC", false },
};

const struct tkb_triton_variable *tkb_triton_variable(size_t index)
{
	return index < TKB_COUNT_OF(variables) ? &variables[index] : NULL;
}
