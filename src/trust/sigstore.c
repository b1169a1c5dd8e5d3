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
	const char *payload_type;
	struct signature *signatures;
	size_t signature_count;
};

struct bundle {
	const char *media_type;
	struct dsse dsse;
};

static const struct tkb_schema_field signature_fields[] = {
	{ .name = "sig",
	  .kind = TKB_SCHEMA_CUSTOM,
	  .offset = offsetof(struct signature, bytes),
	  .read = tkb_envelope_read_bytes },
};

static const struct tkb_schema signature_schema =
	TKB_SCHEMA_OF(signature_fields);

static const struct tkb_schema_list signature_list = {
	.item = { .kind = TKB_SCHEMA_OBJECT,
	          .schema = &signature_schema,
	          .missing = "a signature is not an object" },
	.item_size = sizeof(struct signature),
	.none = "there is no signature",
	.limit = 1,
	.too_many = "there is more than one signature",
};

static const struct tkb_schema_field dsse_fields[] = {
	{ .name = "payload",
	  .kind = TKB_SCHEMA_CUSTOM,
	  .offset = offsetof(struct dsse, payload),
	  .read = tkb_envelope_read_bytes },
	TKB_FIELD_TEXT("payloadType", struct dsse, payload_type,
	               tkb_envelope_is_payload_type,
	               "the payload is of another type"),
	TKB_FIELD_LIST("signatures", struct dsse, signatures, signature_count,
	               &signature_list, "signatures are not a list"),
};

static const struct tkb_schema dsse_schema = TKB_SCHEMA_OF(dsse_fields);

static bool is_media_type(const char *text)
{
	return strcmp(text, MEDIA_TYPE) == 0;
}

static const struct tkb_schema_field fields[] = {
	{ .name = "dsseEnvelope",
	  .kind = TKB_SCHEMA_OBJECT,
	  .offset = offsetof(struct bundle, dsse),
	  .schema = &dsse_schema,
	  .missing = "it has no DSSE envelope" },
	TKB_FIELD_TEXT("mediaType", struct bundle, media_type, is_media_type,
	               "it is not a Sigstore bundle, version 0.3"),
};

static const struct tkb_schema schema = TKB_SCHEMA_OF(fields);

int tkb_sigstore_read(struct tkb_bytes text, const struct tkb_key *key,
                      struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	const struct tkb_schema_document document = {
		.text = text,
		.name = "the Sigstore bundle",
		.arena = &arena,
	};
	struct bundle bundle = { .media_type = NULL };
	struct tkb_envelope_signature signature = { .key = key->id };
	struct tkb_envelope envelope = { .signatures = &signature,
		                         .signature_count = 1 };
	bool is_good = false;
	int rc;

	if (text.size > TKB_SIGSTORE_LIMIT)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the Sigstore bundle is too large");
	rc = tkb_schema_read(&document, &schema, &bundle, err);
	if (rc < 0)
		return rc;
	signature.bytes = bundle.dsse.signatures[0].bytes;
	envelope.payload = bundle.dsse.payload;
	rc = tkb_envelope_check(&envelope, key, &is_good, err);
	if (rc == 0 && !is_good)
		rc = tkb_fail(err, TKB_ERR_UNTRUSTED,
		              "the key has not signed the Sigstore bundle");
	if (rc < 0)
		return rc;
	add_envelope(envelope.payload, &signature, out);
	return tkb_buf_check(out, err);
}
