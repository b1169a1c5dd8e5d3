/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/finalize_step.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "finalize/finalize_external.h"
#include "llvm/llvm_effects.h"
#include "llvm/llvm_values.h"
#include "llvm/ptx_copy.h"
#include "llvm/ptx_read.h"
#include "worker/fail.h"

/*
 * Issues loads of global memory early. Threads exchange what they load through
 * shared memory, so barriers follow each load, and no compiler moves a load across a
 * barrier: an unrolled loop waits for memory once in each iteration. But until a
 * kernel has written global memory, no barrier orders what a load reads. So the loads
 * of several iterations are issued before the first of these barriers, as many as
 * there are registers for.
 *
 * Triton's pipelines copy to shared memory asynchronously instead, as far ahead as they
 * have buffers. If the grid is known to be small, and there are registers for all of these
 * copies, an earlier step makes loads and stores of them: constants among them can be packed
 * then, and the loads are issued early, too.
 */

enum {
	WORD = 32,           /* bits of a register */
	REGISTERS = 65536,   /* of a multiprocessor */
	THREADS_MOST = 1024, /* of a block */
	/*
	 * Registers of a thread. With more than the fewer ones, fewer blocks fit on a
	 * multiprocessor, and a large grid becomes slower.
	 */
	REGISTERS_FEW = 96,
	REGISTERS_MOST = 255,
	/* A grid of so many blocks has a multiprocessor for each. */
	BLOCKS_FEW = 64,
	RESERVED = 24 /* for addresses, and what is not counted */
};

/* An instruction; its index is its place in the original order. */
struct node {
	LLVMValueRef value;
	unsigned size;   /* bits of the result */
	unsigned ending; /* bits of results that nothing uses later */
	bool is_read;
	bool is_free;   /* depends on nothing that must stay where it is */
	bool is_issued; /* a read that has its place in the new order */
	bool is_held;   /* issued, and nothing has used it yet */
	bool is_placed;
	size_t place; /* in the new order */
};

struct index_of {
	LLVMValueRef value;
	size_t index;
};

/* The instructions of a block before the first one that may write. */
struct stretch {
	struct node *nodes;
	struct index_of *indices; /* sorted by value */
	size_t *order;            /* the new one, of indices */
	size_t count;
	size_t placed;
	size_t next;     /* all reads before it are issued */
	unsigned budget; /* bits, for reads that are held */
	unsigned held;
};

static int compare_values(const void *a, const void *b)
{
	const struct index_of *left = a;
	const struct index_of *right = b;

	return (left->value > right->value) - (left->value < right->value);
}

/* The node of a value; NULL: it is not from this stretch. */
static struct node *node_of(const struct stretch *stretch, LLVMValueRef value)
{
	const struct index_of wanted = { .value = value };
	const struct index_of *found =
		bsearch(&wanted, stretch->indices, stretch->count,
	                sizeof(wanted), compare_values);

	return found == NULL ? NULL : &stretch->nodes[found->index];
}

static struct node *operand_of(const struct stretch *stretch,
                               const struct node *node, unsigned i)
{
	return node_of(stretch, LLVMGetOperand(node->value, i));
}

static unsigned operand_count(const struct node *node)
{
	return (unsigned)LLVMGetNumOperands(node->value);
}

static unsigned bits_of(LLVMTypeRef type)
{
	unsigned all = 0;

	switch ((int)LLVMGetTypeKind(type)) {
	case LLVMStructTypeKind:
		for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
			all += bits_of(LLVMStructGetTypeAtIndex(type, i));
		return all;
	case LLVMVectorTypeKind:
		return LLVMGetVectorSize(type) *
		       bits_of(LLVMGetElementType(type));
	case LLVMIntegerTypeKind:
		/* Predicates have registers of their own. */
		return LLVMGetIntTypeWidth(type) == 1
		               ? 0
		               : LLVMGetIntTypeWidth(type);
	case LLVMVoidTypeKind:
		return 0;
	case LLVMHalfTypeKind:
	case LLVMBFloatTypeKind:
		return WORD / 2;
	case LLVMDoubleTypeKind:
	case LLVMPointerTypeKind:
		return 2 * WORD;
	default:
		return WORD;
	}
}

static bool is_read(LLVMValueRef value)
{
	struct ptx_read read;

	return LLVMIsALoadInst(value) != NULL ? llvm_is_apart_from_shared(value)
	                                      : ptx_read_of(value, &read);
}

