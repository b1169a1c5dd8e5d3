/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"
#include "finalize/prepack.h"

#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "llvm/llvm_values.h"

/*
 * Unrolls loops with a constant trip count, and turns local variables of a thread
 * into values. Unrolling pays off most for a loop that multiplies bytes: if
 * "gather" and "fuse" see four iterations at once, these become one instruction.
 * Such loops are marked for LLVM. Other loops are unrolled only if an argument
 * was bound, since otherwise the compiler that made the IR already knew their
 * counts, and unrolling them makes Triton's kernels 10 % larger. If one was
 * bound, they are marked, too, inner loops first: the loads of several iterations
 * then run at once, while a loop waits for each.
 */

enum {
	STEPS = 16,  /* iterations of a marked loop that is too large to be
	               unrolled completely */
	SIZE = 4096, /* maximum instructions of an unrolled loop */
	LEAST = 4,   /* minimum iterations at once: fewer gain nothing */
	DEPTH = 3    /* nesting depth of loops */
};

/* Passes that clean up after unrolling. */
#define CLEAN_UP                                                               \
	"instcombine<no-verify-fixpoint>,early-cse<memssa>,simplifycfg,adce"

static const char full[] = "llvm.loop.unroll.full";
static const char count[] = "llvm.loop.unroll.count";
/* clang adds this to every loop of C++. */
static const char progress[] = "llvm.loop.mustprogress";

static unsigned loop_kind(LLVMModuleRef module)
{
	return LLVMGetMDKindIDInContext(LLVMGetModuleContext(module),
	                                "llvm.loop", strlen("llvm.loop"));
}

static bool multiplies_bytes(LLVMBasicBlockRef block)
{
	bool loads_byte = false;
	bool multiplies = false;

	for (LLVMValueRef at = LLVMGetFirstInstruction(block); at != NULL;
	     at = LLVMGetNextInstruction(at)) {
		loads_byte |= LLVMIsALoadInst(at) != NULL &&
		              llvm_is_integer(LLVMTypeOf(at), 8);
		multiplies |= LLVMGetInstructionOpcode(at) == LLVMMul;
	}
	return loads_byte && multiplies;
}

/* Make a node that refers to itself, as the metadata of loops must. */
static LLVMMetadataRef make_mark(LLVMContextRef context, const char *name,
                                 unsigned steps)
{
	LLVMMetadataRef self = LLVMTemporaryMDNode(context, NULL, 0);
	LLVMMetadataRef words[2];
	LLVMMetadataRef items[2] = { self, NULL };
	LLVMMetadataRef node;

	words[0] = LLVMMDStringInContext2(context, name, strlen(name));
	words[1] = LLVMValueAsMetadata(
		LLVMConstInt(LLVMInt32TypeInContext(context), steps, false));
	items[1] = LLVMMDNodeInContext2(context, words, name == count ? 2 : 1);
	node = LLVMMDNodeInContext2(context, items, 2);
	LLVMMetadataReplaceAllUsesWith(self, node);
	return node;
}

static void set_mark(LLVMValueRef end, const char *name, unsigned steps)
{
	LLVMModuleRef module = LLVMGetGlobalParent(
		LLVMGetBasicBlockParent(LLVMGetInstructionParent(end)));
	LLVMContextRef context = LLVMGetModuleContext(module);

	LLVMSetMetadata(
		end, loop_kind(module),
		LLVMMetadataAsValue(context, make_mark(context, name, steps)));
}

/* Is `word` the first one of a node of metadata? A node may have none. */
static bool begins_with_word(LLVMValueRef node, const char *word)
{
	LLVMValueRef words[8] = { NULL };
	const char *text = NULL;
	unsigned size = 0;

	if (LLVMIsAMDNode(node) != NULL &&
	    LLVMGetMDNodeNumOperands(node) <= TKB_COUNT_OF(words))
		LLVMGetMDNodeOperands(node, words);
	if (words[0] != NULL)
		text = LLVMGetMDString(words[0], &size);
	return text != NULL && size == strlen(word) &&
	       memcmp(text, word, size) == 0;
}

