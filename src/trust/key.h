/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TRUST_KEY_H
#define TKB_TRUST_KEY_H

/* Keys: see tkbundle/trust.h. OpenSSL does the cryptography. */

#include <openssl/evp.h>

#include <tkbundle/trust.h>

#include "base/base.h"
#include "base/buf.h"

enum {
	TKB_MINISIGN_ID_SIZE = 8
};

/* The start of a minisign file. */
#define TKB_MINISIGN_COMMENT "untrusted comment:"

struct tkb_key {
	enum tkb_key_kind kind;
	bool is_private;
	struct tkb_digest id;
	EVP_PKEY *key; /* owned */
	/* minisign's own id of the key. */
	unsigned char minisign_id[TKB_MINISIGN_ID_SIZE];
};

/*
 * Make a key from OpenSSL's `made`. The call takes ownership of it, even if it
 * fails. `name` is the name of the file, for messages. The id is computed from
 * `spki`, the key's SubjectPublicKeyInfo; if NULL, OpenSSL encodes it.
 */
TKB_NODISCARD int tkb_key_adopt(EVP_PKEY *made, bool is_private,
                                const struct tkb_bytes *spki, const char *name,
                                struct tkb_key **out, struct tkb_error *err);

/* Report that OpenSSL failed although its input was valid. */
int tkb_key_fail(const char *what, struct tkb_error *err);

/* Sign `message` with a private key, and append the signature. */
TKB_NODISCARD int tkb_key_sign(const struct tkb_key *key,
                               struct tkb_bytes message, struct tkb_buf *out,
                               struct tkb_error *err);

/* Is `signature` a valid signature of `message` by this key? */
TKB_NODISCARD int tkb_key_check(const struct tkb_key *key,
                                struct tkb_bytes message,
                                struct tkb_bytes signature, bool *out,
                                struct tkb_error *err);

/*
 * Read the PEM of an Ed25519 or P-256 public key, if it has the usual form.
 * This is a fast path: OpenSSL's decoders take as long as two dozen signatures.
 * TKB_MISS: it has another form, or is damaged.
 */
TKB_NODISCARD int tkb_key_read_plain(struct tkb_bytes text, const char *name,
                                     struct tkb_key **out,
                                     struct tkb_error *err);

/* Cut the first line off a file of minisign's; returns it without its break. */
struct tkb_bytes tkb_minisign_take_line(struct tkb_bytes *text);

/* Read a minisign public key file. */
TKB_NODISCARD int tkb_minisign_read(struct tkb_bytes text, const char *name,
                                    struct tkb_key **out,
                                    struct tkb_error *err);

/* As tkb_key_check(), for a minisign key. */
TKB_NODISCARD int tkb_minisign_check(const struct tkb_key *key,
                                     struct tkb_bytes message,
                                     struct tkb_bytes signature, bool *out,
                                     struct tkb_error *err);

/* Check a bare Ed25519 or ECDSA signature, without minisign's header. */
TKB_NODISCARD int tkb_key_check_plain(const struct tkb_key *key,
                                      struct tkb_bytes message,
                                      struct tkb_bytes signature, bool *out,
                                      struct tkb_error *err);

#endif
