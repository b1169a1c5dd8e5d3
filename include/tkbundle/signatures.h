/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SIGNATURES_H
#define TKBUNDLE_SIGNATURES_H

#include <tkbundle/bundle.h>
#include <tkbundle/remote.h>
#include <tkbundle/trust.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/signatures.h
 * Sign what a ref already holds, promote it to another ref, and revoke what must
 * no longer be used.
 *
 *     const struct tkb_sign_options options = { .struct_size = sizeof(options),
 *                                               .signing = &signing };
 *
 *     rc = tkb_ref_sign(remote, "model/h100", &options, NULL, &err);
 *     rc = tkb_ref_promote(remote, "model/h100", "prod/h100", &options, NULL,
 *                          &err);
 */

/** How to sign what a ref holds. Zero means the default. */
struct tkb_sign_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const struct tkb_signing *signing; /**< required */
	bool is_renewal; /**< also sign again what these keys have signed */
	bool is_dry_run; /**< only count */
	/**
	 * Called for each record before it is signed, with the record's blob,
	 * which was fetched and checked. NULL: all records are signed. In a dry
	 * run with vouch(), `signing` may be NULL.
	 *
	 * @param blob  lent for the call; NULL: it is gone or damaged
	 * @return 0: sign the record; TKB_MISS: do not; or a negative enum
	 *         tkb_status, which ends the call
	 */
	int (*vouch)(void *self, const struct tkb_digest *record,
	             const struct tkb_source *blob, struct tkb_error *err);
	void *self;           /**< given to vouch() */
	uint32_t deadline_ms; /**< of the whole call; 0: none */
	/** Its progress counts records; on_result() is not called. */
	const struct tkb_watch *watch;
};

/** What happened to a ref's records. */
struct tkb_sign_report {
	size_t struct_size;        /**< sizeof it, as the caller was built */
	uint64_t signed_count;     /**< records that got a signature */
	uint64_t present_count;    /**< that these keys had signed before */
	uint64_t unreadable_count; /**< damaged, or of a newer tkbundle */
	uint64_t gone_count;       /**< the blob is gone: not promoted */
	uint64_t untrusted_count;  /**< the remote's policy does not trust
	                                them: not promoted */
	uint64_t refused_count;    /**< vouch() refused them: not signed */
};

/**
 * Sign the records that `ref` has, whether the remote's policy trusts them or
 * not: the signer vouches for them.
 *
 * @param report  filled in on 0 and TKB_ERR_PARTIAL; may be NULL
 * @return 0; TKB_ERR_PARTIAL (a record cannot be read, or vouch() did not vouch
 *         for it: the others are signed); what vouch() returned; TKB_MISS
 *         (there is no record); TKB_ERR_INVALID, TKB_ERR_TOO_LARGE (the ref's
 *         name is too long for signatures), TKB_ERR_CANCELLED (what was signed
 *         until then stays), or a failure of the remote
 */
TKB_API TKB_NODISCARD int tkb_ref_sign(struct tkb_remote *remote,
                                       const char *ref,
                                       const struct tkb_sign_options *options,
                                       struct tkb_sign_report *report,
                                       struct tkb_error *err);

/**
 * Add the records of ref `from` that the remote's policy trusts to ref `to`,
 * and sign them for that ref and for the stage in options->signing. No blob is
 * fetched or uploaded. Records that `to` already has stay.
 *
 * @param report  filled in on 0, TKB_ERR_PARTIAL and TKB_ERR_UNTRUSTED; may be
 *                NULL
 * @return 0; TKB_ERR_UNTRUSTED (the policy does not trust a record) or
 *         TKB_ERR_PARTIAL (one cannot be read, or its blob is gone), where the
 *         others are promoted; TKB_MISS (`from` has none); TKB_ERR_INVALID (the
 *         remote has no policy, or one that lets only other keys promote to
 *         `to`); or as tkb_ref_sign()
 */
TKB_API TKB_NODISCARD int tkb_ref_promote(
	struct tkb_remote *remote, const char *from, const char *to,
	const struct tkb_sign_options *options, struct tkb_sign_report *report,
	struct tkb_error *err);

/** Receives what tkb_signatures_export() finds. */
struct tkb_signature_visitor {
	/**
	 * Called for each signature, with the record that it signs.
	 *
	 * @param text  a Sigstore bundle, lent for the call
	 * @return 0, or a negative enum tkb_status, which ends the call
	 */
	int (*on_signature)(void *self, const struct tkb_digest *record,
	                    uint64_t sequence, struct tkb_bytes text,
	                    struct tkb_error *err);
	void *self; /**< given to on_signature() */
};

