/* SPDX-License-Identifier: Apache-2.0 */
#include "generate_internal.h"

/* Sums of products, byte by byte, by words and by vectors. */

enum {
	CACHE_SIZE = 64,
	TERM_LIMIT = 20
};

/* Factors that were made already, and may be used again. */
struct cache {
	struct {
		const struct stream *stream;
		int offset;
		const char *kind;
		struct word value;
	} items[CACHE_SIZE];
	unsigned count;
};

/* How a byte is read: mostly in no special way. */
static const char *byte_kind(struct generate *g)
{
	return chance(g, g->noise / 4 + g->between / 4) ? " volatile" : "";
}

/*
 * Are the bytes of a variable that others cannot know? What the module never writes of
 * it is no variable to O3, and an atomic read of that nothing to be seen.
 */
static bool is_own_variable(const struct generate *g,
                            const struct stream *stream)
{
	const char *const weight = strstr(stream->base, "@w");

	return weight != NULL && g->is_variable[weight[2] - '0'];
}

static struct word generate_byte(struct generate *g,
                                 const struct stream *stream, int offset)
{
	const struct word at = generate_address(g, stream, offset);
	const struct word out = name(g, "%b");
	const bool is_atomic = !g->options->for_gpu &&
	                       !is_own_variable(g, stream) &&
	                       chance(g, g->between / 8);

	emit(g, "  %s = load%s%s i8, %s %s%s, align 1\n", out.text,
	     is_atomic ? " atomic" : "", byte_kind(g), generate_space(stream),
	     at.text, is_atomic ? " monotonic" : "");
	generate_noise(g);
	generate_between(g, stream, offset);
	return out;
}

static struct word factor(struct generate *g, struct cache *cache,
                          const struct stream *stream, int offset,
                          const char *kind)
{
	struct word byte;
	struct word out;

	if (chance(g, 4))
		return word("%d", (int)pick(g, 256) - 128);
	for (unsigned i = 0; i < cache->count; i++) {
		if (cache->items[i].stream == stream &&
		    cache->items[i].offset == offset &&
		    cache->items[i].kind == kind && chance(g, 80))
			return cache->items[i].value;
	}
	byte = generate_byte(g, stream, offset);
	out = name(g, "%f");
	emit(g, "  %s = %s i8 %s to i32\n", out.text, kind, byte.text);
	if (cache->count < CACHE_SIZE) {
		cache->items[cache->count].stream = stream;
		cache->items[cache->count].offset = offset;
		cache->items[cache->count].kind = kind;
		cache->items[cache->count++].value = out;
	}
	return out;
}

/* Add up, as a chain or as a tree. */
static struct word add_up(struct generate *g, struct word *terms,
                          unsigned count)
{
	const bool is_tree = chance(g, 30);
	const bool has_flags = chance(g, 30);
	struct word sum;

	while (count > 1) {
		const unsigned at = is_tree ? pick(g, count - 1) : 0;

		sum = name(g, "%s");
		emit(g, "  %s = add%s i32 %s, %s\n", sum.text,
		     has_flags ? " nsw" : "", terms[at].text,
		     terms[at + 1].text);
		if (chance(g, 2))
			generate_store(g, sum);
		terms[at] = sum;
		for (unsigned i = at + 1; i + 1 < count; i++)
			terms[i] = terms[i + 1];
		count--;
		if (chance(g, g->noise / 4))
			generate_block(g);
	}
	return terms[0];
}

static void shuffle(struct generate *g, int *numbers, unsigned count)
{
	for (unsigned i = count; i > 1; i--) {
		const unsigned other = pick(g, i);
		const int number = numbers[i - 1];

		numbers[i - 1] = numbers[other];
		numbers[other] = number;
	}
}

/* What a sum begins with: it may be near to where sums wrap. */
static struct word first_term(struct generate *g)
{
	if (chance(g, 50))
		return word("%%n");
	if (chance(g, 50))
		return word("0");
	return chance(g, 50) ? word("%d", INT32_MAX - (int)pick(g, 20000))
	                     : word("%d", INT32_MIN + (int)pick(g, 20000));
}

