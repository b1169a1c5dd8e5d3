/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/sigstore.h"

#include "base/digest.h"
#include "remote/net/base64.h"

#define MEDIA_TYPE "application/vnd.dev.sigstore.bundle.v0.3+json"

static int hint_of(const struct tkb_key *key, struct tkb_digest *out,
                   struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf pem = TKB_BUF_INIT(TKB_KIB);
	const struct tkb_sink sink = tkb_buf_sink(&pem);
	int rc;

	rc = tkb_key_write_public(key, &sink, err);
	return rc == 0 ? tkb_digest_of(tkb_buf_bytes(&pem), out, err) : rc;
}

static void add_envelope(struct tkb_bytes payload,
                         const struct tkb_envelope_signature *signature,
                         struct tkb_buf *out)
{
	tkb_buf_add_text(out, "{\"payload\":\"");
	tkb_base64_add(payload, out);
	tkb_buf_add_text(out, "\",\"payloadType\":\"" TKB_PAYLOAD_TYPE
	                      "\",\"signatures\":[");
	tkb_json_add_digest(out, "{\"keyid\":", &signature->key);
	tkb_buf_add_text(out, ",\"sig\":\"");
	tkb_base64_add(signature->bytes, out);
	tkb_buf_add_text(out, "\"}]}");
}

int tkb_sigstore_write(const struct tkb_envelope *envelope,
                       const struct tkb_envelope_signature *signature,
                       const struct tkb_key *key, struct tkb_buf *out,
                       struct tkb_error *err)
{
	struct tkb_digest hint;
	int rc;

	rc = hint_of(key, &hint, err);
	if (rc < 0)
		return rc;
	tkb_buf_add_text(out, "{\"dsseEnvelope\":");
	add_envelope(envelope->payload, signature, out);
	tkb_buf_add_text(out, ",\"mediaType\":\"" MEDIA_TYPE
	                      "\",\"verificationMaterial\":{\"publicKey\":");
	tkb_json_add_digest(out, "{\"hint\":", &hint);
	tkb_buf_add_text(out, "},\"tlogEntries\":[]}}\n");
	return tkb_buf_check(out, err);
}

/* A payload and its signature. */
struct signature {
	struct tkb_bytes bytes;
};

struct dsse {
	struct tkb_bytes payload;
	struct signature *signatures;
	size_t signature_count;
};

static const struct tkb_schema_field signature_fields[] = {
	TKB_FIELD_CUSTOM("sig", offsetof(struct signature, bytes),
	                 tkb_envelope_read_bytes),
};

static const struct tkb_schema_list signature_list = {
	TKB_ITEMS_OBJECT(struct signature, TKB_OBJECT_OF(signature_fields),
	                 "a signature is not an object"),
	.none = "there is no signature",
	.limit = 1,
	.too_many = "there is more than one signature",
};

static const struct tkb_schema_field dsse_fields[] = {
	TKB_FIELD_CUSTOM("payload", offsetof(struct dsse, payload),
	                 tkb_envelope_read_bytes),
	TKB_FIELD_CONSTANT("payloadType", TKB_PAYLOAD_TYPE,
	                   "the payload is of another type"),
	TKB_FIELD_LIST("signatures", struct dsse, signatures, signature_count,
	               &signature_list, "signatures are not a list"),
};

static const struct tkb_schema_field fields[] = {
	TKB_FIELD_OBJECT("dsseEnvelope", 0, TKB_OBJECT_OF(dsse_fields),
	                 "it has no DSSE envelope"),
	TKB_FIELD_CONSTANT("mediaType", MEDIA_TYPE,
	                   "it is not a Sigstore bundle, version 0.3"),
};

int tkb_sigstore_read(struct tkb_bytes text, const struct tkb_key *key,
                      struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	const struct tkb_schema_document document = {
		.text = text,
		.name = "the Sigstore bundle",
		.arena = &arena,
	};
	struct dsse dsse = { .signature_count = 0 };
	struct tkb_envelope_signature signature = { .key = key->id };
	struct tkb_envelope envelope = { .signatures = &signature,
		                         .signature_count = 1 };
	bool is_good = false;
	int rc;

	if (text.size > TKB_SIGSTORE_LIMIT)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the Sigstore bundle is too large");
	rc = tkb_schema_read(&document, TKB_OBJECT_OF(fields), &dsse, err);
	if (rc < 0)
		return rc;
	signature.bytes = dsse.signatures[0].bytes;
	envelope.payload = dsse.payload;
	rc = tkb_envelope_check(&envelope, key, &is_good, err);
	if (rc == 0 && !is_good)
		rc = tkb_fail(err, TKB_ERR_UNTRUSTED,
		              "the key has not signed the Sigstore bundle");
	if (rc < 0)
		return rc;
	add_envelope(envelope.payload, &signature, out);
	return tkb_buf_check(out, err);
}
