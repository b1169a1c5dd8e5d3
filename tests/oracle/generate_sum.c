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
		const char *value;
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

static const char *generate_byte(struct generate *g,
                                 const struct stream *stream, int offset)
{
	const char *const at = generate_address(g, stream, offset);
	const bool is_atomic = !g->options->for_gpu &&
	                       !is_own_variable(g, stream) &&
	                       chance(g, g->between / 8);
	const char *const out =
		give(g, "%b", "load%s%s i8, %s %s%s, align 1",
	             is_atomic ? " atomic" : "", byte_kind(g),
	             generate_space(stream), at, is_atomic ? " monotonic" : "");

	generate_noise(g);
	generate_between(g, stream, offset);
	return out;
}

static const char *factor(struct generate *g, struct cache *cache,
                          const struct stream *stream, int offset,
                          const char *kind)
{
	const char *byte;
	const char *out;

	if (chance(g, 4))
		return word(g, "%d", (int)pick(g, 256) - 128);
	for (unsigned i = 0; i < cache->count; i++) {
		if (cache->items[i].stream == stream &&
		    cache->items[i].offset == offset &&
		    cache->items[i].kind == kind && chance(g, 80))
			return cache->items[i].value;
	}
	byte = generate_byte(g, stream, offset);
	out = give(g, "%f", "%s i8 %s to i32", kind, byte);
	if (cache->count < CACHE_SIZE) {
		cache->items[cache->count].stream = stream;
		cache->items[cache->count].offset = offset;
		cache->items[cache->count].kind = kind;
		cache->items[cache->count++].value = out;
	}
	return out;
}

