/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_KEY_H
#define TKB_CACHE_KEY_H

/*
 * A key is a hash, written in one of four ways: MD5 in 32 hexadecimal digits
 * (Triton 2), SHA-256 in 64 (3.0, 3.1), in 43 characters of URL-safe base64
 * (3.2), or in 52 of base32 (3.3 and later).
 */

#include "base/base.h"
#include "base/digest.h"

enum {
	TKB_KEY_SIZE = 65
}; /* the longest key, and a zero */

/* Does `key` have one of these four forms? */
bool tkb_key_is_valid(const char *key);

/* The key of a hash, as Triton 3.3 and later write it. */
void tkb_key_encode(const struct tkb_digest *digest, char out[TKB_KEY_SIZE]);

/* Is `key` the hash that `hex` has as 64 (or 32) hexadecimal digits? */
bool tkb_key_encodes(const char *key, const char *hex);

#endif