struct word generate_sum(struct generate *g)
{
	static const char *const kinds[] = { "sext", "zext" };
	const bool has_words = chance(g, 50);
	const struct stream streams[] = {
		has_words ? generate_word_stream(g) : generate_stream(g),
		has_words ? generate_word_stream(g) : generate_stream(g)
	};
	const struct stream *const a = &streams[0];
	const struct stream *const b = &streams[chance(g, 25) ? 0 : 1];
	const char *const a_kind = kinds[chance(g, 20)];
	const char *const b_kind = chance(g, 80) ? a_kind : kinds[pick(g, 2)];
	/* Of a word with itself, it makes products of bytes that overlap. */
	const int shift = has_words && a != b ? 0 : (int)pick(g, 4);
	const unsigned count =
		chance(g, 70) ? 4 * (1 + pick(g, 3)) : 1 + pick(g, 12);
	struct cache cache = { .count = 0 };
	struct word terms[TERM_LIMIT];
	int order[TERM_LIMIT];
	unsigned used = 0;

	for (unsigned i = 0; i < count; i++)
		order[i] = has_words || chance(g, 92) ? (int)i
		                                      : (int)pick(g, count);
	if (chance(g, has_words ? 10 : 30))
		shuffle(g, order, count);
	if (chance(g, 60))
		terms[used++] = first_term(g);
	for (unsigned i = 0; i < count; i++) {
		const int k = order[i];
		const struct word x =
			factor(g, &cache, a, a->start + k * a->stride, a_kind);
		const struct word y =
			factor(g, &cache, b, b->start + (k + shift) * b->stride,
		               chance(g, 96) ? b_kind : kinds[pick(g, 2)]);
		const bool is_swapped = chance(g, 20);

		terms[used] = name(g, "%m");
		emit(g, "  %s = mul%s i32 %s, %s\n", terms[used].text,
		     chance(g, 50) ? " nsw" : "", is_swapped ? y.text : x.text,
		     is_swapped ? x.text : y.text);
		used++;
		generate_between(g, chance(g, 50) ? a : b, a->start + k);
		if (chance(g, 3))
			generate_store(g, terms[used - 1]);
		if (chance(g, 4) && used < TERM_LIMIT) {
			terms[used] = terms[used - 1];
			used++;
		}
	}
	return add_up(g, terms, used);
}

/* Byte `lane` of a word, in one of the ways in which code has it. */
static struct word lane_of(struct generate *g, struct word value, unsigned lane,
                           bool is_signed)
{
	const struct word out = name(g, "%f");
	const struct word x = name(g, "%x");
	const struct word y = name(g, "%x");
	const char *const kind = is_signed ? "sext" : "zext";

	switch (pick(g, 3)) {
	case 0:
		emit(g, "  %s = bitcast i32 %s to <4 x i8>\n", x.text,
		     value.text);
		emit(g, "  %s = extractelement <4 x i8> %s, i64 %u\n", y.text,
		     x.text, lane);
		emit(g, "  %s = %s i8 %s to i32\n", out.text, kind, y.text);
		return out;
	case 1:
		emit(g, "  %s = lshr i32 %s, %u\n", x.text, value.text,
		     8 * lane);
		emit(g, "  %s = trunc i32 %s to i8\n", y.text, x.text);
		emit(g, "  %s = %s i8 %s to i32\n", out.text, kind, y.text);
		return out;
	default:
		emit(g, "  %s = shl i32 %s, %u\n", x.text, value.text,
		     24 - 8 * lane);
		emit(g, "  %s = %s i32 %s, 24\n", out.text,
		     is_signed ? "ashr" : "lshr", x.text);
		return out;
	}
}

static struct word load_word(struct generate *g)
{
	struct stream stream = generate_stream(g);
	const struct word at = generate_address(g, &stream, stream.start & ~3);
	const struct word out = name(g, "%w");
	const struct word vector = name(g, "%w");
	const char *const kind = byte_kind(g);

	if (chance(g, 60)) {
		emit(g, "  %s = load%s i32, %s %s, align 1\n", out.text, kind,
		     generate_space(&stream), at.text);
		return out;
	}
	emit(g, "  %s = load%s <4 x i8>, %s %s, align 1\n", vector.text, kind,
	     generate_space(&stream), at.text);
	emit(g, "  %s = bitcast <4 x i8> %s to i32\n", out.text, vector.text);
	generate_between(g, &stream, stream.start & ~3);
	return out;
}