/**
 * Give each signature that `key` made for a record of `ref`, as a Sigstore
 * bundle, version 0.3, for other verifiers. The bundle has a DSSE envelope, and
 * the SHA-256 of the public key's PEM as a hint.
 *
 * @param key  public or private
 * @return 0; TKB_MISS (the ref has no record); what on_signature() returned, or
 *         a failure of the remote
 */
TKB_API TKB_NODISCARD int tkb_signatures_export(
	struct tkb_remote *remote, const char *ref, const struct tkb_key *key,
	const struct tkb_signature_visitor *visitor, struct tkb_error *err);

/**
 * Add a signature from a Sigstore bundle, which any program may have written.
 * The signature must be for a record that `ref` has, and for that ref. Logs and
 * certificates in the bundle are ignored.
 *
 * @param text  the Sigstore bundle
 * @param key   the key that must have signed
 * @return 0; TKB_ERR_CORRUPT (no such bundle); TKB_ERR_UNTRUSTED (of another
 *         key, ref or record); TKB_MISS (the ref has no record), or a failure
 *         of the remote
 */
TKB_API TKB_NODISCARD int tkb_signature_import(struct tkb_remote *remote,
                                               const char *ref,
                                               struct tkb_bytes text,
                                               const struct tkb_key *key,
                                               struct tkb_error *err);

/**
 * Judge the records of a ref by the remote's policy, and call on_trusted() or
 * on_untrusted() of struct tkb_trust for each. Nothing of a bundle is fetched.
 *
 * @param untrusted_out  receives the number of records that a pull would not
 *                       use
 * @return 0; TKB_MISS (the ref has no record); TKB_ERR_UNTRUSTED (the remote
 *         has no valid list of what is revoked, or an older state of the ref
 *         than was seen); TKB_ERR_INVALID (no policy), or a failure of the
 *         remote
 */
TKB_API TKB_NODISCARD int tkb_ref_judge(struct tkb_remote *remote,
                                        const char *ref,
                                        uint64_t *untrusted_out,
                                        struct tkb_error *err);

/** What tkb_revoke() wrote. */
struct tkb_revoke_report {
	size_t struct_size;     /**< sizeof it, as the caller was built */
	uint64_t added_count;   /**< digests that were not revoked before */
	uint64_t revoked_count; /**< digests in the list */
	uint64_t sequence;      /**< sequence number of the list */
	bool is_new;            /**< the remote showed no list of these keys */
};

/**
 * Revoke the bundles, records, blobs or keys (see struct tkb_key_info) with
 * these digests: write a new list of what is revoked. It also has everything
 * from older lists that were signed by one of these keys, or by a key that may
 * revoke according to the remote's policy. A revocation is never taken back.
 * Without digests the list is only renewed, which must happen before it
 * expires.
 *
 * If the remote has a policy, it must let each of the keys revoke: no list is
 * replaced by one that does not count. A list cannot revoke these keys, nor
 * those that may revoke. If the policy has a memory, no list is written if the
 * remote shows an older one than was seen, or none; what is written is
 * remembered.
 *
 * @param signing  the keys, and how long the list holds; its stage is ignored
 * @param report   may be NULL
 * @return 0; TKB_ERR_TOO_LARGE (the list would have more than 4096 digests);
 *         TKB_ERR_UNTRUSTED (a newer list was seen: what it revokes would be
 *         lost); TKB_ERR_INVALID (the policy does not let a key revoke, or a digest is
 *         of a key that may), or a failure of the remote
 */
TKB_API TKB_NODISCARD int tkb_revoke(struct tkb_remote *remote,
                                     const struct tkb_digest *digests,
                                     size_t count,
                                     const struct tkb_signing *signing,
                                     struct tkb_revoke_report *report,
                                     struct tkb_error *err);

/**
 * List what is revoked according to the remote's policy: see struct tkb_trust.
 *
 * @param on_digest  called for each digest, in ascending order; a result other
 *                   than 0 ends the call
 * @return 0, also if no key of the policy may revoke; TKB_ERR_UNTRUSTED (the
 *         remote has no valid list); TKB_ERR_INVALID (no policy), a failure of
 *         the remote, or what on_digest() returned
 */
TKB_API TKB_NODISCARD int tkb_revoked(
	struct tkb_remote *remote,
	int (*on_digest)(void *self, const struct tkb_digest *digest,
                         struct tkb_error *err),
	void *self, struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif
