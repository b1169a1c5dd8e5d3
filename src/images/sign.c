/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/image.h>

#include "base/arena.h"
#include "base/buf.h"
#include "images/statement.h"
#include "trust/date.h"
#include "trust/envelope.h"
#include "trust/signer.h"
#include "trust/sigstore.h"

/*
 * Write the signature of an image as Sigstore does: in a bundle, a DSSE
 * envelope of a statement about the image's manifest.
 */

static void write_statement(const struct tkb_digest *manifest, const char *name,
                            uint64_t lifetime_s, struct tkb_buf *out)
{
	const uint64_t now_s = tkb_time_now();

	tkb_image_statement_write(manifest, name, now_s + lifetime_s, now_s,
	                          out);
}

static int write_bundle(const struct tkb_key *key, struct tkb_bytes statement,
                        struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_ENVELOPE_LIMIT);
	struct tkb_envelope envelope = { 0 };
	int rc;

	rc = tkb_envelope_seal(statement, &key, 1, &text, err);
	if (rc == 0)
		rc = tkb_buf_check(&text, err);
	if (rc == 0)
		rc = tkb_envelope_open(tkb_buf_bytes(&text), &arena, &envelope,
		                       err);
	if (rc == 0)
		rc = tkb_sigstore_write(&envelope, envelope.signatures, key,
		                        out, err);
	return rc < 0 ? rc : tkb_buf_check(out, err);
}

int tkb_image_sign(const struct tkb_digest *manifest, const char *name,
                   const struct tkb_signing *signing,
                   const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf statement = TKB_BUF_INIT(TKB_STATEMENT_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf bundle = TKB_BUF_INIT(TKB_SIGSTORE_LIMIT);
	struct tkb_signing own;
	int rc;

	rc = tkb_signing_read(&own, signing, err);
	if (rc < 0)
		return rc;
	write_statement(manifest, name, own.lifetime_s, &statement);
	rc = tkb_buf_check(&statement, err);
	for (size_t i = 0; i < own.key_count && rc == 0; i++) {
		tkb_buf_reset(&bundle);
		rc = write_bundle(own.keys[i], tkb_buf_bytes(&statement),
		                  &bundle, err);
		if (rc == 0)
			rc = sink->write(sink->self, tkb_buf_bytes(&bundle),
			                 err);
	}
	return rc;
}
