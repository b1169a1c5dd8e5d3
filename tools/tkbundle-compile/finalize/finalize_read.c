/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"

#include <stdlib.h>
#include <string.h>

#include "llvm/ptx_read.h"
#include "llvm/llvm_values.h"
#include "worker/fail.h"

/*
 * Triton writes its loads as inline PTX that may have any effect, so LLVM does
 * not move it across barriers and other loads. But a constant, such as a bound
 * argument, never changes. So unconditional reads of constants become LLVM loads,
 * which later steps understand. Conditional reads become PTX without side
 * effects. LLVM may move both.
 */

enum {
	BASE_LIMIT = 32 /* limit of values followed for one address */
};

static const char load_name[] = "ld.global";

/* Values that an address is computed from. */
struct bases {
	LLVMValueRef items[BASE_LIMIT];
	size_t count;
};

static bool add_base(struct bases *bases, LLVMValueRef value)
{
	for (size_t i = 0; i < bases->count; i++) {
		if (bases->items[i] == value)
			return true;
	}
	if (bases->count == BASE_LIMIT)
		return false;
	bases->items[bases->count++] = value;
	return true;
}

static bool add_parts(struct bases *bases, LLVMValueRef value)
{
	unsigned count;

	switch ((int)llvm_opcode(value)) {
	case LLVMGetElementPtr:
	case LLVMAddrSpaceCast:
		return add_base(bases, LLVMGetOperand(value, 0));
	case LLVMSelect:
		return add_base(bases, LLVMGetOperand(value, 1)) &&
		       add_base(bases, LLVMGetOperand(value, 2));
	case LLVMPHI:
		count = LLVMCountIncoming(value);
		for (unsigned i = 0; i < count; i++) {
			if (!add_base(bases, LLVMGetIncomingValue(value, i)))
				return false;
		}
		return true;
	default:
		return false;
	}
}

/*
 * Is the address in a constant of the module, on every path that computes it?
 */
static bool is_of_constants(LLVMValueRef address)
{
	struct bases bases = { .count = 0 };

	if (!add_base(&bases, address))
		return false;
	for (size_t i = 0; i < bases.count; i++) {
		LLVMValueRef value = bases.items[i];

		if (LLVMIsAGlobalVariable(value) != NULL) {
			if (!LLVMIsGlobalConstant(value) ||
			    LLVMGetInitializer(value) == NULL)
				return false;
		} else if (!add_parts(&bases, value)) {
			return false;
		}
	}
	return true;
}

static LLVMTypeRef type_of(LLVMContextRef context, const struct ptx_read *read)
{
	LLVMTypeRef item = LLVMIntTypeInContext(context, read->width);

	return read->count == 1 ? item : LLVMVectorType(item, read->count);
}

static LLVMValueRef build_number(LLVMContextRef context, uint64_t number)
{
	return LLVMConstInt(LLVMInt64TypeInContext(context), number, true);
}

static LLVMValueRef build_load(LLVMBuilderRef builder, LLVMContextRef context,
                               LLVMValueRef call, const struct ptx_read *read)
{
	static const char name[] = "invariant.load";
	LLVMValueRef at = LLVMGetOperand(call, (unsigned)read->address);
	LLVMValueRef offset = build_number(context, (uint64_t)read->offset);
	LLVMValueRef load;

	if (read->offset != 0)
		at = LLVMBuildGEP2(builder, LLVMInt8TypeInContext(context), at,
		                   &offset, 1, "");
	load = LLVMBuildLoad2(builder, type_of(context, read), at, "");
	/* PTX requires this alignment. */
	LLVMSetAlignment(load, read->count * read->width / 8);
	LLVMSetMetadata(
		load, LLVMGetMDKindIDInContext(context, name, sizeof(name) - 1),
		LLVMMetadataAsValue(context,
	                            LLVMMDNodeInContext2(context, NULL, 0)));
	return load;
}

