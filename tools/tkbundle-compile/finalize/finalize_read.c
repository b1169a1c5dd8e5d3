/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"

#include <stdlib.h>
#include <string.h>

#include "llvm/ptx_read.h"
#include "llvm/llvm_values.h"
#include "quant/quant_walk.h"
#include "worker/fail.h"

/*
 * Triton writes its loads as inline PTX that may have any effect, so LLVM does
 * not move it across barriers and other loads. But a constant, such as a bound
 * argument, never changes. So unconditional reads of constants become LLVM loads,
 * which later steps understand. Conditional reads become PTX without side
 * effects. LLVM may move both.
 */

static const char load_name[] = "ld.global";

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

/* Build the same read with ld.global.nc, and without side effects. */
static LLVMValueRef build_assembly(LLVMBuilderRef builder,
                                   LLVMContextRef context, LLVMValueRef call,
                                   struct tkb_error *err)
{
	static const char constant[] = ".nc";
	/* The value 0 of the first: memory(none). */
	static const char *const attributes[] = { "memory", "nounwind",
		                                  "willreturn" };
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
	for (size_t i = 0; i < TKB_COUNT_OF(attributes); i++)
		LLVMAddCallSiteAttribute(
			made, llvm_function_index,
			llvm_make_attribute(context, attributes[i]));
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
	    !quant_is_in_table(LLVMGetOperand(call, (unsigned)read.address)))
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
	AUTO_LLVM(LLVMBuilderRef) builder = LLVMCreateBuilderInContext(context);
	LLVMValueRef next;
	size_t count = 0;
	int rc = 0;

	for (LLVMValueRef at = finalize_first(finalize->module);
	     at != NULL && rc == 0; at = next) {
		next = finalize_next(at);
		rc = replace_read(builder, context, at, &count, err);
	}

	if (rc == 0 && count != 0)
		rc = finalize_run(finalize,
		                  "function(instcombine<no-verify-fixpoint>,"
		                  "early-cse<memssa>,dce)",
		                  err);
	finalize_count(finalize, count, "read");
	return rc;
}
