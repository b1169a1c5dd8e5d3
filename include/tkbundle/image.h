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
 * Images of a registry, as every container runtime reads them: manifests, and
 * the blobs that they name. These functions do not interpret their contents.
 *
 *     rc = tkb_image_put(remote, &manifest, &is_listed, &err);
 *     rc = tkb_image_get(remote, "latest", &sink, &err);
 *     rc = tkb_remote_get(remote, &digest_of_a_layer, &sink, &err);
 *
 * Of several tiers, the first that keeps images is used. If none does, these
 * functions return TKB_ERR_UNSUPPORTED. The name of an image is a tag, or
 * "sha256:" and 64 hexadecimal digits; any other is TKB_ERR_INVALID.
 */

/** The largest manifest, in bytes, that the distribution protocol allows. */
#define TKB_IMAGE_MANIFEST_LIMIT (4 * 1024 * 1024)

/**
 * The digest under which an image's manifest names a blob: its SHA-256.
 *
 * @return 0, TKB_ERR_NOMEM, or what the blob's source returned
 */
TKB_API TKB_NODISCARD int tkb_image_digest(const struct tkb_blob *blob,
                                           struct tkb_digest *out,
                                           struct tkb_error *err);

/** The media type of a signature: a Sigstore bundle. */
#define TKB_IMAGE_SIGNATURE "application/vnd.dev.sigstore.bundle.v0.3+json"

/**
 * Sign an image: write to `sink`, in one call for each key, a Sigstore bundle
 * with a statement about the image's manifest. The caller stores each as the
 * layer of a manifest whose subject is the image's manifest.
 *
 * @param manifest  digest of the image's manifest
 * @param name      of the image, for the statement
 * @return 0; TKB_ERR_INVALID, TKB_ERR_IO (OpenSSL cannot), TKB_ERR_TOO_LARGE
 *         (the name), TKB_ERR_NOMEM, or what the sink returned
 */
TKB_API TKB_NODISCARD int tkb_image_sign(const struct tkb_digest *manifest,
                                         const char *name,
                                         const struct tkb_signing *signing,
                                         const struct tkb_sink *sink,
                                         struct tkb_error *err);

/** An image that tkb_image_judge() judges. */
struct tkb_image_question {
	size_t struct_size; /**< sizeof it, as the caller was built */
	const struct tkb_digest *manifest; /**< its digest */
	const char *tag; /**< the tag by which the image was found; NULL: by
	                      its digest */
	/**
	 * Sigstore bundles that are stored with the image; anything else is
	 * ignored.
	 */
	const struct tkb_bytes *signatures;
	size_t signature_count;
};

/**
 * Does the remote's policy trust an image? A signature counts under the same
 * conditions as that of a record: its key may publish the ref that the image's
 * tag stands for, or promote to it; the signature was made for this tag, in any
 * repository; neither the key nor the image is revoked; and the signature is
 * not older than one that was seen before.
 *
 * @return 0, also for an untrusted image if the policy lets it be used: then
 *         on_untrusted() of struct tkb_trust is told; TKB_ERR_UNTRUSTED (the
 *         message says why); TKB_ERR_INVALID (there is no policy),
 *         TKB_ERR_NOMEM, or a failure of the remote
 */
TKB_API TKB_NODISCARD int tkb_image_judge(
	struct tkb_remote *remote, const struct tkb_image_question *question,
	struct tkb_error *err);

/**
 * Store an image: the blobs that the registry lacks, and then the manifest. A
 * reader of the tag sees either the former image or this one.
 *
 * @param manifest       not kept. If its name is a digest, only the registry
 *                       checks that
 * @param is_listed_out  receives whether the registry itself lists the manifest
 *                       among those of its subject; may be NULL
 * @return 0, TKB_ERR_INVALID, TKB_ERR_UNSUPPORTED, TKB_ERR_TOO_LARGE, or a
 *         failure of the remote
 */
TKB_API TKB_NODISCARD int tkb_image_put(
	struct tkb_remote *remote, const struct tkb_image_manifest *manifest,
	bool *is_listed_out, struct tkb_error *err);

/**
 * Send the manifest called `name` to `sink`. If the name is a digest, the
 * manifest was checked against it.
 *
 * @return 0; TKB_MISS (there is none); TKB_ERR_CORRUPT (it has another digest);
 *         TKB_ERR_TOO_LARGE, TKB_ERR_INVALID, TKB_ERR_UNSUPPORTED, what the
 *         sink returned, or a failure of the remote
 */
TKB_API TKB_NODISCARD int tkb_image_get(struct tkb_remote *remote,
                                        const char *name,
                                        const struct tkb_sink *sink,
                                        struct tkb_error *err);

/**
 * Send the index of the manifests whose subject has this digest to `sink`.
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
