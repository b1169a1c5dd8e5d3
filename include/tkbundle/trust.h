/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_TRUST_H
#define TKBUNDLE_TRUST_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/trust.h
 * Keys that sign what is pushed, and a policy that says whose signatures count.
 *
 *     const struct tkb_signing signing = { .struct_size = sizeof(signing),
 *                                          .keys = &key, .key_count = 1 };
 *     const struct tkb_push_options options = { .struct_size = sizeof(options),
 *                                               .signing = &signing };
 *
 *     rc = tkb_key_make(TKB_KEY_KIND_ED25519, &key, &err);
 *     rc = tkb_key_write(key, passphrase, &sink, &err);
 *     tkb_key_close(key);
 *
 * A key is identified by its id, the SHA-256 of its SubjectPublicKeyInfo in
 * DER. A private key and its public key have the same id, in any file format.
 *
 * Threads: a key may be used by several at once.
 * Secrets: no message holds a part of a private key or a passphrase; both are
 * wiped from memory when they are released.
 */

/** The algorithm and curve of a key. */
enum tkb_key_kind {
	TKB_KEY_KIND_ED25519,
	TKB_KEY_KIND_P256,    /**< ECDSA on P-256, SHA-256, signatures in DER */
	TKB_KEY_KIND_MINISIGN /**< a public key of minisign: Ed25519 that signs
	                           a BLAKE2b */
};

/** A private or a public key. */
struct tkb_key;

/** What tkb_key_look() tells about a key. */
struct tkb_key_info {
	size_t struct_size; /**< sizeof it, as the caller was built */
	struct tkb_digest id;
	enum tkb_key_kind kind;
	bool is_private; /**< it can sign */
};

enum {
	TKB_PASSPHRASE_LIMIT = 1024 /**< the most bytes of a passphrase */
};

/** Where a passphrase comes from. */
struct tkb_passphrase {
	/**
	 * Called once, and only if the key is encrypted.
	 *
	 * @param out  receives at most TKB_PASSPHRASE_LIMIT bytes, without a
	 *             zero at the end
	 * @return 0, or a negative enum tkb_status, which ends the call
	 */
	int (*ask)(void *self, char *out, size_t *size_out,
	           struct tkb_error *err);
	void *self; /**< given to ask() */
};

/** The name of a kind, "ed25519"; NULL if there is no such kind. */
TKB_API const char *tkb_key_kind_name(unsigned kind);

/**
 * Make a new private key.
 *
 * @param kind  TKB_KEY_KIND_ED25519 or TKB_KEY_KIND_P256
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
 * @param passphrase  NULL: an encrypted key is refused
 * @param out         receives a key that the caller closes
 * @return 0; TKB_ERR_INVALID (not such a key, for instance a certificate or a
 *         key of another algorithm; or encrypted, and the passphrase is missing
 *         or wrong); TKB_ERR_NOMEM; or what ask() returned
 */
TKB_API TKB_NODISCARD int tkb_key_read(struct tkb_bytes text, const char *name,
                                       const struct tkb_passphrase *passphrase,
                                       struct tkb_key **out,
                                       struct tkb_error *err);

/**
 * Write a private key as PEM of PKCS #8.
 *
 * @param passphrase  encrypts it, by PBKDF2 and AES-256; empty: it is not
 *                    encrypted
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

/** Look at a key. @return 0, or TKB_ERR_INVALID (struct_size) */
TKB_API TKB_NODISCARD int tkb_key_look(const struct tkb_key *key,
                                       struct tkb_key_info *out,
                                       struct tkb_error *err);

/** Release a key. NULL is allowed. */
TKB_API void tkb_key_close(struct tkb_key *key);

/** What a signed record is for. */
enum tkb_trust_stage {
	TKB_TRUST_STAGE_DEV, /**< what somebody pushed */
	TKB_TRUST_STAGE_PROD /**< what somebody promoted */
};

/** How to sign. Zero means the default. */
struct tkb_signing {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const struct tkb_key *const *keys; /**< private keys; all sign */
	size_t key_count;
	enum tkb_trust_stage stage;
	uint64_t lifetime_s; /**< how long the signature is valid; default 90
	                          days */
};

/**
 * Read a time in UTC as RFC 3339 writes it: "2027-02-21T12:00:00Z".
 *
 * @param out  receives seconds since 1970
 * @return false if `text` is not exactly such a time, or there is no such day
 */
TKB_API bool tkb_date_parse(const char *text, uint64_t *out);

/** A key whose signatures count, and what they count for. */
struct tkb_trust_key {
	const struct tkb_key *key;
	const char *name; /**< for messages */
	/**
	 * Patterns of the refs that it may publish: `*` stands for any bytes,
	 * including slashes, `?` for one byte, `[...]` for one of the bytes in
	 * it.
	 */
	const char *const *publish;
	size_t publish_count;
	/**
	 * Patterns of the refs that it may promote to. If a ref matches such a
	 * pattern of any key, its signatures must be for TKB_TRUST_STAGE_PROD;
	 * otherwise for TKB_TRUST_STAGE_DEV.
	 */
	const char *const *promote;
	size_t promote_count;
	uint64_t not_after_s; /**< its signatures count until this time, since
	                           1970; 0: always */
	bool is_revoker;      /**< it may sign lists of what is revoked */
};

