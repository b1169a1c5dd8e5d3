/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/envelope.h"
#include "trust/revocations.h"
#include "trust/sigstore.h"
#include "fuzz.h"

/*
 * What lies beside records, and keys: the first byte says what the rest is. Whatever is
 * accepted means the same when it is written again, and nobody has signed it.
 */

enum {
	LIMIT = 4 * 1024 * 1024
};

/* A key that has signed nothing. */
static const char stranger[] =
	"-----BEGIN PUBLIC KEY-----\n"
	"MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
	"-----END PUBLIC KEY-----\n";

static void check_rc(int rc, const struct tkb_error *err)
{
	MUST(rc == 0 || rc == TKB_ERR_CORRUPT || rc == TKB_ERR_INVALID ||
	     rc == TKB_ERR_UNTRUSTED);
	MUST(rc == 0 || (err->status == rc && err->message[0] != '\0'));
}

static void read_statement(struct tkb_bytes text)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_buf_release) struct tkb_buf once = TKB_BUF_INIT(LIMIT);
	TKB_AUTO(tkb_buf_release) struct tkb_buf twice = TKB_BUF_INIT(LIMIT);
	struct tkb_statement statement = { .ref = NULL };
	struct tkb_error err = { 0 };
	const int rc = tkb_statement_read(text, &arena, &statement, &err);

	check_rc(rc, &err);
	if (rc < 0)
		return;
	MUST(statement.ref != NULL &&
	     statement.target_count <= TKB_STATEMENT_TARGETS);
	MUST(tkb_statement_write(&statement, &once, NULL) == 0);
	MUST(tkb_statement_read(tkb_buf_bytes(&once), &arena, &statement,
	                        NULL) == 0);
	MUST(tkb_statement_write(&statement, &twice, NULL) == 0);
	MUST(tkb_bytes_equal(tkb_buf_bytes(&once), tkb_buf_bytes(&twice)));
}

static void read_list(struct tkb_bytes text)
{
	TKB_AUTO(tkb_revocation_release)
	struct tkb_revocation list = { .sequence = 0 };
	TKB_AUTO(tkb_revocation_release)
	struct tkb_revocation again = { .sequence = 0 };
	TKB_AUTO(tkb_buf_release) struct tkb_buf written = TKB_BUF_INIT(LIMIT);
	struct tkb_error err = { 0 };
	const int rc = tkb_revocation_read(text, &list, &err);

	check_rc(rc, &err);
	if (rc < 0)
		return;
	MUST(list.digests.count <= TKB_REVOCATION_LIMIT);
	for (size_t i = 1; i < list.digests.count; i++)
		MUST(tkb_digest_compare(&list.digests.items[i - 1],
		                        &list.digests.items[i]) < 0);
	MUST(tkb_revocation_write(&list, &written, NULL) == 0);
	MUST(tkb_revocation_read(tkb_buf_bytes(&written), &again, NULL) == 0);
	MUST(again.sequence == list.sequence &&
	     again.expires_s == list.expires_s &&
	     again.digests.count == list.digests.count);
}

static void read_envelope(struct tkb_bytes text, const struct tkb_key *key)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	struct tkb_envelope envelope = { .is_known = false };
	struct tkb_error err = { 0 };
	bool is_good = false;
	const int rc = tkb_envelope_open(text, &arena, &envelope, &err);

	check_rc(rc, &err);
	if (rc < 0)
		return;
	MUST(envelope.signature_count > 0 &&
	     envelope.signature_count <= TKB_SIGNATURES_LIMIT);
	for (size_t i = 0; i < envelope.signature_count; i++)
		envelope.signatures[i].key = key->id;
	MUST(tkb_envelope_check(&envelope, key, &is_good, NULL) == 0);
	MUST(!is_good);
	read_statement(envelope.payload);
	read_list(envelope.payload);
}

static void read_sigstore(struct tkb_bytes text, const struct tkb_key *key)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf own = TKB_BUF_INIT(LIMIT);
	struct tkb_error err = { 0 };
	const int rc = tkb_sigstore_read(text, key, &own, &err);

	check_rc(rc, &err);
	MUST(rc < 0 && own.size == 0);
}

static void read_key(struct tkb_bytes text)
{
	struct tkb_key *key = NULL;
	struct tkb_error err = { 0 };
	const int rc = tkb_key_read(text, "a key", NULL, &key, &err);

	check_rc(rc, &err);
	MUST((rc == 0) == (key != NULL));
	tkb_key_close(key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tkb_bytes text = { data + 1, size == 0 ? 0 : size - 1 };
	struct tkb_key *key = NULL;

	if (size == 0)
		return 0;
	MUST(tkb_key_read(tkb_text(stranger), "a key", NULL, &key, NULL) == 0);
	switch (data[0]) {
	case 'e':
		read_envelope(text, key);
		break;
	case 'b':
		read_sigstore(text, key);
		break;
	case 's':
		read_statement(text);
		break;
	case 'l':
		read_list(text);
		break;
	default:
		read_key(text);
	}
	tkb_key_close(key);
	return 0;
}