struct word generate_words(struct generate *g)
{
	const struct word words[] = { load_word(g), load_word(g) };
	const struct word *const other = &words[chance(g, 20) ? 0 : 1];
	const bool a_signed = chance(g, 70);
	const bool b_signed = chance(g, 80) ? a_signed : chance(g, 50);
	const bool has_constants = chance(g, 25);
	struct word terms[TERM_LIMIT];
	unsigned used = 0;
	const unsigned count = chance(g, 80) ? 4 : 1 + pick(g, 8);

	if (chance(g, 60))
		terms[used++] = word("%%n");
	for (unsigned i = 0; i < count; i++) {
		const unsigned lane = chance(g, 95) ? i % 4 : pick(g, 4);
		const unsigned twin = chance(g, 95) ? lane : pick(g, 4);
		const struct word x = lane_of(g, words[0], lane, a_signed);
		const struct word y =
			has_constants ? word("%d", (int)pick(g, 260) - 130)
				      : lane_of(g, *other, twin, b_signed);

		generate_noise(g);
		terms[used] = name(g, "%m");
		emit(g, "  %s = mul i32 %s, %s\n", terms[used].text, x.text,
		     y.text);
		used++;
	}
	return add_up(g, terms, used);
}

/* Bytes that are put together, as "gather" leaves them to "prepack". */
struct word generate_bytes(struct generate *g)
{
	const struct stream stream = generate_word_stream(g);
	const int first = stream.start + 4 * (int)pick(g, 3);
	const unsigned between = g->between;
	int order[] = { 0, 1, 2, 3 };
	struct word lanes[4];
	struct word value = word("poison");
	struct word out;

	/* Here is little place for it. */
	g->between *= 3;
	if (chance(g, 30))
		shuffle(g, order, TKB_COUNT_OF(order));
	for (unsigned i = 0; i < TKB_COUNT_OF(order); i++)
		lanes[order[i]] = generate_byte(
			g, &stream, first + order[i] * stream.stride);
	g->between = between;
	for (unsigned i = 0; i < TKB_COUNT_OF(order); i++) {
		out = name(g, "%v");
		emit(g, "  %s = insertelement <4 x i8> %s, i8 %s, i32 %u\n",
		     out.text, value.text, lanes[i].text, i);
		value = out;
	}
	out = name(g, "%w");
	emit(g, "  %s = bitcast <4 x i8> %s to i32\n", out.text, value.text);
	return out;
}

struct word generate_vector(struct generate *g)
{
	static const unsigned sizes[] = { 4, 4, 8, 16, 32 };
	static const char *const kinds[] = { "sext", "zext" };
	const unsigned size = sizes[pick(g, TKB_COUNT_OF(sizes))];
	struct word factors[2];
	const struct word product = name(g, "%m");
	const struct word sum = name(g, "%s");
	const struct word out = name(g, "%s");
	const unsigned kind = chance(g, 30);

	for (unsigned i = 0; i < 2; i++) {
		const struct stream stream = generate_stream(g);
		const struct word at =
			generate_address(g, &stream, stream.start);
		const struct word bytes = name(g, "%v");

		factors[i] = name(g, "%v");
		emit(g, "  %s = load <%u x i8>, %s %s, align 1\n", bytes.text,
		     size, generate_space(&stream), at.text);
		emit(g, "  %s = %s <%u x i8> %s to <%u x i32>\n",
		     factors[i].text, kinds[chance(g, 80) ? kind : 1 - kind],
		     size, bytes.text, size);
		generate_noise(g);
	}
	if (chance(g, 25))
		factors[1] = word("splat (i32 %d)", (int)pick(g, 300) - 150);
	emit(g, "  %s = mul <%u x i32> %s, %s\n", product.text, size,
	     factors[0].text, factors[1].text);
	emit(g,
	     "  %s = call i32 @llvm.vector.reduce.add.v%ui32(<%u x i32> "
	     "%s)\n",
	     sum.text, size, size, product.text);
	emit(g, "  %s = add i32 %s, %%n\n", out.text, sum.text);
	return out;
}
