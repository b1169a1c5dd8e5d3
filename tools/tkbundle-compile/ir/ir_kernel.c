/* SPDX-License-Identifier: Apache-2.0 */
#include "ir/ir_internal.h"

#include <stdio.h>
#include <string.h>

#include "worker/fail.h"
#include "finalize/finalize_external.h"
#include "llvm/llvm_values.h"

enum {
	NAMES_SIZE = 300,
	NAME_SIZE = 1024
};

/* List the kernels, for a message. */
static void list_kernels(LLVMModuleRef module, char names[NAMES_SIZE],
                         size_t *count_out)
{
	size_t used = 0;
	size_t count = 0;

	names[0] = '\0';
	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at)) {
		if (!finalize_is_kernel(at))
			continue;
		if (used < NAMES_SIZE)
			used += (size_t)snprintf(
				names + used, NAMES_SIZE - used, "%s%s",
				count == 0 ? "" : ", ", llvm_name(at));
		count++;
	}
	*count_out = count;
}

static LLVMValueRef only_kernel(LLVMModuleRef module)
{
	LLVMValueRef at = LLVMGetFirstFunction(module);

	while (!finalize_is_kernel(at))
		at = LLVMGetNextFunction(at);
	return at;
}

int ir_find_kernel(LLVMModuleRef module, const char *wanted, char kernel[1024],
                   struct tkb_error *err)
{
	LLVMValueRef found = NULL;
	const char *name;
	char names[NAMES_SIZE];
	size_t count = 0;

	list_kernels(module, names, &count);
	if (count == 0)
		return fail(err, TKB_ERR_INVALID, "the IR has no kernel");
	if (wanted != NULL)
		found = LLVMGetNamedFunction(module, wanted);
	if (wanted != NULL && (found == NULL || !finalize_is_kernel(found)))
		return fail(err, TKB_ERR_INVALID,
		            "the IR has no kernel '%s', but %s", wanted, names);
	if (wanted == NULL && count > 1)
		return fail(err, TKB_ERR_INVALID,
		            "the IR has several kernels: name one of %s",
		            names);
	if (found == NULL)
		found = only_kernel(module);
	name = llvm_name(found);
	if (strlen(name) >= NAME_SIZE)
		return fail(err, TKB_ERR_INVALID,
		            "the name of the kernel '%.64s...' is longer than "
		            "%d bytes",
		            name, NAME_SIZE - 1);
	memcpy(kernel, name, strlen(name) + 1);
	return 0;
}
