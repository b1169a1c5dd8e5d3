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
 * Sign what a ref holds already, and promote it to another ref.
 *
 *     const struct tkb_sign_options options = { .struct_size = sizeof(options),
 *                                               .signing = &signing };
 *
 *     rc = tkb_ref_sign(remote, "model/h100", &options, NULL, &err);
 *     rc = tkb_ref_promote(remote, "model/h100", "prod/h100", &options, NULL,
 *                          &err);
 */

/** How to sign what is there. Zero means the default. */
struct tkb_sign_options {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const struct tkb_signing *signing; /**< wanted */
	bool is_renewal; /**< sign anew what these keys have signed, too */
	bool is_dry_run; /**< only count */
	/**
	 * Asked about each record that would be signed, with its blob, which was fetched, and has the bundle that the record names. NULL:
	 * all are signed. In a dry run, `signing` may be NULL then.
	 *
	 * @param blob  lent for the call; NULL: it is gone, or damaged
	 * @return 0: sign it; TKB_MISS: do not; or a negative enum tkb_status, which
	 *         ends the call
	 */
	int (*vouch)(void *self, const struct tkb_digest *record,
	             const struct tkb_source *blob, struct tkb_error *err);
	void *self; /**< given to vouch() */
};

/** What became of a ref's records. */
struct tkb_sign_report {
	size_t struct_size;        /**< sizeof it, as the caller was built */
	uint64_t signed_count;     /**< they have a new signature */
	uint64_t present_count;    /**< these keys had signed them before */
	uint64_t unreadable_count; /**< damaged, or of a newer tkbundle */
	uint64_t gone_count;       /**< their blob is gone: not promoted */
	uint64_t untrusted_count;  /**< by the remote's policy: not promoted */
	uint64_t refused_count;    /**< by vouch(): not signed */
};

/**
 * Sign the records that `ref` has. Whoever signs vouches for them: the policy of
 * the remote is not asked.
 *
 * @param report  filled in on 0 and TKB_ERR_PARTIAL; may be NULL
 * @return 0; TKB_ERR_PARTIAL (a record cannot be read, or vouch() did not
 *         vouch for it: the others are signed); what vouch() returned;
 *         TKB_MISS (there is none); TKB_ERR_INVALID, TKB_ERR_TOO_LARGE (the
 *         ref's name is too long for signatures), or a failure of the remote
 */
TKB_API TKB_NODISCARD int tkb_ref_sign(struct tkb_remote *remote,
                                       const char *ref,
                                       const struct tkb_sign_options *options,
                                       struct tkb_sign_report *report,
                                       struct tkb_error *err);

/**
 * Add the records of ref `from`, which the remote's policy trusts, to ref `to`, and
 * sign them for that: by the stage of `options`. No blob is fetched or uploaded. What
 * `to` holds stays.
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

/** What tkb_signatures_export() tells. */
struct tkb_signature_visitor {
	/**
	 * Called for each signature, with the record that it is of.
	 *
	 * @param text  a bundle of Sigstore's, lent for the call
	 * @return 0, or a negative enum tkb_status, which ends the call
	 */
	int (*on_signature)(void *self, const struct tkb_digest *record,
	                    uint64_t sequence, struct tkb_bytes text,
	                    struct tkb_error *err);
	void *self; /**< given to on_signature() */
};

/**
 * Tell the signatures of what `ref` holds that `key` has made, each as a bundle of
 * Sigstore's, version 0.3: a DSSE envelope, with a hint to the public key, which is the
 * SHA-256 of its PEM. Others verify them.
 *
 * @param key  public or private
 * @return 0; TKB_MISS (the ref has no record); what on_signature() returned, or a
 *         failure of the remote
 */
TKB_API TKB_NODISCARD int tkb_signatures_export(
	struct tkb_remote *remote, const char *ref, const struct tkb_key *key,
	const struct tkb_signature_visitor *visitor, struct tkb_error *err);

/**
 * Add a signature that came as a bundle of Sigstore's, whoever wrote that: of a record
 * that `ref` has, for that ref. Logs and certificates in it are not looked at.
 *
 * @param text  of the bundle
 * @param key   that must have signed it
 * @return 0; TKB_ERR_CORRUPT (it is something else); TKB_ERR_UNTRUSTED (of another
 *         key, ref or record); TKB_MISS (the ref has no record), or a failure of the
 *         remote
 */
TKB_API TKB_NODISCARD int tkb_signature_import(struct tkb_remote *remote,
                                               const char *ref,
                                               struct tkb_bytes text,
                                               const struct tkb_key *key,
                                               struct tkb_error *err);

/**
 * Hold the records of a ref against the remote's policy, which is told of each: see
 * on_trusted and on_untrusted of struct tkb_trust. Nothing of a bundle is fetched.
 *
 * @param untrusted_out  receives how many would not be pulled
 * @return 0; TKB_MISS (the ref has no record); TKB_ERR_UNTRUSTED (there is no list of
 *         what is revoked that counts, or the ref is older than it was seen);
 *         TKB_ERR_INVALID (no policy), or a failure of the remote
 */
TKB_API TKB_NODISCARD int tkb_ref_judge(struct tkb_remote *remote,
                                        const char *ref,
                                        uint64_t *untrusted_out,
                                        struct tkb_error *err);

/** What tkb_revoke() has written. */
struct tkb_revoke_report {
	size_t struct_size;     /**< sizeof it, as the caller was built */
	uint64_t added_count;   /**< digests that were not revoked before */
	uint64_t revoked_count; /**< digests of the list */
	uint64_t sequence;      /**< of the list */
};

/**
 * Write a new list of what is revoked: what `digests` are of, bundles, records, blobs
 * or keys (struct tkb_key_info), besides what older lists revoke that one of the
 * keys, or one that may revoke by the remote's policy, has signed. Without digests,
 * the list is renewed, which must happen before it ends. Nothing that was revoked is
 * ever taken back.
 *
 * @param signing  who signs, and for how long; its stage is not asked
 * @param report   may be NULL
 * @return 0; TKB_ERR_TOO_LARGE (it would have more than 4096 digests);
 *         TKB_ERR_INVALID, or a failure of the remote
 */
TKB_API TKB_NODISCARD int tkb_revoke(struct tkb_remote *remote,
                                     const struct tkb_digest *digests,
                                     size_t count,
                                     const struct tkb_signing *signing,
                                     struct tkb_revoke_report *report,
                                     struct tkb_error *err);

/**
 * Tell what is revoked, by the remote's policy: see struct tkb_trust.
 *
 * @param on_digest  called for each digest, in their order; ends the call unless it
 *                   returns 0
 * @return 0, also where no key of the policy may revoke; TKB_ERR_UNTRUSTED (there is
 *         no list that counts); TKB_ERR_INVALID (no policy), a failure of the remote,
 *         or what on_digest() returned
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
