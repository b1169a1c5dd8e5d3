/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_internal.h"

#include <string.h>

/* Reads, and copies, that are written as PTX, as Triton writes them. */

/* Is it known that so many words are aligned there? */
static bool is_aligned(const struct generate *g, const struct stream *stream,
                       unsigned words)
{
	const char *const name = strchr(stream->base, '%');

	return name == NULL || g->aligns[name[1] - 'a'] >= 4 * words;
}

/* May PTX read so many words there? */
static bool can_be_ptx(const struct generate *g, const struct stream *stream,
                       unsigned words)
{
	return !g->options->for_gpu && is_aligned(g, stream, words) &&
	       strcmp(generate_space(stream), "ptr addrspace(1)") == 0;
}

static const char *condition(struct generate *g)
{

	if (chance(g, 50))
		return chance(g, 85) ? "true" : "false";
	return give(g, "%c", "icmp %s i32 %%n, %u",
	            chance(g, 50) ? "ult" : "sgt", pick(g, 8));
}

/* "mov.u32 $0, 0x0;" for each; what they are if the predicate is false. */
static void emit_moves(struct generate *g, unsigned count, bool has_values)
{
	for (unsigned i = 0; i < count; i++) {
		if (has_values)
			emit(g, "mov.u32 $%u, $%u;\\0A\\09", i, count + i);
		else
			emit(g, "mov.u32 $%u, 0x0;\\0A\\09", i);
	}
}

static void emit_outputs(struct generate *g, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		emit(g, "%s$%u", i == 0 ? "" : ", ", i);
}

static void emit_call(struct generate *g, const char *type, unsigned count,
                      const char *at, const char *is)
{
	static const char *const sizes[] = { "", "", ".v2", "", ".v4" };
	const bool has_predicate = is[0] != '\0';
	const bool has_values = has_predicate && chance(g, 30);
	const unsigned address = has_values ? 2 * count : count;

	emit(g, "call %s asm sideeffect \"", type);
	if (has_predicate || chance(g, 50))
		emit_moves(g, count, has_values);
	if (has_predicate)
		emit(g, "@$%u ", address + 1);
	emit(g, "ld.global%s%s.b32 { ", chance(g, 30) ? ".L1::evict_last" : "",
	     sizes[count]);
	emit_outputs(g, count);
	emit(g, " }, [ $%u + 0 ];\", \"", address);
	for (unsigned i = 0; i < count; i++)
		emit(g, "=r,");
	for (unsigned i = 0; i < count && has_values; i++)
		emit(g, "r,");
	emit(g, "l%s\"(", has_predicate ? ",b" : "");
	for (unsigned i = 0; i < count && has_values; i++)
		emit(g, "i32 %s, ", i == 0 ? "%n" : "7");
	emit(g, "ptr addrspace(1) %s%s%s)\n", at, has_predicate ? ", i1 " : "",
	     is);
}

const char *generate_asm(struct generate *g)
{
	static const char *const types[] = { "", "i32", "{ i32, i32 }", "",
		                             "{ i32, i32, i32, i32 }" };
	const unsigned count = 1U << pick(g, 3);
	struct stream stream = generate_word_stream(g);
	const char *const all = name(g, "%a");
	const char *is = "";
	const char *at;

	if (!can_be_ptx(g, &stream, count))
		return generate_plain(g);
	at = generate_address(g, &stream, stream.start);
	if (chance(g, 70))
		is = condition(g);
	emit(g, "  %s = ", all);
	emit_call(g, types[count], count, at, is);
	generate_between(g, &stream, stream.start);
	if (count == 1)
		return all;
	return give(g, "%v", "extractvalue %s %s, %u", types[count], all,
	            pick(g, count));
}

/* How many bytes a copy reads: all or none. */
static const char *copied_size(struct generate *g, unsigned all)
{

	if (chance(g, 50))
		return word(g, "%u", chance(g, 85) ? all : 0);
	const char *const is =
		give(g, "%c", "icmp ult i32 %%n, %u", pick(g, 8));
	return give(g, "%s", "select i1 %s, i32 %u, i32 0", is, all);
}

/* What a pipeline does: it copies to shared memory, waits, and reads there. */
const char *generate_copy(struct generate *g)
{
	const unsigned words = 1U << pick(g, 3);
	const unsigned first = words * pick(g, 16 / words);
	const struct stream stream = generate_word_stream(g);
	const char *from;
	const char *size;

	if (!can_be_ptx(g, &stream, words))
		return generate_plain(g);
	from = generate_address(g, &stream, stream.start);
	size = copied_size(g, 4 * words);
	const char *const to = give(
		g, "%p", "getelementptr i32, ptr addrspace(3) @tile, i32 %u",
		first);
	emit(g,
	     "  call void asm sideeffect \"cp.async.c%c.shared.global "
	     "[ $0 + 0 ], [ $1 + %u ], 0x%x, $2;\", \"r,l,r\"(ptr "
	     "addrspace(3) %s, ptr addrspace(1) %s, i32 %s)\n",
	     words == 4 ? 'g' : 'a', 4 * words * pick(g, 3), 4 * words, to,
	     from, size);
	emit(g, "  call void @llvm.nvvm.cp.async.commit.group()\n"
	        "  call void @llvm.nvvm.cp.async.wait.group(i32 0)\n"
	        "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n");
	const char *const at = give(
		g, "%p", "getelementptr i32, ptr addrspace(3) @tile, i32 %u",
		first + pick(g, words));
	return give(g, "%v", "load i32, ptr addrspace(3) %s", at);
}
