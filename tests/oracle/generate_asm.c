/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_internal.h"

#include <string.h>

/* Reads that are written as PTX, as Triton writes its loads. */

/* Is it known that so many words are aligned there? */
static bool is_aligned(const struct generate *g, const struct stream *stream,
                       unsigned words)
{
	const char *const name = strchr(stream->base, '%');

	return name == NULL || g->aligns[name[1] - 'a'] >= 4 * words;
}

static struct word condition(struct generate *g)
{
	const struct word is = name(g, "%c");

	if (chance(g, 50))
		return word("%s", chance(g, 85) ? "true" : "false");
	emit(g, "  %s = icmp %s i32 %%n, %u\n", is.text,
	     chance(g, 50) ? "ult" : "sgt", pick(g, 8));
	return is;
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
                      struct word at, struct word is)
{
	static const char *const sizes[] = { "", "", ".v2", "", ".v4" };
	const bool has_predicate = is.text[0] != '\0';
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
	emit(g, "ptr addrspace(1) %s%s%s)\n", at.text,
	     has_predicate ? ", i1 " : "", is.text);
}

struct word generate_asm(struct generate *g)
{
	static const char *const types[] = { "", "i32", "{ i32, i32 }", "",
		                             "{ i32, i32, i32, i32 }" };
	const unsigned count = 1U << pick(g, 3);
	struct stream stream = generate_word_stream(g);
	const struct word all = name(g, "%a");
	const struct word out = name(g, "%v");
	struct word is = word("%s", "");
	struct word at;

	if (g->options->for_gpu || !is_aligned(g, &stream, count) ||
	    strcmp(generate_space(&stream), "ptr addrspace(1)") != 0)
		return generate_plain(g);
	at = generate_address(g, &stream, stream.start);
	if (chance(g, 70))
		is = condition(g);
	emit(g, "  %s = ", all.text);
	emit_call(g, types[count], count, at, is);
	generate_between(g, &stream, stream.start);
	if (count == 1)
		return all;
	emit(g, "  %s = extractvalue %s %s, %u\n", out.text, types[count],
	     all.text, pick(g, count));
	return out;
}
