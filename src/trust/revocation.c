/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/revocations.h"

#include "text/schema.h"
#include "trust/date.h"

#define NAME "revoked"

void tkb_revocation_release(struct tkb_revocation *list)
{
	tkb_digests_release(&list->digests);
}

int tkb_revocation_write(const struct tkb_revocation *list, struct tkb_buf *out,
                         struct tkb_error *err)
{
	char expires[TKB_TIME_TEXT_SIZE];

	tkb_time_text(list->expires_s, expires);
	tkb_buf_add_text(out, "{\"_type\":\"" TKB_STATEMENT_TYPE
	                      "\",\"predicate\":{");
	tkb_json_add_text(out, "\"expires\":", expires);
	tkb_json_add_number(out, ",\"sequence\":", list->sequence);
	tkb_buf_add_text(out, "},\"predicateType\":\"" TKB_REVOCATION_TYPE
	                      "\",\"subject\":[");
	for (size_t i = 0; i < list->digests.count; i++) {
		tkb_json_add_digest(out,
		                    i == 0 ? "{\"digest\":{\"sha256\":"
		                           : ",{\"digest\":{\"sha256\":",
		                    &list->digests.items[i]);
		tkb_buf_add_text(out, "},\"name\":\"" NAME "\"}");
	}
	tkb_buf_add_text(out, "]}");
	return tkb_buf_check(out, err);
}

struct subject {
	struct tkb_digest digest;
	const char *name;
};

/* What is read of it only to check it. */
struct reading {
	uint64_t sequence;
	const char *type;
	const char *predicate_type;
	const char *expires;
	struct subject *subjects;
	size_t subject_count;
};

static bool is_statement(const char *text)
{
	return strcmp(text, TKB_STATEMENT_TYPE) == 0;
}

static bool is_predicate(const char *text)
{
	return strcmp(text, TKB_REVOCATION_TYPE) == 0;
}

static bool is_name(const char *text)
{
	return strcmp(text, NAME) == 0;
}

static bool is_time(const char *text)
{
	uint64_t seconds;

	return tkb_time_read(text, &seconds);
}

static const char *fault(const void *earlier, size_t count, const void *item)
{
	const struct subject *last = earlier;
	const struct subject *next = item;

	return count > 0 && tkb_digest_compare(&last[count - 1].digest,
	                                       &next->digest) >= 0
	               ? "subjects are not sorted"
	               : NULL;
}

static const struct tkb_schema_field digest_fields[] = {
	TKB_FIELD_DIGEST("sha256", struct subject, digest),
};

static const struct tkb_schema digest_schema = {
	.fields = digest_fields,
	.count = TKB_COUNT_OF(digest_fields),
	.is_closed = true,
};

static const struct tkb_schema_field subject_fields[] = {
	{ .name = "digest",
	  .kind = TKB_SCHEMA_OBJECT,
	  .schema = &digest_schema,
	  .missing = "a digest is no object" },
	TKB_FIELD_TEXT("name", struct subject, name, is_name,
	               "a subject is called otherwise"),
};

static const struct tkb_schema subject_schema = {
	.fields = subject_fields,
	.count = TKB_COUNT_OF(subject_fields),
	.is_closed = true,
};

static const struct tkb_schema_list subject_list = {
	.item = { .kind = TKB_SCHEMA_OBJECT,
	          .schema = &subject_schema,
	          .missing = "a subject is no object" },
	.item_size = sizeof(struct subject),
	.limit = TKB_REVOCATION_LIMIT,
	.too_many = "too many subjects",
	.fault = fault,
};

static const struct tkb_schema_field predicate_fields[] = {
	TKB_FIELD_TEXT("expires", struct reading, expires, is_time,
	               "a time is not as 2027-02-21T12:00:00Z"),
	TKB_FIELD_NUMBER("sequence", struct reading, sequence, UINT64_MAX),
};

static const struct tkb_schema predicate_schema = {
	.fields = predicate_fields,
	.count = TKB_COUNT_OF(predicate_fields),
	.is_closed = true,
};

static const struct tkb_schema_field fields[] = {
	TKB_FIELD_TEXT("_type", struct reading, type, is_statement,
	               "it is no Statement of in-toto, version 1"),
	{ .name = "predicate",
	  .kind = TKB_SCHEMA_OBJECT,
	  .schema = &predicate_schema,
	  .missing = "a predicate is no object" },
	TKB_FIELD_TEXT("predicateType", struct reading, predicate_type,
	               is_predicate, "it is not about what is revoked"),
	TKB_FIELD_LIST("subject", struct reading, subjects, subject_count,
	               &subject_list, "subjects are no list"),
};

static const struct tkb_schema schema = {
	.fields = fields,
	.count = TKB_COUNT_OF(fields),
	.is_closed = true,
};

int tkb_revocation_read(struct tkb_bytes text, struct tkb_revocation *out,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_arena_release) struct tkb_arena arena = { 0 };
	TKB_AUTO(tkb_revocation_release)
	struct tkb_revocation list = { .sequence = 0 };
	const struct tkb_schema_document document = { .text = text,
		                                      .name = "the list",
		                                      .arena = &arena };
	struct reading reading = { .type = NULL };
	int rc;

	rc = tkb_schema_read(&document, &schema, &reading, err);
	for (size_t i = 0; i < reading.subject_count && rc == 0; i++)
		rc = tkb_digests_add(&list.digests, &reading.subjects[i].digest,
		                     err);
	if (rc < 0)
		return rc;
	list.sequence = reading.sequence;
	(void)tkb_time_read(reading.expires, &list.expires_s);
	*out = list;
	list = (struct tkb_revocation){ .sequence = 0 };
	return 0;
}
