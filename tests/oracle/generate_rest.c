/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_internal.h"

/* What stands around sums: plain arithmetic, calls, memory, noise, loops. */

static const char *load_number(struct generate *g)
{
	const struct stream stream = generate_stream(g);
	const char *const at = generate_address(g, &stream, stream.start);

	return give(g, "%v", "load i32, %s %s, align 1",
	            generate_space(&stream), at);
}

static const char *number(struct generate *g)
{
	switch (pick(g, 4)) {
	case 0:
		return "%n";
	case 1:
		return word(g, "%d", (int)pick(g, 40) - 8);
	default:
		return load_number(g);
	}
}

const char *generate_plain(struct generate *g)
{
	static const char *const operations[] = {
		"add",        "add nsw", "add nuw", "sub",  "sub nsw",
		"mul",        "mul nsw", "and",     "or",   "or disjoint",
		"xor",        "shl",     "shl nuw", "lshr", "ashr",
		"lshr exact", "add",     "mul"
	};
	const char *value = number(g);
	const unsigned count = 1 + pick(g, 8);

	for (unsigned i = 0; i < count; i++) {
		const char *const operation =
			operations[pick(g, TKB_COUNT_OF(operations))];
		const bool is_shift = strstr(operation, "sh") != NULL;

		const char *const out =
			give(g, "%v", "%s i32 %s, %s", operation, value,
		             is_shift ? word(g, "%u", pick(g, 33)) : number(g));
		value = out;
		if (chance(g, 20)) {

			const char *const is =
				give(g, "%c", "icmp %s i32 %s, %s",
			             chance(g, 50) ? "slt" : "ult", value,
			             number(g));
			const char *const chosen =
				give(g, "%v", "select i1 %s, i32 %s, i32 %s",
			             is, value, number(g));
			value = chosen;
		}
		if (chance(g, 8)) {

			const char *const frozen =
				give(g, "%v", "freeze i32 %s", value);
			value = frozen;
		}
	}
	return value;
}

const char *generate_quantized(struct generate *g)
{
	/* A half has room for the last two only. */
	static const char *const scales[] = { "0x3FB99999A0000000",
		                              "0x3F50624DE0000000", "0.5",
		                              "3.0" };
	static const char *const nearest[] = { "rint", "nearbyint", "roundeven",
		                               "round" };
	static const struct {
		const char *name;
		const char *suffix;
	} types[] = { { "float", "f32" },
		      { "double", "f64" },
		      { "half", "f16" } };
	/* The rules are for the first. */
	const unsigned which =
		g->options->for_gpu || chance(g, 75) ? 0 : 1 + pick(g, 2);
	const char *const type = types[which].name;
	const char *const suffix = types[which].suffix;
	const char *const kind = chance(g, 50) ? "s" : "u";
	const char *const scale =
		scales[which == 2 ? 2 + pick(g, 2)
	                          : pick(g, TKB_COUNT_OF(scales))];
	const struct stream stream = generate_stream(g);
	const char *const at = generate_address(g, &stream, stream.start);
	const char *q = give(g, "%q", "load i8, %s %s, align 1",
	                     generate_space(&stream), at);

	q = give(g, "%q", "%sitofp i8 %s to %s", kind, q, type);
	q = give(g, "%q", "fmul %s %s, %s", type, q, scale);
	q = give(g, "%q", "fdiv %s %s, %s", type, q,
	         chance(g, 90) ? scale : "3.0");
	q = give(g, "%q", "call %s @llvm.%s.%s(%s %s)", type,
	         nearest[pick(g, TKB_COUNT_OF(nearest))], suffix, type, q);
	q = give(g, "%q", "call %s @llvm.maxnum.%s(%s %s, %s %s)", type, suffix,
	         type, q, type,
	         *kind == 'u'    ? "0.0"
	         : chance(g, 50) ? "-128.0"
	                         : "-127.0");
	q = give(g, "%q", "call %s @llvm.minnum.%s(%s %s, %s %s)", type, suffix,
	         type, q, type, *kind == 'u' ? "255.0" : "127.0");
	q = give(g, "%q", "fpto%si %s %s to i8", kind, type, q);
	return give(g, "%q", "%s i8 %s to i32", *kind == 'u' ? "zext" : "sext",
	            q);
}

