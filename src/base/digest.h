/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_DIGEST_H
#define TKB_BASE_DIGEST_H

/* SHA-256. One thread can use a hasher any number of times. */

#include <tkbundle/entry.h>

#include "base/base.h"

/* tkb_digest_to_hex() as a value, for one use: tkb_digest_hex(digest).text */
struct tkb_hex {
	char text[TKB_DIGEST_HEX_SIZE];
};

struct tkb_hex tkb_digest_hex(const struct tkb_digest *digest);

struct tkb_hasher {
	void *context; /* owned */
};

TKB_NODISCARD int tkb_hasher_open(struct tkb_hasher *out,
                                  struct tkb_error *err);
void tkb_hasher_close(struct tkb_hasher *hasher);

/* The digest of `bytes`. */
TKB_NODISCARD int tkb_hasher_digest(struct tkb_hasher *hasher,
                                    struct tkb_bytes bytes,
                                    struct tkb_digest *out,
                                    struct tkb_error *err);

/* Returns 0 if `bytes` have the digest `wanted`, TKB_MISS if another one. */
TKB_NODISCARD int tkb_hasher_check(struct tkb_hasher *hasher,
                                   struct tkb_bytes bytes,
                                   const struct tkb_digest *wanted,
                                   struct tkb_error *err);

/* Hash bytes that come in pieces: begin, add any number of pieces, end. */
TKB_NODISCARD int tkb_hasher_begin(struct tkb_hasher *hasher,
                                   struct tkb_error *err);
TKB_NODISCARD int tkb_hasher_add(struct tkb_hasher *hasher,
                                 struct tkb_bytes bytes, struct tkb_error *err);
TKB_NODISCARD int tkb_hasher_end(struct tkb_hasher *hasher,
                                 struct tkb_digest *out, struct tkb_error *err);

/* A sink that adds to the digest which `hasher` has begun. */
struct tkb_sink tkb_hasher_sink(struct tkb_hasher *hasher);

/* The digest of `bytes`, without a hasher, for a single digest. */
TKB_NODISCARD int tkb_digest_of(struct tkb_bytes bytes, struct tkb_digest *out,
                                struct tkb_error *err);

/* Read 64 lower-case hexadecimal digits; false if they are anything else. */
bool tkb_digest_from_hex(struct tkb_bytes hex, struct tkb_digest *out);

bool tkb_digest_equal(const struct tkb_digest *a, const struct tkb_digest *b);

/* Compare as memcmp() does. */
int tkb_digest_compare(const struct tkb_digest *a, const struct tkb_digest *b);

/* A list of digests; a zeroed list is empty. */
struct tkb_digests {
	struct tkb_digest *items; /* owned */
	size_t count;
	size_t capacity;
};

void tkb_digests_release(struct tkb_digests *digests);
TKB_NODISCARD int tkb_digests_add(struct tkb_digests *digests,
                                  const struct tkb_digest *digest,
                                  struct tkb_error *err);

/* Compare structs that begin with a digest, for qsort() and bsearch(). */
int tkb_compare_digests(const void *a, const void *b);

/* Sort the digests and drop duplicates. */
void tkb_digests_sort(struct tkb_digests *digests);

/* Is `digest` in the sorted list? */
bool tkb_digests_have(const struct tkb_digests *digests,
                      const struct tkb_digest *digest);

/* The value of a hexadecimal digit of either case, or -1. */
static inline int tkb_hex_value(int digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return -1;
}

/* The value of four of them, as in \uXXXX of JSON, or -1. */
static inline int32_t tkb_hex4_value(const unsigned char *digits)
{
	int32_t value = 0;

	for (int i = 0; i < 4; i++) {
		const int digit = tkb_hex_value(digits[i]);

		if (digit < 0)
			return -1;
		value = value << 4 | digit;
	}
	return value;
}

#endif
