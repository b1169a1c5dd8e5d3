/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/key.h"

#include <openssl/err.h>

#include "remote/net/base64.h"

/*
 * A minisign public key is 42 bytes, a signature 74: two letters for the
 * algorithm, a key id of eight bytes, then the Ed25519 key or signature. "Ed"
 * signs the message, "ED" its 64-byte BLAKE2b digest. Both are base64 in the
 * second line of a file.
 */

enum {
	LETTERS = 2,
	HEAD = LETTERS + TKB_MINISIGN_ID_SIZE,
	PUBLIC_SIZE = 32,
	SIGNATURE_SIZE = 64,
	BLAKE_SIZE = 64
};

struct tkb_bytes tkb_minisign_take_line(struct tkb_bytes *text)
{
	const char *begin = text->data;
	const char *end =
		text->size == 0 ? NULL : memchr(begin, '\n', text->size);
	size_t size = end == NULL ? text->size : (size_t)(end - begin);
	const size_t taken = end == NULL ? size : size + 1;

	*text = tkb_bytes_slice(*text, taken, text->size);
	if (size > 0 && begin[size - 1] == '\r')
		size--;
	return (struct tkb_bytes){ begin, size };
}

int tkb_minisign_read(struct tkb_bytes text, const char *name,
                      struct tkb_key **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf bytes = TKB_BUF_INIT(HEAD + PUBLIC_SIZE);
	const struct tkb_bytes comment = tkb_minisign_take_line(&text);
	const struct tkb_bytes line = tkb_minisign_take_line(&text);
	EVP_PKEY *made;
	int rc;

	if (!tkb_bytes_begin_with(comment, tkb_text(TKB_MINISIGN_COMMENT)) ||
	    line.size == 0 || !tkb_base64_read(line, &bytes) ||
	    bytes.failure != 0 || bytes.size != HEAD + PUBLIC_SIZE ||
	    memcmp(bytes.data, "Ed", LETTERS) != 0)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.300s' is not a key: neither PEM nor a "
		                "minisign public key",
		                name);
	made = EVP_PKEY_new_raw_public_key_ex(NULL, "ED25519", NULL,
	                                      bytes.data + HEAD, PUBLIC_SIZE);
	if (made == NULL)
		return tkb_key_fail("read a public key", err);
	rc = tkb_key_adopt(made, false, NULL, name, out, err);
	if (rc < 0)
		return rc;
	(*out)->kind = TKB_KEY_KIND_MINISIGN;
	memcpy((*out)->minisign_id, bytes.data + LETTERS, TKB_MINISIGN_ID_SIZE);
	return 0;
}

static int blake(struct tkb_bytes message, unsigned char out[BLAKE_SIZE],
                 struct tkb_error *err)
{
	size_t size = 0;

	if (EVP_Q_digest(NULL, "BLAKE2B-512", NULL, message.data, message.size,
	                 out, &size) != 1 ||
	    size != BLAKE_SIZE) {
		ERR_clear_error();
		return tkb_fail(err, TKB_ERR_UNSUPPORTED,
		                "minisign signatures need BLAKE2b, which "
		                "this build's OpenSSL lacks; 'minisign -l' "
		                "signs without it");
	}
	return 0;
}

int tkb_minisign_check(const struct tkb_key *key, struct tkb_bytes message,
                       struct tkb_bytes signature, bool *out,
                       struct tkb_error *err)
{
	const unsigned char *head = signature.data;
	unsigned char digest[BLAKE_SIZE];
	int rc = 0;

	*out = false;
	if (signature.size != HEAD + SIGNATURE_SIZE || head[0] != 'E' ||
	    (head[1] != 'd' && head[1] != 'D') ||
	    memcmp(head + LETTERS, key->minisign_id, TKB_MINISIGN_ID_SIZE) != 0)
		return 0;
	if (head[1] == 'D') {
		rc = blake(message, digest, err);
		message = (struct tkb_bytes){ digest, sizeof(digest) };
	}
	return rc < 0 ? rc
	              : tkb_key_check_plain(key, message,
	                                    tkb_bytes_slice(signature, HEAD,
	                                                    signature.size),
	                                    out, err);
}
