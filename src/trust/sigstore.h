/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TRUST_SIGSTORE_H
#define TKB_TRUST_SIGSTORE_H

/*
 * One signature of an envelope as a Sigstore bundle, v0.3, for other programs:
 *
 *     {"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json",
 *      "verificationMaterial":{"publicKey":{"hint":"..."},"tlogEntries":[]},
 *      "dsseEnvelope":{"payload":"<base64>",
 *                      "payloadType":"application/vnd.in-toto+json",
 *                      "signatures":[{"sig":"<base64>","keyid":"<64 digits>"}]}}
 *
 * The hint is the SHA-256 of the key's PEM. No transparency log is used.
 */

#include "trust/envelope.h"

enum {
	TKB_SIGSTORE_LIMIT = 256 * 1024 /* bytes */
};

/* Append a bundle with `signature`, which was made with `key`. */
TKB_NODISCARD int tkb_sigstore_write(
	const struct tkb_envelope *envelope,
	const struct tkb_envelope_signature *signature,
	const struct tkb_key *key, struct tkb_buf *out, struct tkb_error *err);

/*
 * Read a Sigstore bundle, whose JSON need not be canonical, and append its
 * envelope, which `key` must have signed. TKB_ERR_CORRUPT: it is not such a
 * bundle; TKB_ERR_UNTRUSTED: it is not signed by `key`.
 */
TKB_NODISCARD int tkb_sigstore_read(struct tkb_bytes text,
                                    const struct tkb_key *key,
                                    struct tkb_buf *out, struct tkb_error *err);

#endif