/** What to do with a record that no key of the policy has signed. */
enum tkb_unsigned {
	TKB_UNSIGNED_REFUSE,
	TKB_UNSIGNED_WARN,  /**< use it, and call on_untrusted() */
	TKB_UNSIGNED_ACCEPT /**< use it */
};

/** A record that the policy does not trust. */
struct tkb_untrusted {
	const char *ref;
	const struct tkb_digest *record; /**< NULL: all records of the ref */
	const char *message;             /**< a sentence */
	bool is_used;                    /**< it is used nevertheless:
	                                      TKB_UNSIGNED_WARN */
};

/** A signature that counts. */
struct tkb_signature {
	const char *signer;         /**< the key's name in the policy */
	struct tkb_digest key;      /**< the key's id */
	enum tkb_trust_stage stage; /**< the key may publish the ref, or promote
	                                 to it */
	uint64_t sequence;
	uint64_t expires_s; /**< since 1970: when it stops counting, because
	                         it expires or, by the policy, its key does */
};

/** A record that the policy trusts. */
struct tkb_trusted {
	const char *ref;
	const struct tkb_digest *record;
	const struct tkb_signature *signatures; /**< the newest first; as
	                                             many as the policy
	                                             requires */
	size_t signature_count;
};

/** A list of what is revoked that counts. */
struct tkb_revoked_list {
	const char *signer; /**< what the policy calls its key */
	uint64_t sequence;
	uint64_t expires_s; /**< since 1970: when it stops counting, because it
	                         expires or, by the policy, its key does */
	uint64_t revoked_count; /**< digests in it */
};

/**
 * A policy: whose signatures count. It is given to a remote in struct
 * tkb_remote_options. Records that are pulled or listed through that remote are
 * judged before any part of a bundle is fetched. A policy must never come from
 * a remote.
 *
 * If one of its keys may revoke, the remote must have a list of what is
 * revoked. The list must be signed by such a key, must not have expired, and
 * must not be older than one that was seen before. Otherwise nothing is
 * trusted.
 */
struct tkb_trust {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const struct tkb_trust_key *keys;
	size_t key_count;
	uint32_t threshold; /**< how many keys must have signed; 0: one */
	uint32_t promote_threshold; /**< the same for TKB_TRUST_STAGE_PROD */
	enum tkb_unsigned unsigned_records;
	/**
	 * The file that remembers the newest state of each signed ref, and of
	 * the list of what is revoked, that was seen. The file and its folder
	 * are made when needed. NULL: nothing is remembered.
	 */
	const char *memory;
	/** Refuse a ref if a newer signature of it is in the memory. */
	bool is_replay_refused;
	/** Called for each record that is not trusted; may be NULL. */
	void (*on_untrusted)(void *self, const struct tkb_untrusted *record);
	void *self; /**< given to these functions */
	/** Called for each trusted record, with its signatures; may be NULL. */
	void (*on_trusted)(void *self, const struct tkb_trusted *record);
	/**
	 * Anybody may push to refs below this name, as "inbox/model" is below
	 * "inbox". If unsigned records are refused, nothing in these refs is
	 * pulled, whoever signed it: it can only be promoted. NULL: there is no
	 * such name.
	 */
	const char *inbox;
	/** Called for each list of what is revoked that counts, whenever such
	    lists are read; may be NULL. */
	void (*on_revoked_list)(void *self,
	                        const struct tkb_revoked_list *list);
};

/** @return the policy's key with this id; NULL: it has none. Borrowed */
TKB_API const struct tkb_trust_key *tkb_trust_find_key(
	const struct tkb_trust *trust, const struct tkb_digest *id);

/** @return the stage that signatures of the ref must be for */
TKB_API enum tkb_trust_stage tkb_trust_stage_of(const struct tkb_trust *trust,
                                                const char *ref);

/** @return whether the key may sign records of the ref for this stage; for how
            long, and whether the key is revoked, is not checked */
TKB_API bool tkb_trust_may_sign(const struct tkb_trust_key *key,
                                enum tkb_trust_stage stage, const char *ref);

/**
 * Has a key of the policy signed this file with a detached signature of
 * minisign? The key must be a minisign key of the policy that may publish or
 * promote something. Whether it is revoked is not checked.
 *
 * @param contents    the whole file
 * @param signature   the file "*.minisig" that minisign wrote beside it, of
 *                    either kind, with its trusted comment
 * @param name        for messages
 * @param signer_out  receives the key's name in the policy
 * @return 0, TKB_ERR_UNTRUSTED (no such key has signed it, or the signature is
 *         damaged or of something else), TKB_ERR_UNSUPPORTED (OpenSSL has no
 *         BLAKE2b), TKB_ERR_INVALID (the policy) or TKB_ERR_NOMEM
 */
TKB_API TKB_NODISCARD int tkb_trust_check_file(const struct tkb_trust *trust,
                                               struct tkb_bytes contents,
                                               struct tkb_bytes signature,
                                               const char *name,
                                               const char **signer_out,
                                               struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif
