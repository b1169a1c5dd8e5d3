/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_internal.h"

#include <stdarg.h>
#include <stdio.h>

uint64_t generate_draw(uint64_t *state)
{
	uint64_t z;

	*state += UINT64_C(0x9e3779b97f4a7c15);
	z = *state;
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

unsigned pick(struct generate *g, unsigned count)
{
	return (unsigned)(generate_draw(&g->state) % count);
}

bool chance(struct generate *g, unsigned percent)
{
	return pick(g, 100) < percent;
}

void emit(struct generate *g, const char *format, ...)
{
	char line[1024];
	va_list list;

	va_start(list, format);
	(void)vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	tkb_buf_add_text(g->out, line);
}

struct word word(const char *format, ...)
{
	struct word out;
	va_list list;

	va_start(list, format);
	(void)vsnprintf(out.text, sizeof(out.text), format, list);
	va_end(list);
	return out;
}

struct word name(struct generate *g, const char *prefix)
{
	return word("%s%u", prefix, g->next++);
}

void generate_label(struct generate *g, struct word label)
{
	emit(g, "%s:\n", label.text);
	(void)snprintf(g->block, sizeof(g->block), "%%%s", label.text);
}

void generate_block(struct generate *g)
{
	const struct word label = name(g, "b");

	emit(g, "  br label %%%s\n", label.text);
	generate_label(g, label);
}

struct word generate_pointer(struct generate *g, unsigned which)
{
	return g->spaces[which] == 0 ? word("ptr %%%c", 'a' + which)
	                             : word("ptr addrspace(%u) %%%c",
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
static struct word small_number(struct generate *g)
{
	const struct word narrow = name(g, "%i");
	const struct word out = name(g, "%i");
	const char *const extension = chance(g, 50)   ? "zext"
	                              : chance(g, 50) ? "sext"
	                                              : "zext nneg";

	switch (pick(g, 9)) {
	case 0:
		return word("%%m");
	case 1:
		emit(g, "  %s = and i64 %%m, %u\n", out.text, 3 + pick(g, 5));
		return out;
	case 2:
		emit(g,
		     "  %s = call i32 "
		     "@llvm.nvvm.read.ptx.sreg.tid.x()\n",
		     narrow.text);
		break;
	case 8:
		emit(g, "  %s = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n",
		     narrow.text);
		break;
	case 3:
		emit(g, "  %s = urem i32 %%n, %u\n", narrow.text,
		     1 + pick(g, 8));
		break;
	case 4:
		emit(g, "  %s = lshr i32 %%n, %u\n", narrow.text, pick(g, 3));
		break;
	case 5:
		emit(g, "  %s = and i32 %%n, %u\n", narrow.text,
		     1 + pick(g, 7));
		break;
	default:
		emit(g, "  %s = %s i32 %%n to i64\n", out.text, extension);
		return out;
	}
	emit(g, "  %s = %s i32 %s to i64\n", out.text, extension, narrow.text);
	return out;
}

/* A thread's place, as of blocks of so many threads: an i64 from 0 to 62. */
static struct word place_index(struct generate *g)
{
	const struct word thread = name(g, "%i");
	const struct word block = name(g, "%i");
	const struct word sum = name(g, "%i");
	const struct word out = name(g, "%i");

	emit(g, "  %s = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n",
	     thread.text);
	emit(g, "  %s = shl%s i32 %%n, %u\n", block.text,
	     chance(g, 70) ? " nuw nsw" : " nsw", 1 + pick(g, 3));
	emit(g, "  %s = add nuw nsw i32 %s, %s\n", sum.text, block.text,
	     thread.text);
	emit(g, "  %s = %s i32 %s to i64\n", out.text,
	     chance(g, 50) ? "zext" : "sext", sum.text);
	return out;
}

/* The counter of a loop, or what changes with it: from 0 to 7. */
static struct word changing_number(struct generate *g)
{
	const struct word narrow = name(g, "%i");
	const struct word small = name(g, "%i");
	const struct word out = name(g, "%i");

	if (chance(g, 50))
		return g->counter;
	emit(g, "  %s = trunc i64 %s to i32\n", narrow.text, g->counter.text);
	if (chance(g, 50))
		emit(g, "  %s = sub nuw nsw i32 %u, %s\n", small.text,
		     6 + pick(g, 2), narrow.text);
	else
		emit(g, "  %s = and i32 %s, %u\n", small.text, narrow.text,
		     1 + pick(g, 3));
	emit(g, "  %s = %s i32 %s to i64\n", out.text,
	     chance(g, 50) ? "zext" : "sext", small.text);
	return out;
}

static struct word any_number(struct generate *g)
{
	return g->counter.text[0] != '\0' && chance(g, 60) ? changing_number(g)
	                                                   : small_number(g);
}

/* An i64 from 0 to 112. */
static struct word scaled_number(struct generate *g)
{
	static const char *const flags[] = { "", " nuw", " nsw", " nuw nsw" };
	const struct word small = any_number(g);
	struct word out;

	if (chance(g, 20))
		return small;
	out = name(g, "%i");
	if (chance(g, 50))
		emit(g, "  %s = mul%s i64 %s, %u\n", out.text,
		     flags[pick(g, 4)], small.text,
		     chance(g, 70) ? 4U << pick(g, 3) : 1 + pick(g, 9));
	else
		emit(g, "  %s = shl%s i64 %s, %u\n", out.text,
		     flags[pick(g, 4)], small.text, pick(g, 5));
	return out;
}

/* An i64 from 0 to 140. */
static struct word generate_index(struct generate *g)
{
	struct word first;
	struct word small;
	struct word second;
	struct word out;

	if (chance(g, 15))
		return place_index(g);
	first = scaled_number(g);
	if (!chance(g, 30))
		return first;
	small = any_number(g);
	second = name(g, "%i");
	out = name(g, "%i");
	emit(g, "  %s = shl nuw nsw i64 %s, %u\n", second.text, small.text,
	     pick(g, 3));
	emit(g, "  %s = add nuw nsw i64 %s, %s\n", out.text, first.text,
	     second.text);
	return out;
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
		(void)snprintf(
			stream.base, sizeof(stream.base), "%s",
			generate_pointer(g, pick(g, GENERATE_POINTERS)).text);
	} else {
		(void)snprintf(stream.base, sizeof(stream.base),
		               "ptr addrspace(1) @w%u",
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
	const struct word index = stream.index;
	const unsigned which = pick(g, GENERATE_POINTERS);

	if (chance(g, 50))
		(void)snprintf(stream.base, sizeof(stream.base), "%s",
		               generate_pointer(g, which).text);
	stream.start &= ~3;
	if (strstr(stream.base, "@w") == NULL)
		stream.stride = 1;
	if (index.text[0] != '\0' && chance(g, 80)) {
		stream.index = name(g, "%i");
		emit(g, "  %s = and i64 %s, 60\n", stream.index.text,
		     index.text);
	}
	return stream;
}

struct word generate_address(struct generate *g, const struct stream *stream,
                             int offset)
{
	const char *const bounds = stream->is_inbounds ? " inbounds" : "";
	const char *const space = generate_space(stream);
	const struct word first = name(g, "%p");
	const struct word out = name(g, "%p");

	if (stream->index.text[0] == '\0') {
		emit(g, "  %s = getelementptr%s i8, %s, i%u %d\n", out.text,
		     bounds, stream->base, chance(g, 50) ? 32 : 64, offset);
		return out;
	}
	if (chance(g, 50)) {
		const struct word sum = name(g, "%i");

		emit(g, "  %s = add%s i64 %s, %d\n", sum.text,
		     chance(g, 50) ? " nuw nsw" : "", stream->index.text,
		     offset);
		emit(g, "  %s = getelementptr%s i8, %s, i64 %s\n", out.text,
		     bounds, stream->base, sum.text);
		return out;
	}
	emit(g, "  %s = getelementptr%s i8, %s, i64 %s\n", first.text, bounds,
	     stream->base, stream->index.text);
	emit(g, "  %s = getelementptr%s i8, %s %s, i64 %d\n", out.text, bounds,
	     space, first.text, offset);
	return out;
}

void generate_store(struct generate *g, struct word value)
{
	const unsigned to = 2 + pick(g, 2);
	const struct word at = name(g, "%p");
	/* Mostly where sums read. */
	const unsigned offset =
		4 * pick(g, chance(g, 70) ? 12 : 60) + (chance(g, 10) ? 1 : 0);

	emit(g, "  %s = getelementptr i8, %s, i64 %u\n", at.text,
	     generate_pointer(g, to).text, offset);
	emit(g, "  store%s i32 %s, %s %s, align 1%s\n",
	     chance(g, 8) ? " volatile" : "", value.text,
	     g->spaces[to] == 0 ? "ptr" : "ptr addrspace(1)", at.text,
	     g->has_debug_data && chance(g, 70) ? ", !dbg !2" : "");
}

struct word generate_value(struct generate *g)
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
	struct word value;
	unsigned count;

	(void)generate_draw(&g.state);
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
	(void)snprintf(g.block, sizeof(g.block), "%%begin");
	count = 1 + pick(&g, 3);
	for (unsigned i = 0; i < count; i++) {
		generate_noise(&g);
		value = chance(&g, 20) ? generate_loop(&g) : generate_value(&g);
		if (g.has_debug_data)
			emit(&g,
			     "  #dbg_value(i32 %s, !3, !DIExpression(), !2)\n",
			     value.text);
		generate_store(&g, value);
	}
	emit(&g, "  ret void\n}\n");
	generate_metadata(&g);
	tkb_buf_add_byte(out, '\0');
}
