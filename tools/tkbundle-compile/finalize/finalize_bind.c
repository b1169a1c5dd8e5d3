/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "compile/compiler/bindings.h"
#include "finalize/finalize_external.h"
#include "finalize/finalize_step.h"
#include "finalize/finalize_uses.h"
#include "llvm/llvm_values.h"
#include "worker/fail.h"

/*
 * Turns arguments of the kernel into constants: a number becomes a constant,
 * and the memory of a pointer becomes a constant array of the module. Since the
 * type of a function cannot change, the kernel's body moves to a new function
 * without these parameters. The size of the grid is bound like an argument.
 */

enum {
	ALIGNMENT = 256, /* of allocations on a GPU */
	GLOBAL_SPACE = 1,
	CONSTANT_SPACE = 4
};

static int find_kernel(const struct finalize *finalize, LLVMValueRef *out,
                       struct tkb_error *err)
{
	*out = NULL;
	for (LLVMValueRef at = LLVMGetFirstFunction(finalize->module);
	     at != NULL; at = LLVMGetNextFunction(at)) {
		if (!finalize_is_kernel(at) || !finalize_keeps(finalize, at))
			continue;
		if (*out != NULL)
			return fail(err, TKB_ERR_INVALID,
			            "the IR has several kernels: choose the "
			            "one whose arguments are bound");
		*out = at;
	}
	return *out == NULL ? fail(err, TKB_ERR_INVALID,
	                           "the IR has no kernel whose arguments "
	                           "could be bound")
	                    : 0;
}

/* Find the parameter of this name; false if there is none. */
static bool find_named(LLVMValueRef kernel, const char *name, unsigned *out)
{
	const unsigned count = LLVMCountParams(kernel);

	for (*out = 0; *out < count; ++*out) {
		if (strcmp(llvm_name(LLVMGetParam(kernel, *out)), name) == 0)
			return true;
	}
	return false;
}

/* Find the parameter by its name, or else by its position. */
static int find_parameter(LLVMValueRef kernel, const char *argument,
                          unsigned *out, struct tkb_error *err)
{
	const unsigned count = LLVMCountParams(kernel);
	char *end = NULL;
	unsigned long position;

	if (find_named(kernel, argument, out))
		return 0;
	position = strtoul(argument, &end, 10);
	if (argument[0] >= '0' && argument[0] <= '9' && *end == '\0' &&
	    position < count) {
		*out = (unsigned)position;
		return 0;
	}
	return fail(err, TKB_ERR_INVALID,
	            "kernel '%.128s' has no argument '%.64s' among its %u: an "
	            "argument is named as in the IR, or by its position, from "
	            "0",
	            llvm_name(kernel), argument, count);
}

static int fail_value(const struct tkb_binding *binding, const char *why,
                      struct tkb_error *err)
{
	return fail(err, TKB_ERR_INVALID,
	            "the argument '%.64s' cannot be bound to '%.64s': %s",
	            binding->argument, binding->value, why);
}