/* Does the metadata of a loop say whether it is to be unrolled? */
static bool says_how(LLVMValueRef node)
{
	LLVMValueRef items[32] = { NULL };
	const unsigned size = node == NULL ? 0 : LLVMGetMDNodeNumOperands(node);

	if (size > TKB_COUNT_OF(items))
		return true;
	if (size != 0)
		LLVMGetMDNodeOperands(node, items);
	for (unsigned i = 1; i < size; i++) {
		if (!begins_with_word(items[i], progress))
			return true;
	}
	return false;
}

/*
 * The weight of an instruction: 1, plus the operands and outputs of inline PTX,
 * since PTX for a matrix product uses many registers.
 */
static size_t weight_of(LLVMValueRef at)
{
	LLVMTypeRef type = LLVMTypeOf(at);

	if (llvm_called_assembly(at) == NULL)
		return 1;
	return 1 + LLVMGetNumArgOperands(at) +
	       (LLVMGetTypeKind(type) == LLVMStructTypeKind
	                ? LLVMCountStructElementTypes(type)
	                : 0);
}

static size_t block_size(LLVMBasicBlockRef block)
{
	size_t size = 0;

	for (LLVMValueRef at = LLVMGetFirstInstruction(block); at != NULL;
	     at = LLVMGetNextInstruction(at))
		size += weight_of(at);
	return size;
}

/* The blocks of a loop, its header first. */
struct body {
	LLVMBasicBlockRef items[SIZE / LEAST];
	size_t count;
};

/* False: the loop has too many blocks. */
static bool add_block(struct body *body, LLVMBasicBlockRef block)
{
	for (size_t i = 0; i < body->count; i++) {
		if (body->items[i] == block)
			return true;
	}
	if (body->count == TKB_COUNT_OF(body->items))
		return false;
	body->items[body->count++] = block;
	return true;
}

/* Add the blocks that branch to `block`. */
static bool add_before(struct body *body, LLVMBasicBlockRef block)
{
	LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));

	for (; use != NULL; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsAInstruction(user) != NULL &&
		    !add_block(body, LLVMGetInstructionParent(user)))
			return false;
	}
	return true;
}

/*
 * Find the blocks of the loop whose last block is `last`: all from which `last`
 * is reached without passing the header. They may stand anywhere in the
 * function. False: there is none, or it has too many.
 */
static bool find_body(LLVMBasicBlockRef last, struct body *body)
{
	LLVMBasicBlockRef entry =
		LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(last));
	LLVMBasicBlockRef header = last;

	while (header != NULL && !llvm_branches_to(last, header))
		header = LLVMGetPreviousBasicBlock(header);
	if (header == NULL)
		return false;
	body->count = 0;
	(void)add_block(body, header);
	(void)add_block(body, last);
	for (size_t i = 1; i < body->count; i++) {
		if (body->items[i] == entry ||
		    !add_before(body, body->items[i]))
			return false;
	}
	return true;
}

/*
 * The size of the loop whose last block is `last`; 0: there is none, or it is too
 * large, or contains other loops.
 */
static size_t inner_loop_size(LLVMBasicBlockRef last)
{
	struct body inner;
	struct body body;
	size_t size = 0;

	if (!find_body(last, &body))
		return 0;
	for (size_t i = 0; i < body.count; i++) {
		if (body.items[i] != last && find_body(body.items[i], &inner))
			return 0;
		size += block_size(body.items[i]);
	}
	return size;
}

/* The trip count of the loop whose last block is `last`; 0: unknown. */
static size_t trip_count(LLVMBasicBlockRef last)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(last);
	LLVMValueRef test =
		LLVMIsABranchInst(end) != NULL && LLVMIsConditional(end)
			? LLVMIsAICmpInst(LLVMGetCondition(end))
			: NULL;
	struct prepack_term counter = { .factor = 1 };
	struct prepack_range range;

	if (test == NULL)
		return 0;
	counter.value = LLVMGetOperand(test, 0);
	if (LLVMIsABinaryOperator(counter.value) != NULL)
		counter.value = LLVMGetOperand(counter.value, 0);
	return LLVMIsAPHINode(counter.value) != NULL &&
	                       prepack_range_of(&counter, &range)
	               ? (size_t)((range.high - range.low) / range.step + 1)
	               : 0;
}