const char *generate_call(struct generate *g)
{
	const char *const argument = number(g);
	const char *at;

	if (!g->has_table || chance(g, 40))
		return give(g, "%v", "call i32 @helper%u(i32 %s)", pick(g, 3),
		            argument);
	at = chance(g, 60) ? word(g, "%u", pick(g, 3))
	                   : give(g, "%i", "urem i64 %%m, 3");
	at = give(g, "%p", "getelementptr [3 x ptr], ptr @table, i64 0, i64 %s",
	          at);
	at = give(g, "%h", "load ptr, ptr %s", at);
	return give(g, "%v", "call i32 %s(i32 %s)", at, argument);
}

/* Bytes that are copied, and read then. */
static const char *copied(struct generate *g)
{
	const struct stream stream = generate_word_stream(g);
	const char *const from = generate_address(g, &stream, stream.start);
	const bool is_global = strcmp(generate_space(&stream), "ptr") != 0;
	const char *const to = give(g, "%p", "alloca [16 x i8], align 4");

	emit(g, "  call void @llvm.%s.i64(ptr %s, %s %s, i64 16, i1 false)\n",
	     is_global ? "memcpy.p0.p1" : "memmove.p0.p0", to,
	     generate_space(&stream), from);
	generate_between(g, &stream, stream.start);
	const char *const at = give(g, "%p", "getelementptr i8, ptr %s, i64 %u",
	                            to, pick(g, 13));
	return give(g, "%v", "load i32, ptr %s, align 1", at);
}

/* What functions of the module read and write. */
static const char *by_others(struct generate *g)
{
	const struct stream stream = generate_stream(g);
	const char *at;

	if (chance(g, 50)) {
		emit(g, "  call void @set(i32 %s)\n", number(g));
		return give(g, "%v", "load i32, ptr addrspace(1) @setting");
	}
	if (strcmp(generate_space(&stream), "ptr") == 0)
		return number(g);
	at = generate_address(g, &stream, stream.start);
	return give(g, "%v", "call i32 @total(%s %s, i32 %%n)",
	            generate_space(&stream), at);
}

/* Globals that are written, and such that are not; memory of the thread. */
const char *generate_memory(struct generate *g)
{
	const char *const value = number(g);
	const char *at;
	const char *out;

	switch (pick(g, 8)) {
	case 5:
		return copied(g);
	case 6:
	case 7:
		return by_others(g);
	case 0:
		emit(g, "  store i32 %s, ptr addrspace(1) @state\n", value);
		return give(g, "%v", "load i32, ptr addrspace(1) @state");
	case 1:
		out = give(g, "%v", "load i32, ptr addrspace(1) @state");
		emit(g, "  store i32 %s, ptr addrspace(1) @state\n", value);
		return out;
	case 2:
		return give(g, "%v", "load i32, ptr addrspace(1) @setting");
	case 3:
		at = give(g, "%p",
		          "getelementptr i32, ptr addrspace(3) @tile, i32 %%n");
		emit(g, "  store i32 %s, ptr addrspace(3) %s\n", value, at);
		generate_noise(g);
		return give(g, "%v", "load i32, ptr addrspace(3) %s", at);
	default:
		at = give(g, "%p", "alloca i32, align 4");
		emit(g, "  store i32 %s, ptr %s\n", value, at);
		generate_noise(g);
		return give(g, "%v", "load i32, ptr %s", at);
	}
}

/* Values that may be anything. */
const char *generate_open(struct generate *g)
{
	const char *first;

	if (g->options->for_gpu)
		return generate_plain(g);
	switch (pick(g, 3)) {
	case 0:
		first = give(g, "%v", "freeze i32 %s",
		             chance(g, 50) ? "undef" : "poison");
		return give(g, "%v", "and i32 %s, 0", first);
	case 1:
		first = give(g, "%v", "add nsw i32 %s, 2147483647", number(g));
		return give(g, "%v", "freeze i32 %s", first);
	default:
		first = give(g, "%v", "add i32 %s, undef", number(g));
		return give(g, "%v", "mul i32 %s, %s", first, number(g));
	}
}

/* A block that is not always gone through. */
static void emit_branch(struct generate *g)
{
	const char *const then = name(g, "b");
	const char *const next = name(g, "b");
	const char *const is =
		give(g, "%c", "icmp ugt i32 %%n, %u", pick(g, 7));

	emit(g, "  br i1 %s, label %%%s, label %%%s%s\n", is, then, next,
	     chance(g, 30) ? ", !prof !0" : "");
	generate_label(g, then);
	generate_store(g, word(g, "%u", pick(g, 1000)));
	emit(g, "  br label %%%s\n", next);
	generate_label(g, next);
}

