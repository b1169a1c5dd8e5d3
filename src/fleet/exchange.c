/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/signatures.h>

#include "records/records.h"
#include "trust/sigstore.h"

/* The records and signatures of a ref that are imported or exported. */
struct exchange {
	const struct tkb_key *key;
	struct tkb_record_list records;
	struct tkb_envelopes envelopes;
};

static void exchange_end(struct exchange *exchange)
{
	tkb_record_list_release(&exchange->records);
	tkb_envelopes_release(&exchange->envelopes);
}

/* TKB_MISS: the ref has no record. */
static int begin_exchange(struct exchange *exchange, struct tkb_remote *remote,
                          const char *ref, struct tkb_error *err)
{
	int rc;

	rc = tkb_record_list_read(remote, ref, false, &exchange->records, err);
	if (rc == 0)
		rc = tkb_envelopes_read(remote, ref, &exchange->envelopes, err);
	return rc == 0 && exchange->records.count == 0 ? TKB_MISS : rc;
}

/*
 * Find the record that the signature is for; NULL if the ref has no such
 * record.
 */
static int find_record(const struct exchange *exchange,
                       const struct tkb_envelope *envelope,
                       const struct tkb_record **out, struct tkb_error *err)
{
	*out = NULL;
	for (size_t i = 0; i < exchange->records.count; i++) {
		const struct tkb_record *record = &exchange->records.items[i];
		struct tkb_subject subject;
		const int rc = tkb_record_subject(record, &subject, err);

		if (rc < 0)
			return rc;
		if (tkb_envelope_is_of(envelope, &subject)) {
			*out = record;
			return 0;
		}
	}
	return 0;
}

/* Export the key's signatures of this envelope. */
static int export_signatures(const struct exchange *exchange,
                             const struct tkb_envelope *envelope,
                             const struct tkb_record *record,
                             const struct tkb_signature_visitor *visitor,
                             struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < envelope->signature_count && rc == 0; i++) {
		TKB_AUTO(tkb_buf_release)
		struct tkb_buf text = TKB_BUF_INIT(TKB_SIGSTORE_LIMIT);

		if (!tkb_digest_equal(&envelope->signatures[i].key,
		                      &exchange->key->id))
			continue;
		rc = tkb_sigstore_write(envelope, &envelope->signatures[i],
		                        exchange->key, &text, err);
		if (rc == 0)
			rc = visitor->on_signature(visitor->self,
			                           &record->digest,
			                           envelope->statement.sequence,
			                           tkb_buf_bytes(&text), err);
	}
	return rc;
}

int tkb_signatures_export(struct tkb_remote *remote, const char *ref,
                          const struct tkb_key *key,
                          const struct tkb_signature_visitor *visitor,
                          struct tkb_error *err)
{
	TKB_AUTO(exchange_end) struct exchange exchange = { .key = key };
	int rc;

	rc = begin_exchange(&exchange, remote, ref, err);
	for (size_t i = 0; i < exchange.envelopes.count && rc == 0; i++) {
		const struct tkb_envelope *envelope =
			&exchange.envelopes.items[i];
		const struct tkb_record *record = NULL;
		bool is_good = false;

		rc = find_record(&exchange, envelope, &record, err);
		if (rc == 0 && record != NULL)
			rc = tkb_envelope_check(envelope, key, &is_good, err);
		if (rc == 0 && is_good)
			rc = export_signatures(&exchange, envelope, record,
			                       visitor, err);
	}
	return rc;
}

int tkb_signature_import(struct tkb_remote *remote, const char *ref,
                         struct tkb_bytes text, const struct tkb_key *key,
                         struct tkb_error *err)
{
	TKB_AUTO(exchange_end) struct exchange exchange = { .key = key };
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf own = TKB_BUF_INIT(TKB_ENVELOPE_LIMIT);
	struct tkb_envelope envelope = { .is_known = false };
	const struct tkb_record *record = NULL;
	int rc;

	rc = tkb_sigstore_read(text, key, &own, err);
	if (rc == 0)
		rc = tkb_envelope_read(tkb_buf_bytes(&own), &arena, &envelope,
		                       err);
	if (rc == 0)
		rc = begin_exchange(&exchange, remote, ref, err);
	if (rc != 0)
		return rc;
	if (strcmp(envelope.statement.ref, ref) != 0)
		return tkb_fail(err, TKB_ERR_UNTRUSTED,
		                "it is a signature for ref '%.200s'",
		                envelope.statement.ref);
	rc = find_record(&exchange, &envelope, &record, err);
	if (rc < 0)
		return rc;
	if (record == NULL)
		return tkb_fail(err, TKB_ERR_UNTRUSTED,
		                "it is a signature of a record that ref "
		                "'%.200s' does not have",
		                ref);
	return tkb_envelopes_add(remote, ref, tkb_buf_bytes(&own), err);
}
