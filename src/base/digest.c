/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"

#include <stdlib.h>
#include <string.h>

/*
 * OpenSSL 3.0 deprecated these functions; all of 3.x still has them. The newer
 * interface reads a configuration and lists all ciphers before its first
 * digest, which adds 0.9 ms to a start, and then runs the same code.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

int tkb_hasher_open(struct tkb_hasher *out, struct tkb_error *err)
{
	SHA256_CTX *context = malloc(sizeof(*context));

	if (context == NULL)
		return tkb_fail_nomem(err);
	*out = (struct tkb_hasher){ .context = context };
	return 0;
}

void tkb_hasher_close(struct tkb_hasher *hasher)
{
	free(hasher->context);
	*hasher = (struct tkb_hasher){ 0 };
}

/* Turn OpenSSL's result into ours. */
static int check_step(int is_done, struct tkb_error *err)
{
	if (is_done != 1)
		return tkb_fail(err, TKB_ERR_NOMEM, "OpenSSL cannot hash");
	return 0;
}

int tkb_hasher_begin(struct tkb_hasher *hasher, struct tkb_error *err)
{
	return check_step(SHA256_Init(hasher->context), err);
}

int tkb_hasher_add(struct tkb_hasher *hasher, struct tkb_bytes bytes,
                   struct tkb_error *err)
{
	return check_step(
		SHA256_Update(hasher->context, bytes.data, bytes.size), err);
}

static int add_bytes(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	return tkb_hasher_add(self, bytes, err);
}

struct tkb_sink tkb_hasher_sink(struct tkb_hasher *hasher)
{
	return (struct tkb_sink){ .write = add_bytes, .self = hasher };
}

int tkb_hasher_end(struct tkb_hasher *hasher, struct tkb_digest *out,
                   struct tkb_error *err)
{
	return check_step(SHA256_Final(out->bytes, hasher->context), err);
}

int tkb_hasher_digest(struct tkb_hasher *hasher, struct tkb_bytes bytes,
                      struct tkb_digest *out, struct tkb_error *err)
{
	int rc;

	rc = tkb_hasher_begin(hasher, err);
	if (rc == 0)
		rc = tkb_hasher_add(hasher, bytes, err);
	if (rc == 0)
		rc = tkb_hasher_end(hasher, out, err);
	return rc;
}

int tkb_hasher_check(struct tkb_hasher *hasher, struct tkb_bytes bytes,
                     const struct tkb_digest *wanted, struct tkb_error *err)
{
	struct tkb_digest digest;
	int rc;

	rc = tkb_hasher_digest(hasher, bytes, &digest, err);
	return rc == 0 && !tkb_digest_equal(&digest, wanted) ? TKB_MISS : rc;
}

int tkb_digest_of(struct tkb_bytes bytes, struct tkb_digest *out,
                  struct tkb_error *err)
{
	TKB_AUTO(tkb_hasher_close) struct tkb_hasher hasher = { 0 };
	int rc;

	rc = tkb_hasher_open(&hasher, err);
	if (rc < 0)
		return rc;
	return tkb_hasher_digest(&hasher, bytes, out, err);
}

/* The value of each lower-case digit plus one; 0 marks what is no digit. */
static const unsigned char digit_values[256] = {
	['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,  ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

bool tkb_digest_from_hex(struct tkb_bytes hex, struct tkb_digest *out)
{
	const unsigned char *digits = hex.data;
	struct tkb_digest digest;

	if (hex.size != 2 * sizeof(digest.bytes))
		return false;
	for (size_t i = 0; i < sizeof(digest.bytes); i++) {
		const unsigned high = digit_values[digits[2 * i]];
		const unsigned low = digit_values[digits[2 * i + 1]];

		if (high == 0 || low == 0)
			return false;
		digest.bytes[i] = (unsigned char)((high - 1) << 4 | (low - 1));
	}
	*out = digest;
	return true;
}

void tkb_digest_to_hex(const struct tkb_digest *digest,
                       char out[TKB_DIGEST_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < sizeof(digest->bytes); i++) {
		out[2 * i] = digits[digest->bytes[i] >> 4];
		out[2 * i + 1] = digits[digest->bytes[i] & 15];
	}
	out[2 * sizeof(digest->bytes)] = '\0';
}

struct tkb_hex tkb_digest_hex(const struct tkb_digest *digest)
{
	struct tkb_hex hex;

	tkb_digest_to_hex(digest, hex.text);
	return hex;
}

bool tkb_digest_equal(const struct tkb_digest *a, const struct tkb_digest *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

int tkb_digest_compare(const struct tkb_digest *a, const struct tkb_digest *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

void tkb_digests_release(struct tkb_digests *digests)
{
	free(digests->items);
	*digests = (struct tkb_digests){ 0 };
}

int tkb_digests_add(struct tkb_digests *digests,
                    const struct tkb_digest *digest, struct tkb_error *err)
{
	return tkb_append(&digests->items, &digests->count, &digests->capacity,
	                  digest, sizeof(*digest), err);
}

int tkb_compare_digests(const void *a, const void *b)
{
	return tkb_digest_compare(a, b);
}

void tkb_digests_sort(struct tkb_digests *digests)
{
	tkb_sort(digests->items, digests->count, sizeof(*digests->items),
	         tkb_compare_digests);
	digests->count =
		tkb_unique(digests->items, digests->count,
	                   sizeof(*digests->items), tkb_compare_digests);
}

bool tkb_digests_have(const struct tkb_digests *digests,
                      const struct tkb_digest *digest)
{
	return digests->count != 0 &&
	       bsearch(digest, digests->items, digests->count, sizeof(*digest),
	               tkb_compare_digests) != NULL;
}
