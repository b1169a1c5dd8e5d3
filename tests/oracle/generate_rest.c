/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_internal.h"

/* What stands around sums: plain arithmetic, calls, memory, noise, loops. */

static struct word load_number(struct generate *g)
{
	const struct stream stream = generate_stream(g);
	const struct word at = generate_address(g, &stream, stream.start);
	const struct word out = name(g, "%v");

	emit(g, "  %s = load i32, %s %s, align 1\n", out.text,
	     generate_space(&stream), at.text);
	return out;
}

static struct word number(struct generate *g)
{
	switch (pick(g, 4)) {
	case 0:
		return word("%%n");
	case 1:
		return word("%d", (int)pick(g, 40) - 8);
	default:
		return load_number(g);
	}
}

struct word generate_plain(struct generate *g)
{
	static const char *const operations[] = {
		"add",        "add nsw", "add nuw", "sub",  "sub nsw",
		"mul",        "mul nsw", "and",     "or",   "or disjoint",
		"xor",        "shl",     "shl nuw", "lshr", "ashr",
		"lshr exact", "add",     "mul"
	};
	struct word value = number(g);
	const unsigned count = 1 + pick(g, 8);

	for (unsigned i = 0; i < count; i++) {
		const char *const operation =
			operations[pick(g, TKB_COUNT_OF(operations))];
		const struct word out = name(g, "%v");
		const bool is_shift = strstr(operation, "sh") != NULL;

		emit(g, "  %s = %s i32 %s, %s\n", out.text, operation,
		     value.text,
		     is_shift ? word("%u", pick(g, 33)).text : number(g).text);
		value = out;
		if (chance(g, 20)) {
			const struct word is = name(g, "%c");
			const struct word chosen = name(g, "%v");

			emit(g, "  %s = icmp %s i32 %s, %s\n", is.text,
			     chance(g, 50) ? "slt" : "ult", value.text,
			     number(g).text);
			emit(g, "  %s = select i1 %s, i32 %s, i32 %s\n",
			     chosen.text, is.text, value.text, number(g).text);
			value = chosen;
		}
		if (chance(g, 8)) {
			const struct word frozen = name(g, "%v");

			emit(g, "  %s = freeze i32 %s\n", frozen.text,
			     value.text);
			value = frozen;
		}
	}
	return value;
}

struct word generate_quantized(struct generate *g)
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
	const struct word at = generate_address(g, &stream, stream.start);
	const struct word names[] = { name(g, "%q"), name(g, "%q"),
		                      name(g, "%q"), name(g, "%q"),
		                      name(g, "%q"), name(g, "%q"),
		                      name(g, "%q"), name(g, "%q"),
		                      name(g, "%q") };

	emit(g, "  %s = load i8, %s %s, align 1\n", names[0].text,
	     generate_space(&stream), at.text);
	emit(g, "  %s = %sitofp i8 %s to %s\n", names[1].text, kind,
	     names[0].text, type);
	emit(g, "  %s = fmul %s %s, %s\n", names[2].text, type, names[1].text,
	     scale);
	emit(g, "  %s = fdiv %s %s, %s\n", names[3].text, type, names[2].text,
	     chance(g, 90) ? scale : "3.0");
	emit(g, "  %s = call %s @llvm.%s.%s(%s %s)\n", names[4].text, type,
	     nearest[pick(g, TKB_COUNT_OF(nearest))], suffix, type,
	     names[3].text);
	emit(g, "  %s = call %s @llvm.maxnum.%s(%s %s, %s %s)\n", names[5].text,
	     type, suffix, type, names[4].text, type,
	     *kind == 'u'    ? "0.0"
	     : chance(g, 50) ? "-128.0"
	                     : "-127.0");
	emit(g, "  %s = call %s @llvm.minnum.%s(%s %s, %s %s)\n", names[6].text,
	     type, suffix, type, names[5].text, type,
	     *kind == 'u' ? "255.0" : "127.0");
	emit(g, "  %s = fpto%si %s %s to i8\n", names[7].text, kind, type,
	     names[6].text);
	emit(g, "  %s = %s i8 %s to i32\n", names[8].text,
	     *kind == 'u' ? "zext" : "sext", names[7].text);
	return names[8];
}

struct word generate_call(struct generate *g)
{
	const struct word argument = number(g);
	const struct word at = name(g, "%p");
	const struct word function = name(g, "%h");
	const struct word out = name(g, "%v");

