/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_internal.h"

#include <stdarg.h>
#include <stdio.h>

unsigned pick(struct generate *g, unsigned count)
{
	return (unsigned)(rewrite_draw(&g->state) % count);
}

bool chance(struct generate *g, unsigned percent)
{
	return pick(g, 100) < percent;
}

static const char *printed(struct generate *g, const char *format, va_list list)
{
	char line[1024];
	const char *out;

	(void)vsnprintf(line, sizeof(line), format, list);
	out = tkb_arena_string(&g->words, tkb_text(line));
	CHECK(out != NULL);
	return out;
}

void emit(struct generate *g, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	tkb_buf_add_text(g->out, printed(g, format, list));
	va_end(list);
}

const char *word(struct generate *g, const char *format, ...)
{
	const char *out;
	va_list list;

	va_start(list, format);
	out = printed(g, format, list);
	va_end(list);
	return out;
}

const char *name(struct generate *g, const char *prefix)
{
	return word(g, "%s%u", prefix, g->next++);
}

const char *give(struct generate *g, const char *prefix, const char *format,
                 ...)
{
	const char *const out = name(g, prefix);
	va_list list;

	va_start(list, format);
	emit(g, "  %s = %s\n", out, printed(g, format, list));
	va_end(list);
	return out;
}

void generate_label(struct generate *g, const char *label)
{
	emit(g, "%s:\n", label);
	g->block = word(g, "%%%s", label);
}

void generate_block(struct generate *g)
{
	const char *const label = name(g, "b");

	emit(g, "  br label %%%s\n", label);
	generate_label(g, label);
}

const char *generate_pointer(struct generate *g, unsigned which)
{
	return g->spaces[which] == 0 ? word(g, "ptr %%%c", 'a' + which)
	                             : word(g, "ptr addrspace(%u) %%%c",
	                                    g->spaces[which], 'a' + which);
}

const char *generate_space(const struct stream *stream)
{
	return strstr(stream->base, "addrspace(1)") != NULL ? "ptr addrspace(1)"
	       : strstr(stream->base, "addrspace(3)") != NULL
	               ? "ptr addrspace(3)"
	       : strstr(stream->base, "addrspace(4)") != NULL
	               ? "ptr addrspace(4)"
	               : "ptr";
}

/* A number from 0 to 7, in one of the ways in which code has such. */
static const char *small_number(struct generate *g)
{
	const char *const extension = chance(g, 50)   ? "zext"
	                              : chance(g, 50) ? "sext"
	                                              : "zext nneg";
	const char *narrow;

	switch (pick(g, 9)) {
	case 0:
		return "%m";
	case 1:
		return give(g, "%i", "and i64 %%m, %u", 3 + pick(g, 5));
	case 2:
		narrow = give(g, "%i",
		              "call i32 @llvm.nvvm.read.ptx.sreg.tid.x()");
		break;
	case 8:
		narrow = give(g, "%i",
		              "call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()");
		break;
	case 3:
		narrow = give(g, "%i", "urem i32 %%n, %u", 1 + pick(g, 8));
		break;
	case 4:
		narrow = give(g, "%i", "lshr i32 %%n, %u", pick(g, 3));
		break;
	case 5:
		narrow = give(g, "%i", "and i32 %%n, %u", 1 + pick(g, 7));
		break;
	default:
		narrow = "%n";
		break;
	}
	return give(g, "%i", "%s i32 %s to i64", extension, narrow);
}

/* A thread's place, as of blocks of so many threads: an i64 from 0 to 62. */
static const char *place_index(struct generate *g)
{
	const char *const thread =
		give(g, "%i", "call i32 @llvm.nvvm.read.ptx.sreg.tid.x()");
	const char *const block =
		give(g, "%i", "shl%s i32 %%n, %u",
	             chance(g, 70) ? " nuw nsw" : " nsw", 1 + pick(g, 3));
	const char *const sum =
		give(g, "%i", "add nuw nsw i32 %s, %s", block, thread);

	return give(g, "%i", "%s i32 %s to i64",
	            chance(g, 50) ? "zext" : "sext", sum);
}

/* The counter of a loop, or what changes with it: from 0 to 7. */
static const char *changing_number(struct generate *g)
{
	const char *narrow;
	const char *small;

	if (chance(g, 50))
		return g->counter;
	narrow = give(g, "%i", "trunc i64 %s to i32", g->counter);
	small = chance(g, 50) ? give(g, "%i", "sub nuw nsw i32 %u, %s",
	                             6 + pick(g, 2), narrow)
	                      : give(g, "%i", "and i32 %s, %u", narrow,
	                             1 + pick(g, 3));
	return give(g, "%i", "%s i32 %s to i64",
	            chance(g, 50) ? "zext" : "sext", small);
}

static const char *any_number(struct generate *g)
{
	return g->counter != NULL && chance(g, 60) ? changing_number(g)
	                                           : small_number(g);
}

/* An i64 from 0 to 112. */
static const char *scaled_number(struct generate *g)
{
	static const char *const flags[] = { "", " nuw", " nsw", " nuw nsw" };
	const char *const small = any_number(g);

	if (chance(g, 20))
		return small;
	if (chance(g, 50))
		return give(g, "%i", "mul%s i64 %s, %u", flags[pick(g, 4)],
		            small,
		            chance(g, 70) ? 4U << pick(g, 3) : 1 + pick(g, 9));
	return give(g, "%i", "shl%s i64 %s, %u", flags[pick(g, 4)], small,
	            pick(g, 5));
}

/* An i64 from 0 to 140. */
static const char *generate_index(struct generate *g)
{
	const char *first;
	const char *second;

	if (chance(g, 15))
		return place_index(g);
	first = scaled_number(g);
	if (!chance(g, 30))
		return first;
	second = any_number(g);
	second = give(g, "%i", "shl nuw nsw i64 %s, %u", second, pick(g, 3));
	return give(g, "%i", "add nuw nsw i64 %s, %s", first, second);
}

struct stream generate_stream(struct generate *g)
{
	struct stream stream = {
		.start = (int)pick(g, 6) * (chance(g, 50) ? 4 : 1),
		.stride = chance(g, 70) ? 1 : 1 + (int)pick(g, 16),
		.is_inbounds = chance(g, 50),
	};
	const unsigned kind = pick(g, 10);

	if (kind < 6) {
		stream.base = generate_pointer(g, pick(g, GENERATE_POINTERS));
	} else {
		stream.base =
			word(g, "ptr addrspace(1) @w%u",
		             chance(g, 60) ? g->used_weights++ % WEIGHT_COUNT
		                           : pick(g, WEIGHT_COUNT));
		if (stream.stride > 8)
			stream.stride = 8;
	}
	if (chance(g, 70))
		stream.index = generate_index(g);
	return stream;
}

struct stream generate_word_stream(struct generate *g)
{
	struct stream stream = generate_stream(g);
	const char *const index = stream.index;
	const unsigned which = pick(g, GENERATE_POINTERS);

	if (chance(g, 50))
		stream.base = generate_pointer(g, which);
	stream.start &= ~3;
	if (strstr(stream.base, "@w") == NULL)
		stream.stride = 1;
	if (index != NULL && chance(g, 80)) {
		stream.index = give(g, "%i", "and i64 %s, 60", index);
	}
	return stream;
}

const char *generate_address(struct generate *g, const struct stream *stream,
                             int offset)
{
	const char *const bounds = stream->is_inbounds ? " inbounds" : "";
	const char *const space = generate_space(stream);

	if (stream->index == NULL) {
		return give(g, "%p", "getelementptr%s i8, %s, i%u %d", bounds,
		            stream->base, chance(g, 50) ? 32 : 64, offset);
	}
	if (chance(g, 50)) {

		const char *const sum = give(g, "%i", "add%s i64 %s, %d",
		                             chance(g, 50) ? " nuw nsw" : "",
		                             stream->index, offset);
		return give(g, "%p", "getelementptr%s i8, %s, i64 %s", bounds,
		            stream->base, sum);
	}
	const char *const first =
		give(g, "%p", "getelementptr%s i8, %s, i64 %s", bounds,
	             stream->base, stream->index);
	return give(g, "%p", "getelementptr%s i8, %s %s, i64 %d", bounds, space,
	            first, offset);
}