/* Add the node to what ends with the last instruction that uses it. */
static void find_end(const struct stretch *stretch, struct node *node)
{
	struct node *last = node;

	for (LLVMUseRef use = LLVMGetFirstUse(node->value); use != NULL;
	     use = LLVMGetNextUse(use)) {
		struct node *const user = node_of(stretch, LLVMGetUser(use));

		if (user == NULL)
			return;
		last = user > last ? user : last;
	}
	last->ending += node->size;
}

static bool has_free_operands(const struct stretch *stretch,
                              const struct node *node)
{
	for (unsigned i = 0; i < operand_count(node); i++) {
		const struct node *operand = operand_of(stretch, node, i);

		if (operand != NULL && (!operand->is_free || operand->is_read))
			return false;
	}
	return true;
}

static void describe(const struct stretch *stretch, struct node *node)
{
	node->size = bits_of(LLVMTypeOf(node->value));
	node->is_read = is_read(node->value);
	node->is_free = (node->is_read || llvm_is_computation(node->value)) &&
	                has_free_operands(stretch, node);
	find_end(stretch, node);
}

static void close_stretch(struct stretch *stretch)
{
	free(stretch->nodes);
	free(stretch->indices);
	free(stretch->order);
}

/* Phis stay where they are. */
static int open_stretch(struct stretch *stretch, LLVMValueRef end,
                        struct tkb_error *err)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(end);
	LLVMValueRef first = LLVMGetFirstInstruction(block);
	size_t count = 1; /* calloc() of 0 may give NULL */

	while (LLVMIsAPHINode(first) != NULL)
		first = LLVMGetNextInstruction(first);
	for (LLVMValueRef at = first; at != end;
	     at = LLVMGetNextInstruction(at))
		count++;
	*stretch = (struct stretch){
		.nodes = calloc(count, sizeof(*stretch->nodes)),
		.indices = calloc(count, sizeof(*stretch->indices)),
		.order = calloc(count, sizeof(*stretch->order)),
	};
	if (stretch->nodes == NULL || stretch->indices == NULL ||
	    stretch->order == NULL) {
		close_stretch(stretch);
		return fail(err, TKB_ERR_NOMEM, "out of memory");
	}
	for (LLVMValueRef at = first; at != end;
	     at = LLVMGetNextInstruction(at)) {
		stretch->nodes[stretch->count].value = at;
		stretch->indices[stretch->count] =
			(struct index_of){ at, stretch->count };
		stretch->count++;
	}
	qsort(stretch->indices, stretch->count, sizeof(*stretch->indices),
	      compare_values);
	for (size_t i = 0; i < stretch->count; i++)
		describe(stretch, &stretch->nodes[i]);
	return 0;
}

/* The most bits that are in use at once, in the original order. */
static unsigned most_live(const struct stretch *stretch)
{
	unsigned most = 0;
	unsigned live = 0;

	for (size_t i = 0; i < stretch->count; i++) {
		live += stretch->nodes[i].size;
		live -= stretch->nodes[i].ending;
		most = live > most ? live : most;
	}
	return most;
}

/* The product of the numbers of an attribute, "32,4,1". */
static unsigned long attribute_of(LLVMValueRef function, const char *name,
                                  unsigned long otherwise)
{
	LLVMAttributeRef attribute = LLVMGetStringAttributeAtIndex(
		function, llvm_function_index, name, (unsigned)strlen(name));
	char text[64] = "";
	unsigned size = 0;
	const char *value;
	unsigned long all = 1;

	if (attribute == NULL)
		return otherwise;
	value = LLVMGetStringAttributeValue(attribute, &size);
	if (size >= sizeof(text))
		return otherwise;
	memcpy(text, value, size);
	for (char *at = text; *at != '\0'; at += *at == ',') {
		char *const from = at;

		all *= strtoul(from, &at, 10);
		if (at == from)
			return otherwise;
	}
	return all;
}

static bool is_grid_small(const struct finalize *finalize)
{
	uint64_t all = 1;

	for (size_t i = 0; i < TKB_COUNT_OF(finalize->blocks); i++) {
		/* A dimension that is not bound may be large. */
		if (finalize->blocks[i] == 0 ||
		    finalize->blocks[i] > BLOCKS_FEW)
			return false;
		all *= finalize->blocks[i];
	}
	return all <= BLOCKS_FEW;
}

