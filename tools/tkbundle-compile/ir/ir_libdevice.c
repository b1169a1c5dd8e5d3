/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir_internal.h"

#include <stdio.h>

#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>

#include "worker/fail.h"
#include "finalize/finalize_step.h"
#include "llvm/llvm_module.h"
#include "llvm/llvm_values.h"

/*
 * Is it a function that needs no definition, because the driver provides it, or
 * a pass replaces it by a constant?
 */
static bool is_allowed_undefined(const char *name)
{
	static const char *const names[] = { "vprintf", "__assertfail",
		                             "__nvvm_reflect", "malloc",
		                             "free" };

	return tkb_is_among(name, names, TKB_COUNT_OF(names));
}

/* Find a function that is called but not defined, and not an intrinsic. */
static const char *find_external(LLVMModuleRef module)
{
	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at)) {
		const char *name = llvm_name(at);

		if (LLVMIsDeclaration(at) && LLVMGetIntrinsicID(at) == 0 &&
		    LLVMGetFirstUse(at) != NULL && !is_allowed_undefined(name))
			return name;
	}
	return NULL;
}

static int read_libdevice(LLVMContextRef context, const char *path,
                          LLVMModuleRef *out, struct tkb_error *err)
{
	AUTO_LLVM_MESSAGE message = NULL;
	LLVMMemoryBufferRef buffer = NULL;

	if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message))
		return fail(err, TKB_ERR_IO, "libdevice '%s': %s", path,
		            message);
	if (LLVMParseIRInContext(context, buffer, out, &message)) {
		*out = NULL;
		return fail(err, TKB_ERR_INVALID, "libdevice '%s': %s", path,
		            message);
	}
	return 0;
}

static bool has_contracted(LLVMModuleRef module)
{
	LLVMValueRef at = LLVMGetFirstFunction(module);

	while (at != NULL && !llvm_has_mark(at, LLVM_CONTRACTED))
		at = LLVMGetNextFunction(at);
	return at != NULL;
}

/* Fuse products and sums of the library before its functions are inlined. */
static void contract_library(LLVMModuleRef library, bool is_fusion_off)
{
	const struct finalize_request request = {
		.is_fusion_off = is_fusion_off,
	};
	const struct finalize finalize = { .module = library,
		                           .request = &request };

	finalize_contract(&finalize);
}

int ir_link_libdevice(LLVMModuleRef module, LLVMTargetMachineRef machine,
                      const char *path, const char *kernel, bool is_fusion_off,
                      struct tkb_error *err)
{
	const char *external = find_external(module);
	LLVMContextRef context = LLVMGetModuleContext(module);
	AUTO_LLVM(LLVMModuleRef) library = NULL;
	char passes[1280];
	int rc;

	if (external == NULL)
		return 0;
	if (path == NULL)
		return fail(err, TKB_ERR_INVALID,
		            "'%s' is not defined: name a libdevice", external);
	rc = read_libdevice(context, path, &library, err);
	if (rc < 0)
		return rc;
	llvm_set_layout(library, machine);
	if (has_contracted(module))
		contract_library(library, is_fusion_off);
	if (LLVMLinkModules2(module, library)) {
		library = NULL;
		return fail(err, TKB_ERR_INVALID, "cannot link '%s'", path);
	}
	library = NULL; /* LLVMLinkModules2() took it over */
	external = find_external(module);
	if (external != NULL)
		return fail(err, TKB_ERR_INVALID,
		            "'%s' is not defined, not even in '%s'", external,
		            path);
	(void)snprintf(passes, sizeof(passes),
	               "internalize<preserve-gv=%s>,globaldce,nvvm-reflect",
	               kernel);
	rc = llvm_run_passes(module, machine, passes, err);
	return rc < 0 ? rc
	              : llvm_run_passes(module, machine, "default<O3>", err);
}