	if (!g->has_table || chance(g, 40)) {
		emit(g, "  %s = call i32 @helper%u(i32 %s)\n", out.text,
		     pick(g, 3), argument.text);
		return out;
	}
	if (chance(g, 60)) {
		emit(g,
		     "  %s = getelementptr [3 x ptr], ptr @table, i64 0, "
		     "i64 %u\n",
		     at.text, pick(g, 3));
	} else {
		const struct word index = name(g, "%i");

		emit(g, "  %s = urem i64 %%m, 3\n", index.text);
		emit(g,
		     "  %s = getelementptr [3 x ptr], ptr @table, i64 0, "
		     "i64 %s\n",
		     at.text, index.text);
	}
	emit(g, "  %s = load ptr, ptr %s\n", function.text, at.text);
	emit(g, "  %s = call i32 %s(i32 %s)\n", out.text, function.text,
	     argument.text);
	return out;
}

/* Bytes that are copied, and read then. */
static struct word copied(struct generate *g)
{
	const struct stream stream = generate_word_stream(g);
	const struct word from = generate_address(g, &stream, stream.start);
	const bool is_global = strcmp(generate_space(&stream), "ptr") != 0;
	const struct word to = name(g, "%p");
	const struct word at = name(g, "%p");
	const struct word out = name(g, "%v");

	emit(g, "  %s = alloca [16 x i8], align 4\n", to.text);
	emit(g, "  call void @llvm.%s.i64(ptr %s, %s %s, i64 16, i1 false)\n",
	     is_global ? "memcpy.p0.p1" : "memmove.p0.p0", to.text,
	     generate_space(&stream), from.text);
	generate_between(g, &stream, stream.start);
	emit(g, "  %s = getelementptr i8, ptr %s, i64 %u\n", at.text, to.text,
	     pick(g, 13));
	emit(g, "  %s = load i32, ptr %s, align 1\n", out.text, at.text);
	return out;
}

/* What functions of the module read and write. */
static struct word by_others(struct generate *g)
{
	const struct stream stream = generate_stream(g);
	const struct word out = name(g, "%v");
	struct word at;

	if (chance(g, 50)) {
		emit(g, "  call void @set(i32 %s)\n", number(g).text);
		emit(g, "  %s = load i32, ptr addrspace(1) @setting\n",
		     out.text);
		return out;
	}
	if (strcmp(generate_space(&stream), "ptr") == 0)
		return number(g);
	at = generate_address(g, &stream, stream.start);
	emit(g, "  %s = call i32 @total(%s %s, i32 %%n)\n", out.text,
	     generate_space(&stream), at.text);
	return out;
}

/* Globals that are written, and such that are not; memory of the thread. */
struct word generate_memory(struct generate *g)
{
	const struct word value = number(g);
	const struct word at = name(g, "%p");
	const struct word out = name(g, "%v");

	switch (pick(g, 8)) {
	case 5:
		return copied(g);
	case 6:
	case 7:
		return by_others(g);
	case 0:
		emit(g, "  store i32 %s, ptr addrspace(1) @state\n",
		     value.text);
		emit(g, "  %s = load i32, ptr addrspace(1) @state\n", out.text);
		return out;
	case 1:
		emit(g, "  %s = load i32, ptr addrspace(1) @state\n", out.text);
		emit(g, "  store i32 %s, ptr addrspace(1) @state\n",
		     value.text);
		return out;
	case 2:
		emit(g, "  %s = load i32, ptr addrspace(1) @setting\n",
		     out.text);
		return out;
	case 3:
		emit(g,
		     "  %s = getelementptr i32, ptr addrspace(3) @tile, "
		     "i32 %%n\n",
		     at.text);
		emit(g, "  store i32 %s, ptr addrspace(3) %s\n", value.text,
		     at.text);
		generate_noise(g);
		emit(g, "  %s = load i32, ptr addrspace(3) %s\n", out.text,
		     at.text);
		return out;
	default:
		emit(g, "  %s = alloca i32, align 4\n", at.text);
		emit(g, "  store i32 %s, ptr %s\n", value.text, at.text);
		generate_noise(g);
		emit(g, "  %s = load i32, ptr %s\n", out.text, at.text);
		return out;
	}
}

/* Values that may be anything. */
struct word generate_open(struct generate *g)
{
	const struct word first = name(g, "%v");
	const struct word out = name(g, "%v");

	if (g->options->for_gpu)
		return generate_plain(g);
	switch (pick(g, 3)) {
	case 0:
		emit(g, "  %s = freeze i32 %s\n", first.text,
		     chance(g, 50) ? "undef" : "poison");
		emit(g, "  %s = and i32 %s, 0\n", out.text, first.text);
		return out;
	case 1:
		emit(g, "  %s = add nsw i32 %s, 2147483647\n", first.text,
		     number(g).text);
		emit(g, "  %s = freeze i32 %s\n", out.text, first.text);
		return out;
	default:
		emit(g, "  %s = add i32 %s, undef\n", first.text,
		     number(g).text);
		emit(g, "  %s = mul i32 %s, %s\n", out.text, first.text,
		     number(g).text);
		return out;
	}
}