/* How many bits of registers a thread may use. */
static unsigned limit_of(const struct finalize *finalize, LLVMValueRef kernel)
{
	const unsigned long threads =
		attribute_of(kernel, "nvvm.reqntid", THREADS_MOST);
	unsigned long limit =
		is_grid_small(finalize) ? REGISTERS_MOST : REGISTERS_FEW;
	unsigned long asked;

	if (threads != 0 && REGISTERS / threads < limit)
		limit = REGISTERS / threads;
	asked = attribute_of(kernel, "nvvm.maxnreg", limit);
	return WORD * (unsigned)(asked < limit ? asked : limit);
}

/* How many bits are left for reads that are issued early. */
static unsigned budget_of(const struct stretch *stretch, unsigned limit)
{
	const unsigned used = most_live(stretch) + WORD * RESERVED;

	return used < limit ? limit - used : 0;
}

static void place(struct stretch *stretch, struct node *node)
{
	if (node->is_placed)
		return;
	for (unsigned i = 0; i < operand_count(node); i++) {
		struct node *operand = operand_of(stretch, node, i);

		if (operand != NULL)
			place(stretch, operand);
	}
	node->is_placed = true;
	node->place = stretch->placed;
	stretch->order[stretch->placed++] = (size_t)(node - stretch->nodes);
}

static void issue(struct stretch *stretch, struct node *node)
{
	node->is_issued = true;
	node->is_held = true;
	stretch->held += node->size;
	place(stretch, node);
}

/* Issue the next reads, as many as the budget allows. */
static void issue_early(struct stretch *stretch)
{
	for (; stretch->next < stretch->count; stretch->next++) {
		struct node *node = &stretch->nodes[stretch->next];

		if (!node->is_read || !node->is_free || node->is_issued)
			continue;
		if (stretch->held + node->size > stretch->budget)
			return;
		issue(stretch, node);
	}
}

/* The reads that this instruction uses are not held any more. */
static bool use_reads(struct stretch *stretch, const struct node *node)
{
	bool is_any = false;

	for (unsigned i = 0; i < operand_count(node); i++) {
		struct node *operand = operand_of(stretch, node, i);

		if (operand == NULL || !operand->is_held)
			continue;
		operand->is_held = false;
		stretch->held -= operand->size;
		is_any = true;
	}
	return is_any;
}

static void plan(struct stretch *stretch)
{
	issue_early(stretch);
	for (size_t i = 0; i < stretch->count; i++) {
		struct node *node = &stretch->nodes[i];

		if (node->is_read && !node->is_issued)
			issue(stretch, node);
		place(stretch, node);
		if (use_reads(stretch, node))
			issue_early(stretch);
	}
}

/* How many reads are before a barrier that they were behind. */
static size_t count_crossing(const struct stretch *stretch)
{
	const struct node *barrier = NULL;
	size_t count = 0;

	for (size_t i = 0; i < stretch->count; i++) {
		const struct node *node = &stretch->nodes[i];

		if (llvm_is_barrier(node->value))
			barrier = node;
		count += node->is_read && barrier != NULL &&
		         node->place < barrier->place;
	}
	return count;
}

static void reorder(const struct stretch *stretch, LLVMValueRef end)
{
	AUTO_LLVM(LLVMBuilderRef) builder = llvm_builder_before(end);

	for (size_t i = 0; i < stretch->count; i++) {
		const struct node *node = &stretch->nodes[stretch->order[i]];
		size_t size;

		LLVMInstructionRemoveFromParent(node->value);
		LLVMInsertIntoBuilderWithName(
			builder, node->value,
			LLVMGetValueName2(node->value, &size));
		if (node->is_read)
			ptx_read_pin(builder, node->value);
	}
}

/*
 * The bits of all copies of a kernel; 0 if one is not before `end` in its block, or is
 * of a kind that is not known.
 */
static unsigned copied_bits(LLVMValueRef kernel, LLVMValueRef end)
{
	unsigned all = 0;

	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel);
	     block != NULL; block = LLVMGetNextBasicBlock(block)) {
		bool is_before = block == LLVMGetInstructionParent(end);

		for (LLVMValueRef at = LLVMGetFirstInstruction(block);
		     at != NULL; at = LLVMGetNextInstruction(at)) {
			is_before = is_before && at != end;
			if (!llvm_concerns_copies(at) || llvm_is_copy_group(at))
				continue;
			if (!is_before || ptx_copy_size(at) == 0)
				return 0;
			all += 8 * ptx_copy_size(at);
		}
	}
	return all;
}

/*
 * Make loads and stores of all copies before `end`, and return how many; groups of them
 * are then empty.
 */