/* Build the outputs in the form of the call's result. */
static LLVMValueRef build_outputs(LLVMBuilderRef builder,
                                  LLVMContextRef context, LLVMValueRef call,
                                  const struct ptx_read *read,
                                  LLVMValueRef load)
{
	LLVMValueRef all = LLVMGetPoison(LLVMTypeOf(call));

	for (unsigned i = 0; i < read->count; i++) {
		LLVMValueRef item = load;

		if (load == NULL && read->fallbacks[i] >= 0)
			item = LLVMGetOperand(call,
			                      (unsigned)read->fallbacks[i]);
		else if (load == NULL)
			item = LLVMConstNull(
				LLVMIntTypeInContext(context, read->width));
		else if (read->count != 1)
			item = LLVMBuildExtractElement(
				builder, load, build_number(context, i), "");
		if (read->count == 1)
			return item;
		all = LLVMBuildInsertValue(builder, all, item, i, "");
	}
	return all;
}

static void add_attribute(LLVMContextRef context, LLVMValueRef call,
                          const char *name)
{
	LLVMAddCallSiteAttribute(
		call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
		LLVMCreateEnumAttribute(
			context,
			LLVMGetEnumAttributeKindForName(name, strlen(name)),
			0));
}

/* Build the same read with ld.global.nc, and without side effects. */
static LLVMValueRef build_assembly(LLVMBuilderRef builder,
                                   LLVMContextRef context, LLVMValueRef call,
                                   struct tkb_error *err)
{
	static const char constant[] = ".nc";
	size_t size = 0;
	const char *const text =
		LLVMGetInlineAsmAsmString(LLVMGetCalledValue(call), &size);
	const char *const name =
		memmem(text, size, load_name, strlen(load_name));
	const size_t before = (size_t)(name - text) + strlen(load_name);
	char *const copy = malloc(size + sizeof(constant));
	LLVMValueRef made;

	if (copy == NULL) {
		(void)fail(err, TKB_ERR_NOMEM, "out of memory");
		return NULL;
	}
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): it has a size */
	memcpy(copy, text, before);
	memcpy(copy + before, constant, sizeof(constant) - 1);
	memcpy(copy + before + sizeof(constant) - 1, text + before,
	       size - before);
	made = ptx_read_rewrite(builder, call, copy, size + strlen(constant),
	                        false);
	free(copy);
	add_attribute(context, made, "memory"); /* value 0: memory(none) */
	add_attribute(context, made, "nounwind");
	add_attribute(context, made, "willreturn");
	return made;
}

/* Build the replacement of the call; NULL if out of memory. */
static LLVMValueRef build_read(LLVMBuilderRef builder, LLVMContextRef context,
                               LLVMValueRef call, const struct ptx_read *read,
                               struct tkb_error *err)
{
	LLVMValueRef predicate =
		read->predicate < 0
			? NULL
			: LLVMGetOperand(call, (unsigned)read->predicate);
	LLVMValueRef load = NULL;

	if (predicate != NULL && LLVMIsAConstantInt(predicate) == NULL)
		return build_assembly(builder, context, call, err);
	if (predicate == NULL || LLVMConstIntGetZExtValue(predicate) != 0)
		load = build_load(builder, context, call, read);
	return build_outputs(builder, context, call, read, load);
}

static int replace_read(LLVMBuilderRef builder, LLVMContextRef context,
                        LLVMValueRef call, size_t *count, struct tkb_error *err)
{
	struct ptx_read read;
	LLVMValueRef made;

	if (!ptx_read_of(call, &read) || read.is_constant ||
	    !is_of_constants(LLVMGetOperand(call, (unsigned)read.address)))
		return 0;
	LLVMPositionBuilderBefore(builder, call);
	made = build_read(builder, context, call, &read, err);
	if (made == NULL)
		return err->status;
	LLVMReplaceAllUsesWith(call, made);
	LLVMInstructionEraseFromParent(call);
	++*count;
	return 0;
}

int finalize_read(struct finalize *finalize, struct tkb_error *err)
{
	LLVMContextRef context = LLVMGetModuleContext(finalize->module);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
	LLVMValueRef next;
	size_t count = 0;
	int rc = 0;

	for (LLVMValueRef at = finalize_first(finalize->module);
	     at != NULL && rc == 0; at = next) {
		next = finalize_next(at);
		rc = replace_read(builder, context, at, &count, err);
	}
	LLVMDisposeBuilder(builder);
	if (rc == 0 && count != 0)
		rc = finalize_run(finalize,
		                  "function(instcombine<no-verify-fixpoint>,"
		                  "early-cse<memssa>,dce)",
		                  err);
	finalize_count(finalize, count, "read");
	return rc;
}
