/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_inside.h"

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
	static const char *const scales[] = { "0x3FB99999A0000000", "0.5",
		                              "3.0", "0x3F50624DE0000000" };
	static const char *const nearest[] = { "rint", "nearbyint", "roundeven",
		                               "round" };
	const char *const kind = chance(g, 50) ? "s" : "u";
	const char *const scale = scales[pick(g, TKB_COUNT_OF(scales))];
	const struct stream stream = generate_stream(g);
	const struct word at = generate_address(g, &stream, stream.start);
	const struct word names[] = { name(g, "%q"), name(g, "%q"),
		                      name(g, "%q"), name(g, "%q"),
		                      name(g, "%q"), name(g, "%q"),
		                      name(g, "%q"), name(g, "%q"),
		                      name(g, "%q") };

	emit(g, "  %s = load i8, %s %s, align 1\n", names[0].text,
	     generate_space(&stream), at.text);
	emit(g, "  %s = %sitofp i8 %s to float\n", names[1].text, kind,
	     names[0].text);
	emit(g, "  %s = fmul float %s, %s\n", names[2].text, names[1].text,
	     scale);
	emit(g, "  %s = fdiv float %s, %s\n", names[3].text, names[2].text,
	     chance(g, 90) ? scale : "3.0");
	emit(g, "  %s = call float @llvm.%s.f32(float %s)\n", names[4].text,
	     nearest[pick(g, TKB_COUNT_OF(nearest))], names[3].text);
	emit(g, "  %s = call float @llvm.maxnum.f32(float %s, float %s)\n",
	     names[5].text, names[4].text,
	     *kind == 'u'    ? "0.0"
	     : chance(g, 50) ? "-128.0"
	                     : "-127.0");
	emit(g, "  %s = call float @llvm.minnum.f32(float %s, float %s)\n",
	     names[6].text, names[5].text, *kind == 'u' ? "255.0" : "127.0");
	emit(g, "  %s = fpto%si float %s to i8\n", names[7].text, kind,
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

/* Globals that are written, and such that are not; memory of the thread. */
struct word generate_memory(struct generate *g)
{
	const struct word value = number(g);
	const struct word at = name(g, "%p");
	const struct word out = name(g, "%v");

	switch (pick(g, 5)) {
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

static void emit_strong(struct generate *g)
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
		emit_strong(g);
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
	char before[TEXT_SIZE + 2];
	struct word value;
	size_t at;

	memcpy(before, g->block, sizeof(before));
	emit(g, "  br label %%%s\n", loop.text);
	generate_label(g, loop);
	/* The last block is not known yet: room is left for its name. */
	emit(g, "  %s = phi i64 [ %u, %s ], [ %s, %%%s.last ]\n", i.text, first,
	     before, next.text, loop.text);
	emit(g, "  %s = phi i32 [ 0, %s ], [ %s, %%%s.last ]\n", total.text,
	     before, sum.text, loop.text);
	g->counter = i;
	value = generate_value(g);
	g->counter = word("%s", "");
	emit(g, "  br label %%%s.last\n%s.last:\n", loop.text, loop.text);
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

static void emit_bytes(struct generate *g, unsigned which)
{
	static const char *const kinds[] = { "constant", "global" };
	const unsigned size = 256;

	emit(g, "@w%u = %saddrspace(1) %s [%u x i8] c\"", which,
	     chance(g, 85) ? "internal " : "", kinds[pick(g, 2)], size);
	for (unsigned i = 0; i < size; i++)
		emit(g, "\\%02X", pick(g, 256));
	emit(g, "\", align %u\n", 1U << pick(g, 5));
}

void generate_globals(struct generate *g)
{
	static const unsigned sizes[] = { 4, 8, 16, 32 };

	for (unsigned i = 0; i < WEIGHT_COUNT; i++)
		emit_bytes(g, i);
	emit(g,
	     "@state = internal addrspace(1) global i32 7\n"
	     "@setting = internal addrspace(1) global i32 %u\n"
	     "@tile = internal addrspace(3) global [16 x i32] undef\n"
	     "@table = internal %s [3 x ptr] [ptr @helper0, ptr @helper1, "
	     "ptr @helper2]\n",
	     pick(g, 100), chance(g, 50) ? "constant" : "global");
	emit(g, "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
	        "declare void "
	        "@llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
	        "declare float @llvm.rint.f32(float)\n"
	        "declare float @llvm.nearbyint.f32(float)\n"
	        "declare float @llvm.roundeven.f32(float)\n"
	        "declare float @llvm.round.f32(float)\n"
	        "declare float @llvm.minnum.f32(float, float)\n"
	        "declare float @llvm.maxnum.f32(float, float)\n");
	for (size_t i = 0; i < TKB_COUNT_OF(sizes); i++)
		emit(g,
		     "declare i32 @llvm.vector.reduce.add.v%ui32(<%u x "
		     "i32>)\n",
		     sizes[i], sizes[i]);
	if (!g->options->for_gpu)
		emit(g, "declare void @outside(i32)\n");
	emit(g,
	     "define internal i32 @helper0(i32 %%x) {\n"
	     "  %%y = mul i32 %%x, 3\n  ret i32 %%y\n}\n"
	     "define internal i32 @helper1(i32 %%x) {\n"
	     "  %%y = xor i32 %%x, 85\n  ret i32 %%y\n}\n"
	     "define i32 @helper2(i32 %%x) %s {\n"
	     "  %%c = icmp slt i32 %%x, 0\n"
	     "  %%y = select i1 %%c, i32 0, i32 %%x\n  ret i32 %%y\n}\n"
	     "!0 = !{!\"branch_weights\", i32 1, i32 9}\n",
	     chance(g, 30) ? "noinline" : "");
}