/* Add up, as a chain or as a tree. */
static const char *add_up(struct generate *g, const char **terms,
                          unsigned count)
{
	const bool is_tree = chance(g, 30);
	const bool has_flags = chance(g, 30);
	const char *sum;

	while (count > 1) {
		const unsigned at = is_tree ? pick(g, count - 1) : 0;

		sum = give(g, "%s", "add%s i32 %s, %s", has_flags ? " nsw" : "",
		           terms[at], terms[at + 1]);
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
static const char *first_term(struct generate *g)
{
	if (chance(g, 50))
		return "%n";
	if (chance(g, 50))
		return "0";
	return chance(g, 50) ? word(g, "%d", INT32_MAX - (int)pick(g, 20000))
	                     : word(g, "%d", INT32_MIN + (int)pick(g, 20000));
}

const char *generate_sum(struct generate *g)
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
	const char *terms[TERM_LIMIT];
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
		const char *const x =
			factor(g, &cache, a, a->start + k * a->stride, a_kind);
		const char *const y =
			factor(g, &cache, b, b->start + (k + shift) * b->stride,
		               chance(g, 96) ? b_kind : kinds[pick(g, 2)]);
		const bool is_swapped = chance(g, 20);

		terms[used] = give(g, "%m", "mul%s i32 %s, %s",
		                   chance(g, 50) ? " nsw" : "",
		                   is_swapped ? y : x, is_swapped ? x : y);
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
static const char *lane_of(struct generate *g, const char *value, unsigned lane,
                           bool is_signed)
{
	const char *const kind = is_signed ? "sext" : "zext";
	const char *x;

	switch (pick(g, 3)) {
	case 0:
		x = give(g, "%x", "bitcast i32 %s to <4 x i8>", value);
		x = give(g, "%x", "extractelement <4 x i8> %s, i64 %u", x,
		         lane);
		return give(g, "%f", "%s i8 %s to i32", kind, x);
	case 1:
		x = give(g, "%x", "lshr i32 %s, %u", value, 8 * lane);
		x = give(g, "%x", "trunc i32 %s to i8", x);
		return give(g, "%f", "%s i8 %s to i32", kind, x);
	default:
		x = give(g, "%x", "shl i32 %s, %u", value, 24 - 8 * lane);
		return give(g, "%f", "%s i32 %s, 24",
		            is_signed ? "ashr" : "lshr", x);
	}
}

static const char *load_word(struct generate *g)
{
	struct stream stream = generate_stream(g);
	const char *const at = generate_address(g, &stream, stream.start & ~3);
	const char *const kind = byte_kind(g);
	const char *out;

	if (chance(g, 60))
		return give(g, "%w", "load%s i32, %s %s, align 1", kind,
		            generate_space(&stream), at);
	out = give(g, "%w", "load%s <4 x i8>, %s %s, align 1", kind,
	           generate_space(&stream), at);
	out = give(g, "%w", "bitcast <4 x i8> %s to i32", out);
	generate_between(g, &stream, stream.start & ~3);
	return out;
}

const char *generate_words(struct generate *g)
{
	const char *const words[] = { load_word(g), load_word(g) };
	const char *const other = words[chance(g, 20) ? 0 : 1];
	const bool a_signed = chance(g, 70);
	const bool b_signed = chance(g, 80) ? a_signed : chance(g, 50);
	const bool has_constants = chance(g, 25);
	const char *terms[TERM_LIMIT];
	unsigned used = 0;
	const unsigned count = chance(g, 80) ? 4 : 1 + pick(g, 8);

	if (chance(g, 60))
		terms[used++] = "%n";
	for (unsigned i = 0; i < count; i++) {
		const unsigned lane = chance(g, 95) ? i % 4 : pick(g, 4);
		const unsigned twin = chance(g, 95) ? lane : pick(g, 4);
		const char *const x = lane_of(g, words[0], lane, a_signed);
		const char *const y =
			has_constants ? word(g, "%d", (int)pick(g, 260) - 130)
				      : lane_of(g, other, twin, b_signed);

		generate_noise(g);
		terms[used++] = give(g, "%m", "mul i32 %s, %s", x, y);
	}
	return add_up(g, terms, used);
}

/* Bytes that are put together, as "gather" leaves them to "prepack". */
const char *generate_bytes(struct generate *g)
{
	const struct stream stream = generate_word_stream(g);
	const int first = stream.start + 4 * (int)pick(g, 3);
	const unsigned between = g->between;
	int order[] = { 0, 1, 2, 3 };
	const char *lanes[4];
	const char *value = "poison";

	/* Here is little place for it. */
	g->between *= 3;
	if (chance(g, 30))
		shuffle(g, order, TKB_COUNT_OF(order));
	for (unsigned i = 0; i < TKB_COUNT_OF(order); i++)
		lanes[order[i]] = generate_byte(
			g, &stream, first + order[i] * stream.stride);
	g->between = between;
	for (unsigned i = 0; i < TKB_COUNT_OF(order); i++) {
		value = give(g, "%v",
		             "insertelement <4 x i8> %s, i8 %s, i32 %u", value,
		             lanes[i], i);
	}
	return give(g, "%w", "bitcast <4 x i8> %s to i32", value);
}

const char *generate_vector(struct generate *g)
{
	static const unsigned sizes[] = { 4, 4, 8, 16, 32 };
	static const char *const kinds[] = { "sext", "zext" };
	const unsigned size = sizes[pick(g, TKB_COUNT_OF(sizes))];
	const char *factors[2];
	const unsigned kind = chance(g, 30);

	for (unsigned i = 0; i < 2; i++) {
		const struct stream stream = generate_stream(g);
		const char *const at =
			generate_address(g, &stream, stream.start);
		const char *const bytes =
			give(g, "%v", "load <%u x i8>, %s %s, align 1", size,
		             generate_space(&stream), at);

		factors[i] = give(g, "%v", "%s <%u x i8> %s to <%u x i32>",
		                  kinds[chance(g, 80) ? kind : 1 - kind], size,
		                  bytes, size);
		generate_noise(g);
	}
	if (chance(g, 25))
		factors[1] = word(g, "splat (i32 %d)", (int)pick(g, 300) - 150);
	const char *const product = give(g, "%m", "mul <%u x i32> %s, %s", size,
	                                 factors[0], factors[1]);
	const char *const sum =
		give(g, "%s",
	             "call i32 @llvm.vector.reduce.add.v%ui32(<%u x i32> "
	             "%s)",
	             size, size, product);
	return give(g, "%s", "add i32 %s, %%n", sum);
}