static size_t split_copies(LLVMValueRef end)
{
	size_t count = 0;
	AUTO_LLVM(LLVMBuilderRef) builder = llvm_builder_before(end);
	LLVMValueRef at =
		LLVMGetFirstInstruction(LLVMGetInstructionParent(end));

	while (at != end) {
		LLVMValueRef next = LLVMGetNextInstruction(at);

		if (llvm_is_copy(at)) {
			ptx_copy_split(builder, at);
			count++;
		} else if (llvm_is_copy_group(at)) {
			LLVMInstructionEraseFromParent(at);
		}
		at = next;
	}
	return count;
}

/* Can control come back to the block? */
static int is_repeated(LLVMBasicBlockRef block, bool *out,
                       struct tkb_error *err)
{
	struct llvm_blocks after;

	if (!llvm_find_after(&after, block))
		return fail(err, TKB_ERR_NOMEM, "out of memory");
	*out = llvm_is_among(&after, block);
	llvm_blocks_release(&after);
	return 0;
}

/* Could loads in place of the copies be issued early? */
static bool are_copies_free(const struct stretch *stretch)
{
	for (size_t i = 0; i < stretch->count; i++) {
		const struct node *node = &stretch->nodes[i];

		if (llvm_is_copy(node->value) &&
		    !has_free_operands(stretch, node))
			return false;
	}
	return true;
}

/* Split the copies if there are registers for all of them. */
static int split_before(const struct finalize *finalize, LLVMValueRef end,
                        size_t *count, struct tkb_error *err)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(end);
	LLVMValueRef kernel = LLVMGetBasicBlockParent(block);
	const unsigned copied = copied_bits(kernel, end);
	struct stretch stretch;
	bool repeated = false;
	int rc;

	if (copied == 0)
		return 0;
	rc = is_repeated(block, &repeated, err);
	if (rc < 0 || repeated)
		return rc;
	rc = open_stretch(&stretch, end, err);
	if (rc < 0)
		return rc;
	if (are_copies_free(&stretch) &&
	    copied <= budget_of(&stretch, limit_of(finalize, kernel)))
		*count += split_copies(end);
	close_stretch(&stretch);
	return 0;
}

static int hoist_before(const struct finalize *finalize, LLVMValueRef end,
                        size_t *moved, struct tkb_error *err)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(end);
	LLVMValueRef kernel = LLVMGetBasicBlockParent(block);
	struct stretch stretch;
	size_t crossing;
	int rc;

	rc = open_stretch(&stretch, end, err);
	if (rc < 0)
		return rc;
	stretch.budget = budget_of(&stretch, limit_of(finalize, kernel));
	plan(&stretch);
	crossing = count_crossing(&stretch);
	if (crossing != 0)
		reorder(&stretch, end);
	*moved += crossing;
	close_stretch(&stretch);
	return 0;
}

/* Changes what is before `end`, the first write of a block, and counts it. */
typedef int change_fn(const struct finalize *finalize, LLVMValueRef end,
                      size_t *count, struct tkb_error *err);

static int change_kernel(const struct finalize *finalize, LLVMValueRef kernel,
                         change_fn *change, size_t *count,
                         struct tkb_error *err)
{
	struct llvm_blocks after;
	int rc = 0;

	if (!llvm_find_after_writes(&after, kernel))
		return fail(err, TKB_ERR_NOMEM, "out of memory");
	for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel);
	     block != NULL && rc == 0; block = LLVMGetNextBasicBlock(block)) {
		if (!llvm_is_among(&after, block))
			rc = change(finalize, llvm_first_write(block), count,
			            err);
	}
	llvm_blocks_release(&after);
	return rc;
}

/* Change each kernel's loads before it writes, and report how many. */
static int change_loads(struct finalize *finalize, change_fn *change,
                        struct tkb_error *err)
{
	size_t count = 0;
	int rc = 0;

	for (LLVMValueRef at = LLVMGetFirstFunction(finalize->module);
	     at != NULL && rc == 0; at = LLVMGetNextFunction(at)) {
		/* What calls any other function may have written before. */
		if (finalize_is_kernel(at))
			rc = change_kernel(finalize, at, change, &count, err);
	}
	finalize_count(finalize, count, "load");
	return rc;
}

int finalize_split(struct finalize *finalize, struct tkb_error *err)
{
	return is_grid_small(finalize)
	               ? change_loads(finalize, split_before, err)
	               : 0;
}

int finalize_hoist(struct finalize *finalize, struct tkb_error *err)
{
	/* Without --bind, no loop of Triton's kernels was unrolled. */
	return finalize->request->bindings.count != 0
	               ? change_loads(finalize, hoist_before, err)
	               : 0;
}
