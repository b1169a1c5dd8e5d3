/* SPDX-License-Identifier: Apache-2.0 */
#include "config/key_variables.h"

#include <string.h>

#include <tkbundle/tree.h>

/* Source: include/triton/Tools/Sys/GetEnv.hpp of Triton 3.6; by name. */
static const char *const variables[] = {
	"ALLOW_LHS_TMEM_LAYOUT_CONVERSION",
	"AMDGCN_ENABLE_DUMP",
	"AMDGCN_USE_BUFFER_ATOMICS",
	"AMDGCN_USE_BUFFER_OPS",
	"DISABLE_LLVM_OPT",
	"DISABLE_MMA_V3",
	"DISABLE_MMA_V5",
	"DISABLE_PTXAS_OPT",
	"LLVM_ENABLE_TIMING",
	"LLVM_EXTRACT_DI_LOCAL_VARIABLES",
	"LLVM_IR_ENABLE_DUMP",
	"LLVM_PASS_PLUGIN_PATH",
	"MLIR_DISABLE_MULTITHREADING",
	"MLIR_DUMP_PATH",
	"MLIR_ENABLE_DIAGNOSTICS",
	"MLIR_ENABLE_DUMP",
	"MLIR_ENABLE_TIMING",
	"NVPTX_ENABLE_DUMP",
	"TRITON_DEFAULT_FP_FUSION",
	"TRITON_DISABLE_LINE_INFO",
	"TRITON_DUMP_MIR",
	"TRITON_ENABLE_ASAN",
	"TRITON_ENABLE_EXPERIMENTAL_CONSAN",
	"TRITON_ENABLE_LLVM_DEBUG",
	"TRITON_F32_DEFAULT",
	"TRITON_HIP_USE_ASYNC_COPY",
	"TRITON_HIP_USE_BLOCK_PINGPONG",
	"TRITON_HIP_USE_IN_THREAD_TRANSPOSE",
	"TRITON_LLVM_DEBUG_ONLY",
	"TRITON_OVERRIDE_ARCH",
	"TRITON_PASS_PLUGIN_PATH",
	"TRITON_PLUGIN_PATHS",
	"TRITON_PREFER_TMEM_16x256_LAYOUT",
	"USE_IR_LOC",
};

enum {
	VARIABLE_COUNT = sizeof(variables) / sizeof(variables[0])
};

const char *key_variable_of_triton(size_t index)
{
	return index < VARIABLE_COUNT ? variables[index] : NULL;
}

bool key_variable_is_of_triton(const char *name)
{
	for (size_t i = 0; i < VARIABLE_COUNT; i++) {
		if (strcmp(variables[i], name) == 0)
			return true;
	}
	return false;
}

bool key_variable_is_secret(const char *name, const char *value)
{
	return tkb_secret_name(name) ||
	       (strstr(value, "://") != NULL && strchr(value, '@') != NULL);
}
