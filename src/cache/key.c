/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/key.h"

#include <string.h>

#include "base/buf.h"
#include "base/digest.h"

static const char hex_digits[] = "0123456789abcdef";
static const char base32_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
static const char base64_digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* The digits that a key of `length` characters may have, or NULL. */
static const char *digits_of(size_t length)
{
	switch (length) {
	case 32:
	case 64:
		return hex_digits;
	case 43:
		return base64_digits;
	case 52:
		return base32_digits;
	default:
		return NULL;
	}
}

bool tkb_key_is_valid(const char *key)
{
	const size_t length = strlen(key);
	const char *digits = digits_of(length);

	return digits != NULL && strspn(key, digits) == length;
}

/* Encode as RFC 4648 does, without padding, with `bits` bits per digit. */
static void encode(const struct tkb_digest *digest, const char *digits,
                   unsigned bits, char *out)
{
	unsigned pending = 0;
	unsigned count = 0;

	for (size_t i = 0; i < sizeof(digest->bytes); i++) {
		pending = pending << 8 | digest->bytes[i];
		count += 8;
		while (count >= bits) {
			count -= bits;
			*out++ = digits[pending >> count & ((1u << bits) - 1)];
		}
	}
	if (count != 0)
		*out++ = digits[pending << (bits - count) & ((1u << bits) - 1)];
	*out = '\0';
}

void tkb_key_encode(const struct tkb_digest *digest, char out[TKB_KEY_SIZE])
{
	encode(digest, base32_digits, 5, out);
}

bool tkb_key_encodes(const char *key, const char *hex)
{
	const size_t length = strlen(key);
	struct tkb_digest digest;
	char encoded[TKB_KEY_SIZE];

	if (length == 32 || length == 64)
		return strcmp(key, hex) == 0;
	if (!tkb_digest_from_hex(tkb_text(hex), &digest))
		return false;
	if (length == 43)
		encode(&digest, base64_digits, 6, encoded);
	else
		encode(&digest, base32_digits, 5, encoded);
	return strcmp(key, encoded) == 0;
}