void generate_store(struct generate *g, const char *value)
{
	const unsigned to = 2 + pick(g, 2);
	/* Mostly where sums read. */
	const unsigned offset =
		4 * pick(g, chance(g, 70) ? 12 : 60) + (chance(g, 10) ? 1 : 0);
	const char *const at = give(g, "%p", "getelementptr i8, %s, i64 %u",
	                            generate_pointer(g, to), offset);

	emit(g, "  store%s i32 %s, %s %s, align 1%s\n",
	     chance(g, 8) ? " volatile" : "", value,
	     g->spaces[to] == 0 ? "ptr" : "ptr addrspace(1)", at,
	     g->has_debug_data && chance(g, 70) ? ", !dbg !2" : "");
}

const char *generate_value(struct generate *g)
{
	switch (pick(g, 24)) {
	case 0:
	case 1:
		return generate_words(g);
	case 2:
		return generate_vector(g);
	case 3:
	case 4:
		return generate_plain(g);
	case 5:
		return generate_quantized(g);
	case 6:
		return generate_call(g);
	case 7:
		return generate_memory(g);
	case 8:
		return generate_open(g);
	case 9:
	case 10:
	case 11:
		return generate_bytes(g);
	case 12:
		return generate_memory(g);
	case 13:
		return generate_asm(g);
	case 14:
	case 15:
		return generate_convolution(g);
	case 21:
	case 22:
	case 23:
		return generate_copy(g);
	default:
		return generate_sum(g);
	}
}

/* A parameter's attributes. */
static void emit_parameter(struct generate *g, unsigned which)
{
	static const unsigned aligns[] = { 1, 2, 4, 4, 8, 16 };
	const unsigned align = aligns[pick(g, TKB_COUNT_OF(aligns))];

	g->spaces[which] = which == 3 && chance(g, 50) ? 0 : 1;
	g->aligns[which] = align;
	emit(g, "%s%s", which == 0 ? "" : ", ",
	     g->spaces[which] == 0 ? "ptr" : "ptr addrspace(1)");
	g->is_read_only[which] = which < 2 && chance(g, 25);
	if (g->is_read_only[which])
		emit(g, " noalias readonly");
	if (align > 1)
		emit(g, " align %u", align);
	emit(g, " %%%c", 'a' + which);
}

void generate_ir(uint64_t seed, const struct generate_options *options,
                 struct tkb_buf *out)
{
	struct generate g = {
		.options = options,
		.out = out,
		.state = seed,
		.block = "%0",
	};
	const char *value;
	unsigned count;

	(void)rewrite_draw(&g.state);
	g.noise = chance(&g, 50) ? 0 : pick(&g, 25);
	g.between = chance(&g, 50) ? 0 : 2 + pick(&g, 10);
	g.has_table = chance(&g, 40);
	g.has_debug_data = chance(&g, 25);
	generate_globals(&g);
	emit(&g, "define ptx_kernel void @kernel(");
	for (unsigned i = 0; i < GENERATE_POINTERS; i++)
		emit_parameter(&g, i);
	emit(&g, ", i32 %%n, i64 %%m)%s {\nbegin:\n",
	     g.has_debug_data ? " !dbg !1" : "");
	g.block = "%begin";
	count = 1 + pick(&g, 3);
	for (unsigned i = 0; i < count; i++) {
		generate_noise(&g);
		value = chance(&g, 20) ? generate_loop(&g) : generate_value(&g);
		if (g.has_debug_data)
			emit(&g,
			     "  #dbg_value(i32 %s, !3, !DIExpression(), !2)\n",
			     value);
		generate_store(&g, value);
	}
	emit(&g, "  ret void\n}\n");
	generate_metadata(&g);
	tkb_buf_add_byte(out, '\0');
	tkb_arena_release(&g.words);
}
