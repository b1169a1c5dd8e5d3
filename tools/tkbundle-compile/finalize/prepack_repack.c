/* SPDX-License-Identifier: Apache-2.0 */
#include "finalize/prepack_group.h"

#include <stdio.h>
#include <stdlib.h>

#include "worker/fail.h"
#include "finalize/finalize_external.h"
#include "llvm/llvm_values.h"

/* Repacks constants in the order in which their words are read. */

static void source_release(struct source *source)
{
	for (size_t i = 0; i < source->group_count; i++)
		free(source->groups[i].words);
	free(source->groups);
	free(source->bytes);
}

static bool is_address_part(LLVMValueRef user)
{
	const LLVMOpcode opcode = llvm_opcode(user);

	return opcode == LLVMGetElementPtr || opcode == LLVMAddrSpaceCast;
}

/* The number of loads with addresses in `global`; -1: it has other uses. */
static long count_loads(LLVMValueRef global)
{
	LLVMUseRef stack[8] = { LLVMGetFirstUse(global) };
	size_t depth = 1;
	long count = 0;

	while (depth != 0) {
		LLVMUseRef use = stack[depth - 1];
		LLVMValueRef user;

		if (use == NULL) {
			depth--;
			continue;
		}
		user = LLVMGetUser(use);
		stack[depth - 1] = LLVMGetNextUse(use);
		if (LLVMIsALoadInst(user) != NULL) {
			count++;
		} else if (is_address_part(user) && depth < 8) {
			stack[depth++] = LLVMGetFirstUse(user);
		} else {
			return -1;
		}
	}
	return count;
}

/* True if all readers of `global` are part of words with known offsets. */
static bool is_read_by_words(const struct prepack *prepack, LLVMValueRef global)
{
	long count = 0;

	for (size_t i = 0; i < prepack->count; i++) {
		const struct prepack_word *word = &prepack->words[i];

		if (word->has_offsets && word->address.base == global)
			count += word->lanes[0] == NULL ? 1 : PREPACK_LANES;
	}
	return count != 0 && count_loads(global) == count;
}

static bool may_be_replaced(const struct prepack *prepack, LLVMValueRef global)
{
	return LLVMIsGlobalConstant(global) &&
	       LLVMGetInitializer(global) != NULL &&
	       finalize_is_internal(global) && !LLVMIsThreadLocal(global) &&
	       !finalize_is_used_externally(prepack->finalize->module,
	                                    global) &&
	       is_read_by_words(prepack, global);
}

bool prepack_is_straight(LLVMValueRef from, LLVMValueRef to)
{
	for (LLVMValueRef at = from; at != NULL && at != to;
	     at = LLVMGetNextInstruction(at)) {
		if (LLVMIsACallInst(at) != NULL && !prepack_is_harmless(at))
			return false;
	}
	return true;
}

static bool belongs(const struct group *group, const struct prepack_word *word)
{
	const struct prepack_word *last = group->words[group->count - 1];

	return LLVMGetInstructionParent(last->word) ==
	               LLVMGetInstructionParent(word->word) &&
	       prepack_differ_by_offset(&last->address, &word->address) &&
	       prepack_is_straight(last->word, word->word);
}

static struct group *new_group(struct source *source, size_t max_words)
{
	struct group *grown = realloc(
		source->groups, (source->group_count + 1) * sizeof(*grown));

	if (grown == NULL)
		return NULL;
	source->groups = grown;
	grown += source->group_count;
	*grown = (struct group){ .words = calloc(max_words,
		                                 sizeof(*grown->words)) };
	if (grown->words == NULL)
		return NULL;
	source->group_count++;
	return grown;
}

static int make_groups(struct prepack *prepack, struct source *source,
                       struct tkb_error *err)
{
	struct group *group = NULL;

	for (size_t i = 0; i < prepack->count; i++) {
		struct prepack_word *word = &prepack->words[i];

		if (!word->has_offsets || word->address.base != source->global)
			continue;
		if (group == NULL || !belongs(group, word))
			group = new_group(source, prepack->count - i);
		if (group == NULL)
			return fail(err, TKB_ERR_NOMEM, "out of memory");
		group->words[group->count++] = word;
	}
	return 0;
}

static LLVMValueRef make_table(const struct prepack *prepack,
                               const struct source *source,
                               const unsigned char *bytes, size_t count)
{
	LLVMModuleRef module = prepack->finalize->module;
	LLVMTypeRef word = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
	LLVMValueRef global = source->global;
	char packed[256];
	LLVMValueRef table;

	(void)snprintf(packed, sizeof(packed), "%.200s.packed",
	               llvm_name(global));
	table = LLVMAddGlobalInAddressSpace(
		module, LLVMArrayType2(word, count), packed,
		LLVMGetPointerAddressSpace(LLVMTypeOf(global)));
	/* LLVM expects this machine's byte order, which is the GPU's, too. */
	LLVMSetInitializer(table, LLVMConstDataArray(word, (const char *)bytes,
	                                             4 * count));
	LLVMSetGlobalConstant(table, true);
	LLVMSetLinkage(table, LLVMInternalLinkage);
	LLVMSetAlignment(table, 16);
	return table;
}

/*
 * Find the axes of all groups, and place them behind each other in the table. False if
 * that fails, or if the table would be more than twice as large as the constant.
 */
static bool plan_table(struct source *source)
{
	source->word_count = 0;
	for (size_t i = 0; i < source->group_count; i++) {
		struct group *group = &source->groups[i];

		if (!prepack_find_axes(source, group))
			return false;
		/* Up to four words are loaded at once. */
		group->first = (source->word_count + 3) / 4 * 4;
		source->word_count =
			group->first +
			group->position_count * (int64_t)group->word_count;
		if (4 * source->word_count > 2 * source->size)
			return false;
	}
	return source->word_count != 0;
}

static int replace_loads(struct prepack *prepack, const struct source *source,
                         struct tkb_error *err)
{
	const size_t count = (size_t)source->word_count;
	unsigned char *bytes = calloc(count, 4);
	LLVMValueRef table;

	if (bytes == NULL)
		return fail(err, TKB_ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < source->group_count; i++)
		prepack_fill(source, &source->groups[i], bytes);
	table = make_table(prepack, source, bytes, count);
	free(bytes);
	for (size_t i = 0; i < source->group_count; i++) {
		prepack_read_from(prepack, &source->groups[i], table);
		prepack->repacked_count += source->groups[i].word_count;
	}
	prepack->table_count++;
	return 0;
}

static int repack_global(struct prepack *prepack, LLVMValueRef global,
                         struct tkb_error *err)
{
	struct source source = { .global = global };
	int rc;

	if (!may_be_replaced(prepack, global))
		return 0;
	source.size = (int64_t)LLVMABISizeOfType(
		prepack->layout, LLVMGlobalGetValueType(global));
	source.bytes = prepack_bytes_of(LLVMGetInitializer(global),
	                                (size_t)source.size);
	if (source.bytes == NULL)
		return 0;
	rc = make_groups(prepack, &source, err);
	if (rc == 0 && plan_table(&source))
		rc = replace_loads(prepack, &source, err);
	source_release(&source);
	return rc;
}

int prepack_repack(struct prepack *prepack, struct tkb_error *err)
{
	LLVMValueRef next;
	int rc = 0;

	for (LLVMValueRef at = LLVMGetFirstGlobal(prepack->finalize->module);
	     at != NULL && rc == 0; at = next) {
		next = LLVMGetNextGlobal(at);
		rc = repack_global(prepack, at, err);
	}
	return rc;
}
