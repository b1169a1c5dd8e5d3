/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_IMAGE_H
#define TKBUNDLE_IMAGE_H

#include <tkbundle/remote.h>
#include <tkbundle/trust.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/image.h
 * Images of a registry: manifests, and the blobs that they name, as every
 * container runtime reads them. What they mean is the caller's business.
 *
 *     rc = tkb_image_put(remote, &manifest, &is_listed, &err);
 *     rc = tkb_image_get(remote, "latest", &sink, &err);
 *     rc = tkb_remote_get(remote, &digest_of_a_layer, &sink, &err);
 *
 * Of several tiers, the first that keeps images is asked. A name is a tag, or
 * "sha256:" and 64 hexadecimal digits; any other is TKB_ERR_INVALID. Where no tier
 * keeps images, all of these return TKB_ERR_UNSUPPORTED.
 */

/** The bytes that a manifest may have, by the distribution protocol. */
#define TKB_IMAGE_MANIFEST_LIMIT (4 * 1024 * 1024)

/**
 * The digest under which an image's manifest names a blob: its SHA-256.
 *
 * @return 0, TKB_ERR_NOMEM, or what its source returned
 */
TKB_API TKB_NODISCARD int tkb_image_digest(const struct tkb_blob *blob,
                                           struct tkb_digest *out,
                                           struct tkb_error *err);

/** The media type of a signature, a bundle of Sigstore's. */
#define TKB_IMAGE_SIGNATURE "application/vnd.dev.sigstore.bundle.v0.3+json"

/**
 * Sign an image: give `sink`, in one call for each key, a bundle of Sigstore's with a
 * statement about the image's manifest. To store it is the caller's business: as the
 * layer of a manifest whose subject is the image's.
 *
 * @param manifest  its digest
 * @param name      of the image, which the statement has
 * @return 0; TKB_ERR_INVALID, TKB_ERR_IO (OpenSSL cannot), TKB_ERR_TOO_LARGE (the
 *         name), TKB_ERR_NOMEM, or what the sink returned
 */
TKB_API TKB_NODISCARD int tkb_image_sign(const struct tkb_digest *manifest,
                                         const char *name,
                                         const struct tkb_signing *signing,
                                         const struct tkb_sink *sink,
                                         struct tkb_error *err);

/** An image that is judged. */
struct tkb_image_question {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const struct tkb_digest *manifest; /**< its digest */
	const char *tag; /**< by which it was found; NULL: by its digest */
	/** Bundles of Sigstore's, as they lie beside it; other bytes are
	    passed over. */
	const struct tkb_bytes *signatures;
	size_t signature_count;
};

/**
 * Does the remote's policy trust an image? A signature counts as one of a record does:
 * of a key that may publish, or promote to, the ref that the image's tag stands for, and
 * for the tag by which it was found, in whatever repository. What is revoked, and what
 * was seen, is asked, too.
 *
 * @return 0, also where it is used all the same: the policy's owner is told of that;
 *         TKB_ERR_UNTRUSTED (a sentence says why); TKB_ERR_INVALID (there is no policy),
 *         TKB_ERR_NOMEM, or a failure of the remote
 */
TKB_API TKB_NODISCARD int tkb_image_judge(
	struct tkb_remote *remote, const struct tkb_image_question *question,
	struct tkb_error *err);

/**
 * Store an image: its blobs that are not there, and then its manifest. Whoever
 * reads the tag sees the former image or this one.
 *
 * @param manifest   not kept. Its digest is not checked against a name that is one:
 *                   a registry does that
 * @param lists_out  receives whether the registry itself lists the manifest among
 *                   those of its subject; may be NULL
 * @return 0, TKB_ERR_INVALID, TKB_ERR_UNSUPPORTED, TKB_ERR_TOO_LARGE, or a failure of
 *         the remote
 */
TKB_API TKB_NODISCARD int tkb_image_put(
	struct tkb_remote *remote, const struct tkb_image_manifest *manifest,
	bool *lists_out, struct tkb_error *err);

/**
 * Send the manifest of this name to `sink`. One that is named by its digest has
 * it.
 *
 * @return 0; TKB_MISS (there is none); TKB_ERR_CORRUPT (it has another digest);
 *         TKB_ERR_TOO_LARGE, TKB_ERR_INVALID, TKB_ERR_UNSUPPORTED, what the sink
 *         returned, or a failure of the remote
 */
TKB_API TKB_NODISCARD int tkb_image_get(struct tkb_remote *remote,
                                        const char *name,
                                        const struct tkb_sink *sink,
                                        struct tkb_error *err);

/**
 * Send the index of those manifests to `sink` whose subject is the one with this
 * digest.
 *
 * @return 0; TKB_MISS (the registry keeps no such lists; by the distribution
 *         protocol, the index has the tag "sha256-" and the digest then); or as
 *         tkb_image_get()
 */
TKB_API TKB_NODISCARD int tkb_image_referrers(struct tkb_remote *remote,
                                              const struct tkb_digest *subject,
                                              const struct tkb_sink *sink,
                                              struct tkb_error *err);

#ifdef __cplusplus
}
#endif

#endif