/* Make an integer, if the number fits as a signed or an unsigned one. */
static int make_integer(const struct tkb_binding *binding, LLVMTypeRef type,
                        LLVMValueRef *out, struct tkb_error *err)
{
	const unsigned width = LLVMGetIntTypeWidth(type);
	const bool is_negative = binding->value[0] == '-';
	const char *const digits = binding->value + is_negative;
	char *end = NULL;
	unsigned long long bits;
	unsigned long long limit;

	if (width > 64)
		return fail_value(binding, "it is wider than 64 bits", err);
	errno = 0;
	/* This would read 010 as 8. */
	if (digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9')
		return fail_value(binding, "a number has no 0 before it", err);
	bits = strtoull(digits, &end, 0);
	if (digits[0] < '0' || digits[0] > '9' || *end != '\0')
		return fail_value(binding, "it takes an integer", err);
	limit = is_negative ? 1ULL << (width - 1) : ~0ULL >> (64 - width);
	if (errno != 0 || bits > limit)
		return fail_value(binding, "the number does not fit into it",
		                  err);
	*out = LLVMConstInt(type, is_negative ? 0 - bits : bits, false);
	return 0;
}

/* Numbers from this one on are rounded to infinity. */
static double first_infinite(LLVMTypeKind kind)
{
	switch (kind) {
	case LLVMHalfTypeKind:
		return 65520;
	case LLVMDoubleTypeKind:
		return HUGE_VAL;
	default:
		return 0x1.ffffffp+127;
	}
}

/* The upper 16 bits of a float: so a launch passes a bfloat, Triton's and ours. */
static double cut_off(double number)
{
	float cut = (float)number;
	uint32_t bits;

	memcpy(&bits, &cut, sizeof(bits));
	bits &= 0xffff0000;
	memcpy(&cut, &bits, sizeof(cut));
	return (double)cut;
}

static int make_float(const struct tkb_binding *binding, LLVMTypeRef type,
                      LLVMValueRef *out, struct tkb_error *err)
{
	const LLVMTypeKind kind = LLVMGetTypeKind(type);
	char *end = NULL;
	double number;

	errno = 0;
	number = strtod(binding->value, &end);
	if (end == binding->value || *end != '\0')
		return fail_value(binding, "it takes a number", err);
	if (isfinite(number) ? fabs(number) >= first_infinite(kind)
	                     : errno == ERANGE)
		return fail_value(binding, "the number does not fit into it",
		                  err);
	if (kind == LLVMBFloatTypeKind)
		number = cut_off(number);
	*out = LLVMConstReal(type, number);
	return 0;
}

static LLVMTypeRef element_type(LLVMContextRef context,
                                const struct tkb_array_type *type)
{
	switch (type->kind) {
	case TKB_ELEMENT_KIND_BFLOAT:
		return LLVMBFloatTypeInContext(context);
	case TKB_ELEMENT_KIND_FLOAT:
		return type->bits == 16   ? LLVMHalfTypeInContext(context)
		       : type->bits == 32 ? LLVMFloatTypeInContext(context)
		                          : LLVMDoubleTypeInContext(context);
	case TKB_ELEMENT_KIND_INTEGER:
		break;
	}
	return LLVMIntTypeInContext(context, type->bits);
}

/* Make a constant array, in the address space that the kernel expects. */
static int make_array(const struct finalize *finalize,
                      const struct tkb_binding *binding, LLVMTypeRef pointer,
                      LLVMValueRef *out, struct tkb_error *err)
{
	const unsigned expected = LLVMGetPointerAddressSpace(pointer);
	const unsigned space = expected == 0 ? GLOBAL_SPACE : expected;
	struct tkb_array_type type;
	LLVMValueRef data;
	char name[96];
	int rc;

	rc = tkb_array_type_read(binding->value, &type, err);
	if (rc < 0)
		return rc;
	if (space != GLOBAL_SPACE && space != CONSTANT_SPACE)
		return fail_value(binding, "its memory is not global", err);
	data = LLVMConstDataArray(
		element_type(LLVMGetModuleContext(finalize->module), &type),
		binding->bytes.data, binding->bytes.size);
	(void)snprintf(name, sizeof(name), "bound.%.64s", binding->argument);
	*out = LLVMAddGlobalInAddressSpace(finalize->module, LLVMTypeOf(data),
	                                   name, space);
	LLVMSetInitializer(*out, data);
	LLVMSetGlobalConstant(*out, true);
	LLVMSetLinkage(*out, LLVMInternalLinkage);
	LLVMSetAlignment(*out, ALIGNMENT);
	if (expected == 0)
		*out = LLVMConstAddrSpaceCast(*out, pointer);
	return 0;
}

static int make_value(const struct finalize *finalize, LLVMValueRef parameter,
                      const struct tkb_binding *binding, LLVMValueRef *out,
                      struct tkb_error *err)
{
	const bool is_array = tkb_binding_is_array(binding);
	LLVMTypeRef type = LLVMTypeOf(parameter);

	switch (LLVMGetTypeKind(type)) {
	case LLVMPointerTypeKind:
		if (!is_array)
			return fail_value(binding,
			                  "it takes the memory that it points "
			                  "to, as an array",
			                  err);
		if (!finalize_is_only_read(parameter))
			return fail_value(binding,
			                  "the kernel may write to its memory",
			                  err);
		return make_array(finalize, binding, type, out, err);
	case LLVMIntegerTypeKind:
		if (is_array)
			break;
		return make_integer(binding, type, out, err);
	case LLVMHalfTypeKind:
	case LLVMBFloatTypeKind:
	case LLVMFloatTypeKind:
	case LLVMDoubleTypeKind:
		if (is_array)
			break;
		return make_float(binding, type, out, err);
	default:
		return fail_value(binding, "it is neither a number nor memory",
		                  err);
	}
	return fail_value(binding, "it takes a number", err);
}

/*
 * The size of the grid that is named, as PTX names it: "nctaid.x"; NULL: none, or
 * an argument of the kernel has that name.
 */
static const char *grid_size_of(LLVMValueRef kernel, const char *argument)
{
	static const char *const names[] = { "nctaid.x", "nctaid.y",
		                             "nctaid.z" };
	unsigned ignored;

	return tkb_is_among(argument, names, TKB_COUNT_OF(names)) &&
	                       !find_named(kernel, argument, &ignored)
	               ? argument
	               : NULL;
}

/* Add that the call gives a number from 0 to `end` - 1. */
static void limit_result(LLVMValueRef call, uint64_t end)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));
	const uint64_t low = 0;

	LLVMAddCallSiteAttribute(call, LLVMAttributeReturnIndex,
	                         LLVMCreateConstantRangeAttribute(
					 context, llvm_attribute_kind("range"),
					 LLVMGetIntTypeWidth(LLVMTypeOf(call)),
					 &low, &end));
}

/* Can another kernel of the module be launched, with a grid of its own? */
static bool has_other_kernel(LLVMModuleRef module, LLVMValueRef kernel)
{
	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at)) {
		if (at != kernel && finalize_is_kernel(at) &&
		    !finalize_is_internal(at))
			return true;
	}
	return false;
}

/* Make a dimension of the grid a constant, in the whole module. */
static int bind_dimension(struct finalize *finalize, LLVMValueRef kernel,
                          const struct tkb_binding *binding, const char *size,
                          struct tkb_error *err)
{
	const char *const index = size + strlen("n"); /* "ctaid.x" */
	const char *name;
	LLVMTypeRef type =
		LLVMInt32TypeInContext(LLVMGetModuleContext(finalize->module));
	LLVMValueRef value = NULL;
	LLVMValueRef next;
	uint64_t blocks;
	int rc;

	if (tkb_binding_is_array(binding))
		return fail_value(binding, "it takes a number", err);
	rc = make_integer(binding, type, &value, err);
	if (rc < 0)
		return rc;
	blocks = LLVMConstIntGetZExtValue(value);
	if (blocks == 0 || blocks > INT32_MAX)
		return fail_value(binding, "no grid has so many blocks", err);
	if (has_other_kernel(finalize->module, kernel))
		return fail_value(binding, "the module keeps another kernel",
		                  err);
	for (LLVMValueRef at = finalize_first(finalize->module); at != NULL;
	     at = next) {
		next = finalize_next(at);
		name = llvm_special_register(at);
		if (name == NULL)
			continue;
		if (strcmp(name, size) == 0) {
			LLVMReplaceAllUsesWith(at, value);
			LLVMInstructionEraseFromParent(at);
		} else if (strcmp(name, index) == 0) {
			limit_result(at, blocks);
		}
	}
	finalize->blocks[size[strlen(size) - 1] - 'x'] = blocks;
	return 0;
}

/* Is the kernel called? Then no parameter can be removed. */
static bool is_called(LLVMValueRef kernel)
{
	for (LLVMUseRef use = LLVMGetFirstUse(kernel); use != NULL;
	     use = LLVMGetNextUse(use)) {
		if (LLVMIsAInstruction(LLVMGetUser(use)) != NULL)
			return true;
	}
	return false;
}

static void copy_attributes(LLVMValueRef from, LLVMAttributeIndex at,
                            LLVMValueRef to, LLVMAttributeIndex index)
{
	const unsigned count = LLVMGetAttributeCountAtIndex(from, at);
	LLVMAttributeRef *items = calloc(count + 1, sizeof(*items));

	/* Out of memory: the code is correct without attributes. */
	if (items == NULL)
		return;
	LLVMGetAttributesAtIndex(from, at, items);
	for (unsigned i = 0; i < count; i++)
		LLVMAddAttributeAtIndex(to, index, items[i]);
	free(items);
}

static void copy_metadata(LLVMValueRef from, LLVMValueRef to)
{
	size_t count = 0;
	LLVMValueMetadataEntry *entries =
		LLVMGlobalCopyAllMetadata(from, &count);

	for (size_t i = 0; i < count; i++)
		LLVMGlobalSetMetadata(
			to,
			LLVMValueMetadataEntriesGetKind(entries, (unsigned)i),
			LLVMValueMetadataEntriesGetMetadata(entries,
		                                            (unsigned)i));
	LLVMDisposeValueMetadataEntries(entries);
}

/* Make a function without the bound parameters, and without a body. */
static LLVMValueRef make_function(LLVMModuleRef module, LLVMValueRef kernel,
                                  LLVMValueRef *values, LLVMTypeRef *types)
{
	LLVMTypeRef old = LLVMGlobalGetValueType(kernel);
	const unsigned count = LLVMCountParams(kernel);
	unsigned left = 0;
	LLVMValueRef made;

	for (unsigned i = 0; i < count; i++) {
		if (values[i] == NULL)
			types[left++] = LLVMTypeOf(LLVMGetParam(kernel, i));
	}
	made = LLVMAddFunction(
		module, "",
		LLVMFunctionType(LLVMGetReturnType(old), types, left, false));
	LLVMSetFunctionCallConv(made, LLVMGetFunctionCallConv(kernel));
	LLVMSetLinkage(made, LLVMGetLinkage(kernel));
	LLVMSetVisibility(made, LLVMGetVisibility(kernel));
	LLVMSetUnnamedAddress(made, LLVMGetUnnamedAddress(kernel));
	LLVMSetSection(made, LLVMGetSection(kernel));
	LLVMSetAlignment(made, LLVMGetAlignment(kernel));
	copy_attributes(kernel, llvm_function_index, made, llvm_function_index);
	return made;
}

static void move_parameters(LLVMValueRef kernel, LLVMValueRef made,
                            LLVMValueRef *values)
{
	const unsigned count = LLVMCountParams(kernel);
	unsigned left = 0;

	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef old = LLVMGetParam(kernel, i);
		size_t size = 0;

		if (values[i] == NULL) {
			const char *const name = LLVMGetValueName2(old, &size);

			values[i] = LLVMGetParam(made, left++);
			LLVMSetValueName2(values[i], name, size);
			copy_attributes(kernel, i + 1, made, left);
		}
		LLVMReplaceAllUsesWith(old, values[i]);
	}
}

static void move_body(LLVMValueRef kernel, LLVMValueRef made)
{
	LLVMBasicBlockRef block;

	while ((block = LLVMGetFirstBasicBlock(kernel)) != NULL) {
		LLVMRemoveBasicBlockFromParent(block);
		LLVMAppendExistingBasicBlock(made, block);
	}
}

/* Give the new kernel the old one's name, and its place in llvm.used. */
static int replace_kernel(LLVMValueRef kernel, LLVMValueRef made,
                          struct tkb_error *err)
{
	size_t size = 0;
	char *const name = strdup(LLVMGetValueName2(kernel, &size));

	if (name == NULL)
		return fail(err, TKB_ERR_NOMEM, "out of memory");
	copy_metadata(kernel, made);
	LLVMReplaceAllUsesWith(kernel, made);
	LLVMDeleteFunction(kernel);
	LLVMSetValueName2(made, name, size);
	free(name);
	return 0;
}

static int find_values(struct finalize *finalize, LLVMValueRef kernel,
                       LLVMValueRef *values, struct tkb_error *err)
{
	const struct bindings *const bindings = &finalize->request->bindings;
	int rc = 0;

	for (size_t i = 0; i < bindings->count && rc == 0; i++) {
		const struct tkb_binding *const binding = &bindings->items[i];
		const char *const grid_size =
			grid_size_of(kernel, binding->argument);
		unsigned at = 0;

		if (grid_size != NULL) {
			rc = bind_dimension(finalize, kernel, binding,
			                    grid_size, err);
			continue;
		}
		rc = find_parameter(kernel, binding->argument, &at, err);
		if (rc < 0)
			return rc;
		if (values[at] != NULL)
			return fail_value(binding, "it has a value already",
			                  err);
		if (llvm_attribute(kernel, at + 1, "byval") != NULL)
			return fail_value(binding, "it is passed by value",
			                  err);
		rc = make_value(finalize, LLVMGetParam(kernel, at), binding,
		                &values[at], err);
	}
	return rc;
}

/* `values` and `types` have room for all parameters; the values are NULL. */
static int bind_parameters(struct finalize *finalize, LLVMValueRef kernel,
                           LLVMValueRef *values, LLVMTypeRef *types,
                           struct tkb_error *err)
{
	LLVMValueRef made;
	int rc;

	rc = find_values(finalize, kernel, values, err);
	if (rc < 0)
		return rc;
	made = make_function(finalize->module, kernel, values, types);
	move_parameters(kernel, made, values);
	move_body(kernel, made);
	finalize_count(finalize, finalize->request->bindings.count, "argument");
	return replace_kernel(kernel, made, err);
}

int finalize_bind(struct finalize *finalize, struct tkb_error *err)
{
	const struct bindings *const bindings = &finalize->request->bindings;
	LLVMValueRef kernel = NULL;
	TKB_AUTO(tkb_free_at) LLVMValueRef *values = NULL;
	TKB_AUTO(tkb_free_at) LLVMTypeRef *types = NULL;
	int rc;

	if (bindings->count == 0)
		return 0;
	rc = tkb_bindings_check(bindings->items, bindings->count, err);
	if (rc == 0)
		rc = find_kernel(finalize, &kernel, err);
	if (rc < 0)
		return rc;
	if (is_called(kernel))
		return fail(err, TKB_ERR_INVALID,
		            "the kernel is called within the module: its "
		            "arguments cannot be bound");
	values = tkb_alloc_array(LLVMCountParams(kernel), sizeof(*values));
	types = tkb_alloc_array(LLVMCountParams(kernel), sizeof(*types));
	return values == NULL || types == NULL
	               ? tkb_fail_nomem(err)
	               : bind_parameters(finalize, kernel, values, types, err);
}
