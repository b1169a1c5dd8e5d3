/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_TRUST_H
#define TKBUNDLE_TRUST_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/trust.h
 * Keys that sign what is pushed.
 *
 *     rc = tkb_key_make(TKB_KEY_ED25519, &key, &err);
 *     rc = tkb_key_write(key, passphrase, &sink, &err);
 *     tkb_key_close(key);
 *
 * A key is known by its id, the SHA-256 of its SubjectPublicKeyInfo in DER: the
 * same for a private key and its public one, in whatever file either lies.
 *
 * Threads: a key may be used by several at once.
 * Secrets: no message holds a part of a private key or a passphrase; both are
 * wiped from memory when they are released.
 */

/** What signs: algorithm and curve. */
enum tkb_key_kind {
	TKB_KEY_ED25519,
	TKB_KEY_P256,    /**< ECDSA on P-256 with SHA-256, signatures in DER */
	TKB_KEY_MINISIGN /**< a public key of minisign: Ed25519 of a BLAKE2b */
};

/** A private or a public key. */
struct tkb_key;

/** What is told of a key. */
struct tkb_key_info {
	size_t struct_size; /**< sizeof it, as the caller was built */
	struct tkb_digest id;
	enum tkb_key_kind kind;
	bool is_private; /**< it can sign */
};

enum {
	TKB_PASSPHRASE_LIMIT = 1024 /**< bytes of a passphrase, at most */
};

/** Where a passphrase comes from. */
struct tkb_passphrase {
	/**
	 * Called when a key proves to be encrypted, and then once.
	 *
	 * @param out  receives at most TKB_PASSPHRASE_LIMIT bytes, and no zero
	 *             behind them
	 * @return 0, or a negative enum tkb_status, which ends the call
	 */
	int (*ask)(void *self, char *out, size_t *size_out,
	           struct tkb_error *err);
	void *self; /**< given to ask() */
};

/** The name of a kind, "ed25519"; NULL: there is none of this number. */
TKB_API const char *tkb_key_kind_name(unsigned kind);

/**
 * Make a new private key.
 *
 * @param kind  TKB_KEY_ED25519 or TKB_KEY_P256
 * @param out   receives a key that the caller closes
 * @return 0, TKB_ERR_INVALID (no such kind), TKB_ERR_IO (OpenSSL cannot) or
 *         TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_key_make(enum tkb_key_kind kind,
                                       struct tkb_key **out,
                                       struct tkb_error *err);

/**
 * Read a key: PEM of PKCS #8 ("PRIVATE KEY", "ENCRYPTED PRIVATE KEY") or of
 * SubjectPublicKeyInfo ("PUBLIC KEY"), or minisign's file of a public key.
 *
 * @param text        not kept
 * @param name        for messages: the file; not kept
 * @param passphrase  NULL: there is none, and a key that is encrypted is refused
 * @param out         receives a key that the caller closes
 * @return 0; TKB_ERR_INVALID (it is something else, as a certificate, or of
 *         another algorithm; encrypted, and there is no passphrase, or not this
 *         one); TKB_ERR_NOMEM; or what ask() returned
 */
TKB_API TKB_NODISCARD int tkb_key_read(struct tkb_bytes text, const char *name,
                                       const struct tkb_passphrase *passphrase,
                                       struct tkb_key **out,
                                       struct tkb_error *err);

/**
 * Write a private key as PEM of PKCS #8.
 *
 * @param passphrase  with which it is encrypted: AES-256 by a key that PBKDF2
 *                    makes of it; an empty one: it is not encrypted
 * @return 0, TKB_ERR_INVALID (it is a public key, or the passphrase is too
 *         long), TKB_ERR_NOMEM, or what the sink returned
 */
TKB_API TKB_NODISCARD int tkb_key_write(const struct tkb_key *key,
                                        struct tkb_bytes passphrase,
                                        const struct tkb_sink *sink,
                                        struct tkb_error *err);

/** Write the public key of a key, as PEM. @return as tkb_key_write() */
TKB_API TKB_NODISCARD int tkb_key_write_public(const struct tkb_key *key,
                                               const struct tkb_sink *sink,
                                               struct tkb_error *err);

/** Tell of a key. @return 0, or TKB_ERR_INVALID (struct_size) */
TKB_API TKB_NODISCARD int tkb_key_look(const struct tkb_key *key,
                                       struct tkb_key_info *out,
                                       struct tkb_error *err);

/** Release a key. NULL is allowed. */
TKB_API void tkb_key_close(struct tkb_key *key);

#ifdef __cplusplus
}
#endif

#endif
