/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_internal.h"

/*
 * A product of a matrix, or a convolution, as one writes it: loops in each other
 * over rows and channels, whose counts are constants or come from an argument, and
 * weights that a thread reads by its row or its column.
 */

struct convolution {
	const char *row; /* of this thread */
	const char *channels;
	const char *kind; /* of extension */
	bool is_depthwise;
};

static const char *binary(struct generate *g, const char *operation,
                          const char *a, const char *b)
{

	return give(g, "%i", "%s i32 %s, %s", operation, a, b);
}

/* The byte at base[index], as a number. */
static const char *load_byte(struct generate *g, const char *base,
                             const char *index, const char *kind)
{
	const char *const space = strstr(base, "addrspace(1)") != NULL
	                                  ? "ptr addrspace(1)"
	                                  : "ptr";
	const char *const wide = give(g, "%i", "sext i32 %s to i64", index);
	const char *const at = give(
		g, "%p", "getelementptr inbounds i8, %s, i64 %s", base, wide);
	const char *const byte =
		give(g, "%b", "load i8, %s %s, align 1", space, at);

	return give(g, "%f", "%s i8 %s to i32", kind, byte);
}

static const char *weights_base(struct generate *g)
{
	return chance(g, 50) ? word(g, "ptr addrspace(1) @w%u",
	                            g->used_weights++ % WEIGHT_COUNT)
	                     : generate_pointer(g, pick(g, GENERATE_POINTERS));
}

/* A step of the inner loop: what is added to the sum. */
static const char *emit_product(struct generate *g,
                                const struct convolution *it,
                                const char *weights, const char *inputs,
                                const char *dy, const char *c)
{
	const char *const at = binary(g, "add nsw", it->row, dy);
	const char *const line = binary(g, "mul nsw", at, it->channels);
	const char *const filter =
		it->is_depthwise
			? binary(g, "shl nsw", binary(g, "add nsw", dy, c), "3")
			: binary(g, "mul nsw", dy, it->channels);
	const char *const x =
		load_byte(g, inputs, binary(g, "add nsw", line, c), it->kind);
	const char *const w = load_byte(
		g, weights,
		binary(g, "add nsw", filter, it->is_depthwise ? it->row : c),
		it->kind);

	return binary(g, chance(g, 50) ? "mul nsw" : "mul", w, x);
}

static const char *find_row(struct generate *g)
{
	const char *const thread =
		give(g, "%i", "call i32 @llvm.nvvm.read.ptx.sreg.tid.x()");

	if (chance(g, 50))
		return thread;
	const char *const block = give(g, "%i", "and i32 %%n, 1");
	return binary(g, "add nsw", binary(g, "shl nsw", block, "3"), thread);
}

static const char *find_channels(struct generate *g)
{
	switch (pick(g, 3)) {
	case 0:
		return "4";
	case 1:
		return "8";
	default:
		return binary(g, "add nuw nsw", "%n", "1");
	}
}

/* Count `i` on, and go to the loop again while it is below `count`. */
static void emit_end(struct generate *g, const char *i, const char *next,
                     const char *count, const char *loop, const char *over)
{

	emit(g, "  %s = add nuw nsw i32 %s, 1\n", next, i);
	const char *const is =
		give(g, "%c", "icmp slt i32 %s, %s", next, count);
	emit(g, "  br i1 %s, label %%%s, label %%%s\n", is, loop, over);
}

const char *generate_convolution(struct generate *g)
{
	const struct convolution it = {
		.row = find_row(g),
		.channels = find_channels(g),
		.kind = chance(g, 80) ? "sext" : "zext",
		.is_depthwise = chance(g, 30),
	};
	const char *const weights = weights_base(g);
	const char *const inputs =
		generate_pointer(g, pick(g, GENERATE_POINTERS));
	const char *const rows = word(g, "%u", 1 + pick(g, 3));
	const char *const line = name(g, "b");
	const char *const loop = name(g, "b");
	const char *const last = name(g, "b");
	const char *const over = name(g, "b");
	const char *const next_dy = name(g, "%l");
	const char *const next_c = name(g, "%l");
	const char *const new_sum = name(g, "%l");
	const char *product;

	emit(g, "  br label %%%s.head\n%s.head:\n", line, line);
	emit(g, "  br label %%%s\n", line);
	generate_label(g, line);
	const char *const dy =
		give(g, "%l", "phi i32 [ 0, %%%s.head ], [ %s, %%%s ]", line,
	             next_dy, last);
	const char *const before =
		give(g, "%l", "phi i32 [ 0, %%%s.head ], [ %s, %%%s ]", line,
	             new_sum, last);
	emit(g, "  br label %%%s\n", loop);
	generate_label(g, loop);
	const char *const c = give(g, "%l", "phi i32 [ 0, %%%s ], [ %s, %%%s ]",
	                           line, next_c, loop);
	const char *const sum =
		give(g, "%l", "phi i32 [ %s, %%%s ], [ %s, %%%s ]", before,
	             line, new_sum, loop);
	product = emit_product(g, &it, weights, inputs, dy, c);
	emit(g, "  %s = add i32 %s, %s\n", new_sum, sum, product);
	emit_end(g, c, next_c, it.channels, loop, last);
	generate_label(g, last);
	emit_end(g, dy, next_dy, rows, line, over);
	generate_label(g, over);
	return new_sum;
}