void generate_strong(struct generate *g)
{
	const unsigned to = pick(g, 2) + 2;
	const char *const type =
		g->spaces[to] == 0 ? "ptr" : "ptr addrspace(1)";
	const bool is_aligned = g->aligns[to] >= 4;
	const char *const at = give(g, "%p", "getelementptr i8, %s, i64 %u",
	                            generate_pointer(g, to), 4 * pick(g, 16));

	switch (is_aligned ? pick(g, 4) : 0) {
	case 0:
		(void)give(g, "%v", "load volatile i8, %s %s, align 1", type,
		           at);
		break;
	case 1:
		(void)give(g, "%v", "atomicrmw add %s %s, i32 %u %s, align 4",
		           type, at, 1 + pick(g, 9),
		           chance(g, 50) ? "monotonic" : "acq_rel");
		break;
	case 2:
		emit(g, "  store atomic i32 %%n, %s %s %s, align 4\n", type, at,
		     chance(g, 50) ? "monotonic" : "release");
		break;
	default:
		(void)give(g, "%v", "load atomic i32, %s %s %s, align 4", type,
		           at, chance(g, 50) ? "monotonic" : "acquire");
		break;
	}
}

void generate_noise(struct generate *g)
{
	if (!chance(g, g->noise))
		return;
	switch (pick(g, 9)) {
	case 0:
		generate_strong(g);
		break;
	case 1:
		emit(g, "  fence acq_rel\n");
		break;
	case 2:
		emit(g, "  call void "
		        "@llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n");
		break;
	case 3:
		if (!g->options->for_gpu)
			emit(g, "  call void @outside(i32 %%n)\n");
		break;
	case 4:
		generate_block(g);
		break;
	case 5:
		emit_branch(g);
		break;
	default:
		generate_store(g, word(g, "%u", pick(g, 100000)));
		break;
	}
}

/* The value of a loop's body, whose text goes to `code`, with a zero behind it. */
static const char *generate_body(struct generate *g, const char *counter,
                                 struct tkb_buf *code)
{
	struct tkb_buf *const out = g->out;
	const char *value;

	g->out = code;
	g->counter = counter;
	value = generate_value(g);
	g->counter = NULL;
	g->out = out;
	tkb_buf_add_byte(code, '\0');
	return value;
}

/* while (i != end) ..., with what is summed up. */
const char *generate_loop(struct generate *g)
{
	static const char *const goes_on[] = { "ult", "slt", "ne", "ule" };
	const char *const test = goes_on[pick(g, 4)];
	const bool is_ne = *test == 'n';
	const unsigned step = 1 + pick(g, 2);
	const unsigned first = pick(g, 2);
	const unsigned end =
		first + step * (1 + pick(g, 3)) + (is_ne ? 0 : pick(g, step));
	const char *const loop = name(g, "b");
	const char *const over = name(g, "b");
	const char *const i = name(g, "%l");
	const char *const next = name(g, "%l");
	const char *const sum = name(g, "%l");
	TKB_AUTO(tkb_buf_release) struct tkb_buf body = TKB_BUF_INIT(1 << 20);
	const char *const before = g->block;
	const char *value;
	size_t at;

	emit(g, "  br label %%%s\n", loop);
	generate_label(g, loop);
	value = generate_body(g, i, &body);
	/* Where phis need the name of the last block, the body has been written. */
	emit(g, "  %s = phi i64 [ %u, %s ], [ %s, %s ]\n", i, first, before,
	     next, g->block);
	const char *const total = give(g, "%l", "phi i32 [ 0, %s ], [ %s, %s ]",
	                               before, sum, g->block);
	tkb_buf_add_text(g->out, (const char *)body.data);
	emit(g, "  %s = add i32 %s, %s\n", sum, total, value);
	emit(g, "  %s = add%s i64 %s, %u\n", next,
	     chance(g, 50) ? " nuw nsw" : "", i, step);
	at = chance(g, 70);
	const char *const is = give(g, "%c", "icmp %s i64 %s, %u", test,
	                            at != 0 ? next : i, end);
	emit(g, "  br i1 %s, label %%%s, label %%%s\n", is, loop, over);
	generate_label(g, over);
	return sum;
}