/* A block that is not always gone through. */
static void emit_branch(struct generate *g)
{
	const struct word is = name(g, "%c");
	const struct word then = name(g, "b");
	const struct word next = name(g, "b");

	emit(g, "  %s = icmp ugt i32 %%n, %u\n", is.text, pick(g, 7));
	emit(g, "  br i1 %s, label %%%s, label %%%s%s\n", is.text, then.text,
	     next.text, chance(g, 30) ? ", !prof !0" : "");
	generate_label(g, then);
	generate_store(g, word("%u", pick(g, 1000)));
	emit(g, "  br label %%%s\n", next.text);
	generate_label(g, next);
}

void generate_strong(struct generate *g)
{
	const unsigned to = pick(g, 2) + 2;
	const struct word at = name(g, "%p");
	const struct word out = name(g, "%v");
	const char *const type =
		g->spaces[to] == 0 ? "ptr" : "ptr addrspace(1)";
	const bool is_aligned = g->aligns[to] >= 4;

	emit(g, "  %s = getelementptr i8, %s, i64 %u\n", at.text,
	     generate_pointer(g, to).text, 4 * pick(g, 16));
	switch (is_aligned ? pick(g, 4) : 0) {
	case 0:
		emit(g, "  %s = load volatile i8, %s %s, align 1\n", out.text,
		     type, at.text);
		break;
	case 1:
		emit(g, "  %s = atomicrmw add %s %s, i32 %u %s, align 4\n",
		     out.text, type, at.text, 1 + pick(g, 9),
		     chance(g, 50) ? "monotonic" : "acq_rel");
		break;
	case 2:
		emit(g, "  store atomic i32 %%n, %s %s %s, align 4\n", type,
		     at.text, chance(g, 50) ? "monotonic" : "release");
		break;
	default:
		emit(g, "  %s = load atomic i32, %s %s %s, align 4\n", out.text,
		     type, at.text, chance(g, 50) ? "monotonic" : "acquire");
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
		generate_store(g, word("%u", pick(g, 100000)));
		break;
	}
}

/* The value of a loop's body, whose text goes to `code`, with a zero behind it. */
static struct word generate_body(struct generate *g, struct word counter,
                                 struct tkb_buf *code)
{
	struct tkb_buf *const out = g->out;
	struct word value;

	g->out = code;
	g->counter = counter;
	value = generate_value(g);
	g->counter = word("%s", "");
	g->out = out;
	tkb_buf_add_byte(code, '\0');
	return value;
}

/* while (i != end) ..., with what is summed up. */
struct word generate_loop(struct generate *g)
{
	static const char *const goes_on[] = { "ult", "slt", "ne", "ule" };
	const char *const test = goes_on[pick(g, 4)];
	const bool is_ne = *test == 'n';
	const unsigned step = 1 + pick(g, 2);
	const unsigned first = pick(g, 2);
	const unsigned end =
		first + step * (1 + pick(g, 3)) + (is_ne ? 0 : pick(g, step));
	const struct word loop = name(g, "b");
	const struct word over = name(g, "b");
	const struct word i = name(g, "%l");
	const struct word total = name(g, "%l");
	const struct word next = name(g, "%l");
	const struct word sum = name(g, "%l");
	const struct word is = name(g, "%c");
	TKB_AUTO(tkb_buf_release) struct tkb_buf body = TKB_BUF_INIT(1 << 20);
	char before[TEXT_SIZE + 2];
	struct word value;
	size_t at;

	memcpy(before, g->block, sizeof(before));
	emit(g, "  br label %%%s\n", loop.text);
	generate_label(g, loop);
	value = generate_body(g, i, &body);
	/* Where phis need the name of the last block, the body has been written. */
	emit(g, "  %s = phi i64 [ %u, %s ], [ %s, %s ]\n", i.text, first,
	     before, next.text, g->block);
	emit(g, "  %s = phi i32 [ 0, %s ], [ %s, %s ]\n", total.text, before,
	     sum.text, g->block);
	tkb_buf_add_text(g->out, (const char *)body.data);
	emit(g, "  %s = add i32 %s, %s\n", sum.text, total.text, value.text);
	emit(g, "  %s = add%s i64 %s, %u\n", next.text,
	     chance(g, 50) ? " nuw nsw" : "", i.text, step);
	at = chance(g, 70);
	emit(g, "  %s = icmp %s i64 %s, %u\n", is.text, test,
	     at != 0 ? next.text : i.text, end);
	emit(g, "  br i1 %s, label %%%s, label %%%s\n", is.text, loop.text,
	     over.text);
	generate_label(g, over);
	return sum;
}
