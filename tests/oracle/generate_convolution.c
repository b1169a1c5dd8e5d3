/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_internal.h"

/*
 * A product of a matrix, or a convolution, as one writes it: loops in each other
 * over rows and channels, whose counts are constants or come from an argument, and
 * weights that a thread reads by its row or its column.
 */

struct convolution {
	struct word row; /* of this thread */
	struct word channels;
	const char *kind; /* of extension */
	bool is_depthwise;
};

static struct word binary(struct generate *g, const char *operation,
                          struct word a, struct word b)
{
	const struct word out = name(g, "%i");

	emit(g, "  %s = %s i32 %s, %s\n", out.text, operation, a.text, b.text);
	return out;
}

/* The byte at base[index], as a number. */
static struct word load_byte(struct generate *g, const char *base,
                             struct word index, const char *kind)
{
	const struct word wide = name(g, "%i");
	const struct word at = name(g, "%p");
	const struct word byte = name(g, "%b");
	const struct word out = name(g, "%f");
	const char *const space = strstr(base, "addrspace(1)") != NULL
	                                  ? "ptr addrspace(1)"
	                                  : "ptr";

	emit(g, "  %s = sext i32 %s to i64\n", wide.text, index.text);
	emit(g, "  %s = getelementptr inbounds i8, %s, i64 %s\n", at.text, base,
	     wide.text);
	emit(g, "  %s = load i8, %s %s, align 1\n", byte.text, space, at.text);
	emit(g, "  %s = %s i8 %s to i32\n", out.text, kind, byte.text);
	return out;
}

static struct word weights_base(struct generate *g)
{
	return chance(g, 50) ? word("ptr addrspace(1) @w%u",
	                            g->used_weights++ % WEIGHT_COUNT)
	                     : generate_pointer(g, pick(g, GENERATE_POINTERS));
}

/* A step of the inner loop: what is added to the sum. */
static struct word emit_product(struct generate *g,
                                const struct convolution *it,
                                const char *weights, const char *inputs,
                                struct word dy, struct word c)
{
	const struct word at = binary(g, "add nsw", it->row, dy);
	const struct word line = binary(g, "mul nsw", at, it->channels);
	const struct word filter =
		it->is_depthwise
			? binary(g, "shl nsw", binary(g, "add nsw", dy, c),
	                         word("%u", 3U))
			: binary(g, "mul nsw", dy, it->channels);
	const struct word x =
		load_byte(g, inputs, binary(g, "add nsw", line, c), it->kind);
	const struct word w = load_byte(
		g, weights,
		binary(g, "add nsw", filter, it->is_depthwise ? it->row : c),
		it->kind);

	return binary(g, chance(g, 50) ? "mul nsw" : "mul", w, x);
}

static struct word find_row(struct generate *g)
{
	const struct word thread = name(g, "%i");
	const struct word block = name(g, "%i");

	emit(g, "  %s = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n",
	     thread.text);
	if (chance(g, 50))
		return thread;
	emit(g, "  %s = and i32 %%n, 1\n", block.text);
	return binary(g, "add nsw", binary(g, "shl nsw", block, word("3")),
	              thread);
}

static struct word find_channels(struct generate *g)
{
	switch (pick(g, 3)) {
	case 0:
		return word("4");
	case 1:
		return word("8");
	default:
		return binary(g, "add nuw nsw", word("%%n"), word("1"));
	}
}

/* Count `i` on, and go to the loop again while it is below `count`. */
static void emit_end(struct generate *g, struct word i, struct word next,
                     struct word count, const char *loop, const char *over)
{
	const struct word is = name(g, "%c");

	emit(g, "  %s = add nuw nsw i32 %s, 1\n", next.text, i.text);
	emit(g, "  %s = icmp slt i32 %s, %s\n", is.text, next.text, count.text);
	emit(g, "  br i1 %s, label %%%s, label %%%s\n", is.text, loop, over);
}

struct word generate_convolution(struct generate *g)
{
	const struct convolution it = {
		.row = find_row(g),
		.channels = find_channels(g),
		.kind = chance(g, 80) ? "sext" : "zext",
		.is_depthwise = chance(g, 30),
	};
	const struct word weights = weights_base(g);
	const struct word inputs =
		generate_pointer(g, pick(g, GENERATE_POINTERS));
	const struct word rows = word("%u", 1 + pick(g, 3));
	const struct word line = name(g, "b");
	const struct word loop = name(g, "b");
	const struct word last = name(g, "b");
	const struct word over = name(g, "b");
	const struct word dy = name(g, "%l");
	const struct word c = name(g, "%l");
	const struct word before = name(g, "%l");
	const struct word sum = name(g, "%l");
	const struct word next_dy = name(g, "%l");
	const struct word next_c = name(g, "%l");
	const struct word new_sum = name(g, "%l");
	struct word product;

	emit(g, "  br label %%%s.head\n%s.head:\n", line.text, line.text);
	emit(g, "  br label %%%s\n", line.text);
	generate_label(g, line);
	emit(g, "  %s = phi i32 [ 0, %%%s.head ], [ %s, %%%s ]\n", dy.text,
	     line.text, next_dy.text, last.text);
	emit(g, "  %s = phi i32 [ 0, %%%s.head ], [ %s, %%%s ]\n", before.text,
	     line.text, new_sum.text, last.text);
	emit(g, "  br label %%%s\n", loop.text);
	generate_label(g, loop);
	emit(g, "  %s = phi i32 [ 0, %%%s ], [ %s, %%%s ]\n", c.text, line.text,
	     next_c.text, loop.text);
	emit(g, "  %s = phi i32 [ %s, %%%s ], [ %s, %%%s ]\n", sum.text,
	     before.text, line.text, new_sum.text, loop.text);
	product = emit_product(g, &it, weights.text, inputs.text, dy, c);
	emit(g, "  %s = add i32 %s, %s\n", new_sum.text, sum.text,
	     product.text);
	emit_end(g, c, next_c, it.channels, loop.text, last.text);
	generate_label(g, last);
	emit_end(g, dy, next_dy, rows, line.text, over.text);
	generate_label(g, over);
	return new_sum;
}
