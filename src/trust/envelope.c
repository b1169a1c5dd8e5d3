/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/envelope.h"

#include "base/digest.h"
#include "text/schema.h"
#include "remote/net/base64.h"

/* Append the bytes that keys sign: DSSE's pre-authentication encoding (PAE). */
static void add_encoding(struct tkb_bytes payload, struct tkb_buf *out)
{
	tkb_print(out, "DSSEv1 %zu " TKB_PAYLOAD_TYPE " %zu ",
	          strlen(TKB_PAYLOAD_TYPE), payload.size);
	tkb_buf_add(out, payload);
}

static int add_signature(const struct tkb_key *key, struct tkb_bytes message,
                         const char *before, struct tkb_buf *out,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf signature = TKB_BUF_INIT(TKB_KIB);
	int rc;

	rc = tkb_key_sign(key, message, &signature, err);
	if (rc < 0)
		return rc;
	tkb_buf_add_text(out, before);
	tkb_json_add_digest(out, "{\"keyid\":", &key->id);
	tkb_buf_add_text(out, ",\"sig\":\"");
	tkb_base64_add(tkb_buf_bytes(&signature), out);
	tkb_buf_add_text(out, "\"}");
	return 0;
}

int tkb_envelope_seal(struct tkb_bytes payload,
                      const struct tkb_key *const *keys, size_t key_count,
                      struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf message = TKB_BUF_INIT(payload.size + TKB_KIB);
	int rc;

	add_encoding(payload, &message);
	rc = tkb_buf_check(&message, err);
	tkb_buf_add_text(out, "{\"payload\":\"");
	tkb_base64_add(payload, out);
	tkb_buf_add_text(out, "\",\"payloadType\":\"" TKB_PAYLOAD_TYPE
	                      "\",\"signatures\":[");
	for (size_t i = 0; i < key_count && rc == 0; i++)
		rc = add_signature(keys[i], tkb_buf_bytes(&message),
		                   i == 0 ? "" : ",", out, err);
	tkb_buf_add_text(out, "]}");
	return rc == 0 ? tkb_buf_check(out, err) : rc;
}

int tkb_envelope_make(const struct tkb_statement *statement,
                      const struct tkb_key *const *keys, size_t key_count,
                      struct tkb_buf *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf payload = TKB_BUF_INIT(TKB_STATEMENT_LIMIT);
	int rc;

	rc = tkb_statement_write(statement, &payload, err);
	if (rc < 0)
		return rc;
	return tkb_envelope_seal(tkb_buf_bytes(&payload), keys, key_count, out,
	                         err);
}

int tkb_envelope_read_bytes(struct tkb_schema_reader *reader, void *out,
                            struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf bytes = TKB_BUF_INIT(reader->document->text.size + 3);
	struct tkb_bytes *kept = out;
	int rc;

	if (reader->token.type != TKB_JSON_STRING ||
	    !tkb_base64_read(tkb_json_raw(&reader->json, &reader->token),
	                     &bytes))
		return tkb_schema_refuse(reader, "this is not base64", err);
	rc = tkb_buf_check(&bytes, err);
	if (rc < 0)
		return rc;
	kept->data = tkb_arena_string(reader->document->arena,
	                              tkb_buf_bytes(&bytes));
	kept->size = bytes.size;
	return kept->data == NULL ? tkb_fail_nomem(err) : 0;
}

static const struct tkb_schema_field signature_fields[] = {
	TKB_FIELD_DIGEST("keyid", struct tkb_envelope_signature, key),
	TKB_FIELD_CUSTOM("sig", offsetof(struct tkb_envelope_signature, bytes),
	                 tkb_envelope_read_bytes),
};

static const struct tkb_schema_list signature_list = {
	TKB_ITEMS_OBJECT(struct tkb_envelope_signature,
	                 TKB_CLOSED_OF(signature_fields),
	                 "a signature is not an object"),
	.none = "there is no signature",
	.limit = TKB_SIGNATURES_LIMIT,
	.too_many = "too many signatures",
};

static const struct tkb_schema_field fields[] = {
	TKB_FIELD_CUSTOM("payload", offsetof(struct tkb_envelope, payload),
	                 tkb_envelope_read_bytes),
	TKB_FIELD_CONSTANT("payloadType", TKB_PAYLOAD_TYPE,
	                   "the payload is of another type"),
	TKB_FIELD_LIST("signatures", struct tkb_envelope, signatures,
	               signature_count, &signature_list,
	               "signatures are not a list"),
};

int tkb_envelope_open(struct tkb_bytes text, struct tkb_arena *arena,
                      struct tkb_envelope *out, struct tkb_error *err)
{
	const struct tkb_schema_document document = {
		.text = text,
		.flags = TKB_JSON_CANONICAL,
		.name = "the envelope",
		.arena = arena,
	};
	struct tkb_envelope envelope = { .is_known = false };
	int rc;

	rc = tkb_schema_read(&document, TKB_CLOSED_OF(fields), &envelope, err);
	if (rc == 0)
		*out = envelope;
	return rc;
}

int tkb_envelope_read(struct tkb_bytes text, struct tkb_arena *arena,
                      struct tkb_envelope *out, struct tkb_error *err)
{
	struct tkb_envelope envelope = { .is_known = false };
	int rc;

	if (text.size > TKB_ENVELOPE_LIMIT)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the envelope is too large");
	rc = tkb_envelope_open(text, arena, &envelope, err);
	if (rc == 0)
		rc = tkb_statement_read(envelope.payload, arena,
		                        &envelope.statement, err);
	if (rc < 0)
		return rc;
	*out = envelope;
	out->is_known = true;
	return 0;
}

bool tkb_envelope_is_of(const struct tkb_envelope *envelope,
                        const struct tkb_subject *subject)
{
	const struct tkb_subject *own = &envelope->statement.subject;

	return envelope->is_known &&
	       tkb_digest_equal(&own->bundle, &subject->bundle) &&
	       tkb_digest_equal(&own->content, &subject->content);
}

int tkb_envelope_check(const struct tkb_envelope *envelope,
                       const struct tkb_key *key, bool *out,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf message = TKB_BUF_INIT(envelope->payload.size + TKB_KIB);
	bool is_good = false;
	int rc;

	add_encoding(envelope->payload, &message);
	rc = tkb_buf_check(&message, err);
	for (size_t i = 0; i < envelope->signature_count && rc == 0 && !is_good;
	     i++) {
		if (tkb_digest_equal(&envelope->signatures[i].key, &key->id))
			rc = tkb_key_check(key, tkb_buf_bytes(&message),
			                   envelope->signatures[i].bytes,
			                   &is_good, err);
	}
	if (rc == 0)
		*out = is_good;
	return rc;
}
