/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"

#include <string.h>

#include <llvm-c/DebugInfo.h>

/*
 * Unrolls loops whose count is a constant, and makes values of what they kept in
 * memory of the thread. A loop that multiplies bytes is worth more than others:
 * once "gather" and "fuse" see four of its steps at once, they become one
 * instruction. Such loops are marked for LLVM. Others are left to its own limits,
 * and only looked at where an argument was bound: their counts were known to who
 * made the IR, else, and unrolling them makes Triton's kernels larger by 10 %.
 */

enum {
	STEPS = 16 /* of a marked loop that is too large to be unrolled whole */
};

/* Passes that clean up after loops were unrolled. */
#define CLEAN_UP                                                               \
	"instcombine<no-verify-fixpoint>,early-cse<memssa>,simplifycfg,adce"

static const char full[] = "llvm.loop.unroll.full";
static const char count[] = "llvm.loop.unroll.count";

static unsigned loop_kind(LLVMModuleRef module)
{
	return LLVMGetMDKindIDInContext(LLVMGetModuleContext(module),
	                                "llvm.loop", strlen("llvm.loop"));
}

/* A block that is a whole loop: it branches to itself. */
static bool is_loop(LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

	for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
		if (LLVMGetSuccessor(end, i) == block)
			return true;
	}
	return false;
}

static bool multiplies_bytes(LLVMBasicBlockRef block)
{
	bool loads_byte = false;
	bool multiplies = false;

	for (LLVMValueRef at = LLVMGetFirstInstruction(block); at != NULL;
	     at = LLVMGetNextInstruction(at)) {
		const LLVMOpcode opcode = LLVMGetInstructionOpcode(at);
		LLVMTypeRef type = LLVMTypeOf(at);

		loads_byte |= opcode == LLVMLoad &&
		              LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
		              LLVMGetIntTypeWidth(type) == 8;
		multiplies |= opcode == LLVMMul;
	}
	return loads_byte && multiplies;
}

/* A node that names itself, as the metadata of a loop do. */
static LLVMMetadataRef make_mark(LLVMContextRef context, const char *name)
{
	LLVMMetadataRef self = LLVMTemporaryMDNode(context, NULL, 0);
	LLVMMetadataRef words[2];
	LLVMMetadataRef items[2] = { self, NULL };
	LLVMMetadataRef node;

	words[0] = LLVMMDStringInContext2(context, name, strlen(name));
	words[1] = LLVMValueAsMetadata(
		LLVMConstInt(LLVMInt32TypeInContext(context), STEPS, false));
	items[1] = LLVMMDNodeInContext2(context, words, name == count ? 2 : 1);
	node = LLVMMDNodeInContext2(context, items, 2);
	LLVMMetadataReplaceAllUsesWith(self, node);
	return node;
}

/* Mark loops that multiply bytes, unless something is said of them. */
static size_t mark(LLVMModuleRef module, const char *name)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	const unsigned kind = loop_kind(module);
	size_t marked = 0;

	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at)) {
		for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(at);
		     block != NULL; block = LLVMGetNextBasicBlock(block)) {
			LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

			if (!is_loop(block) || !multiplies_bytes(block) ||
			    LLVMGetMetadata(end, kind) != NULL)
				continue;
			LLVMSetMetadata(
				end, kind,
				LLVMMetadataAsValue(context,
			                            make_mark(context, name)));
			marked++;
		}
	}
	return marked;
}

/* Is it said of a loop in the words of `name`? */
static bool is_marked(LLVMValueRef node, const char *name)
{
	LLVMValueRef items[2] = { NULL, NULL };
	LLVMValueRef words[2] = { NULL, NULL };
	const char *text;
	unsigned size = 0;

	if (node == NULL || LLVMGetMDNodeNumOperands(node) != 2)
		return false;
	LLVMGetMDNodeOperands(node, items);
	if (LLVMIsAMDNode(items[1]) == NULL ||
	    LLVMGetMDNodeNumOperands(items[1]) != (name == count ? 2 : 1))
		return false;
	LLVMGetMDNodeOperands(items[1], words);
	text = LLVMGetMDString(words[0], &size);
	return text != NULL && size == strlen(name) &&
	       memcmp(text, name, size) == 0;
}

/* Take the marks from the loops that are left. */
static void unmark(LLVMModuleRef module, const char *name)
{
	const unsigned kind = loop_kind(module);

	for (LLVMValueRef at = finalize_first(module); at != NULL;
	     at = finalize_next(at)) {
		if (LLVMIsATerminatorInst(at) != NULL &&
		    is_marked(LLVMGetMetadata(at, kind), name))
			LLVMSetMetadata(at, kind, NULL);
	}
}

int finalize_unroll(struct finalize *finalize, struct tkb_error *err)
{
	const size_t before = finalize_size(finalize->module);
	int rc;

	if (mark(finalize->module, full) == 0 &&
	    finalize->request->bindings.count == 0)
		return 0;
	rc = finalize_run(finalize,
	                  "function(sroa,loop-simplify,lcssa,"
	                  "loop(loop-rotate,indvars,loop-unroll-full),"
	                  "sroa," CLEAN_UP ")",
	                  err);
	unmark(finalize->module, full);
	if (rc == 0 && mark(finalize->module, count) != 0)
		rc = finalize_run(
			finalize,
			"function(loop-simplify,lcssa,loop-unroll"
			"<no-runtime;no-peeling;no-upperbound>," CLEAN_UP ")",
			err);
	unmark(finalize->module, count);
	finalize_report_size(finalize, before);
	return rc;
}