/*
 * How many iterations to unroll into one, at most `most`: all of them, or a
 * divisor of the trip count, or else a power of two. With a divisor, the loop
 * need not test for its end in between, and its load addresses stay aligned.
 */
static unsigned choose_steps(size_t trips, size_t most)
{
	unsigned steps = 1;

	if (trips != 0 && trips <= most)
		return (unsigned)trips;
	for (size_t at = most; trips != 0 && at >= most / 4 && at > 1; at--) {
		if (trips % at == 0)
			return (unsigned)at;
	}
	while (2 * (size_t)steps <= most)
		steps *= 2;
	return steps;
}

/*
 * How many iterations to unroll into one, of the loop whose last block this is; 0: none
 * ends here, or it is left as it is.
 */
typedef unsigned steps_fn(LLVMBasicBlockRef last);

static unsigned steps_of_products(LLVMBasicBlockRef last)
{
	return llvm_branches_to(last, last) && multiplies_bytes(last) ? STEPS
	                                                              : 0;
}

static unsigned steps_of_inner(LLVMBasicBlockRef last)
{
	const size_t size = inner_loop_size(last);

	return size == 0 || size > SIZE / LEAST
	               ? 0
	               : choose_steps(trip_count(last), SIZE / size);
}

/* Mark loops, unless their metadata already say how to unroll. */
static size_t mark(LLVMModuleRef module, steps_fn *steps_of, const char *name)
{
	const unsigned kind = loop_kind(module);
	size_t marked = 0;

	for (LLVMValueRef at = LLVMGetFirstFunction(module); at != NULL;
	     at = LLVMGetNextFunction(at)) {
		for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(at);
		     block != NULL; block = LLVMGetNextBasicBlock(block)) {
			LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
			const unsigned steps = steps_of(block);

			if (steps == 0 || says_how(LLVMGetMetadata(end, kind)))
				continue;
			set_mark(end, name, steps);
			marked++;
		}
	}
	return marked;
}

/* Does the metadata of a loop have the mark `name`? */
static bool is_marked(LLVMValueRef node, const char *name)
{
	LLVMValueRef items[2] = { NULL, NULL };

	if (node == NULL || LLVMGetMDNodeNumOperands(node) != 2)
		return false;
	LLVMGetMDNodeOperands(node, items);
	return begins_with_word(items[1], name);
}

/* Remove the marks from the remaining loops. */
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

static int unroll_marked(struct finalize *finalize, struct tkb_error *err)
{
	const int rc = finalize_run(
		finalize,
		"function(loop-simplify,lcssa,loop-unroll"
		"<no-runtime;no-peeling;no-upperbound>,sroa," CLEAN_UP ")",
		err);

	unmark(finalize->module, count);
	return rc;
}

int finalize_unroll(struct finalize *finalize, struct tkb_error *err)
{
	const bool is_bound = finalize->request->bindings.count != 0;
	const size_t before = finalize_size(finalize->module);
	int rc;

	if (mark(finalize->module, steps_of_products, full) == 0 && !is_bound)
		return 0;
	rc = finalize_run(finalize,
	                  "function(sroa,loop-simplify,lcssa,"
	                  "loop(loop-rotate,indvars,loop-unroll-full),"
	                  "sroa," CLEAN_UP ")",
	                  err);
	unmark(finalize->module, full);
	if (rc == 0 && mark(finalize->module, steps_of_products, count) != 0)
		rc = unroll_marked(finalize, err);
	for (int i = 0; i < DEPTH && rc == 0 && is_bound; i++) {
		/* After this, no branch ends two loops: LLVM would unroll both. */
		rc = finalize_run(finalize, "function(loop-simplify)", err);
		if (rc < 0 ||
		    mark(finalize->module, steps_of_inner, count) == 0)
			break;
		rc = unroll_marked(finalize, err);
	}
	finalize_report_size(finalize, before);
	return rc;
}
