/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/statement.h"

#include "remote/remote.h"
#include "text/schema.h"
#include "trust/date.h"

static const char *const stages[] = { "dev", "prod" };

const char *tkb_stage_name(unsigned stage)
{
	return stage < TKB_COUNT_OF(stages) ? stages[stage] : NULL;
}

int tkb_statement_write(const struct tkb_statement *statement,
                        struct tkb_buf *out, struct tkb_error *err)
{
	char expires[TKB_TIME_TEXT_SIZE];

	tkb_time_text(statement->expires_s, expires);
	tkb_json_add_digest(out,
	                    "{\"_type\":\"" TKB_STATEMENT_TYPE
	                    "\",\"predicate\":{\"content\":",
	                    &statement->subject.content);
	tkb_json_add_text(out, ",\"expires\":", expires);
	tkb_json_add_number(out, ",\"sequence\":", statement->sequence);
	tkb_json_add_text(out, ",\"stage\":", tkb_stage_name(statement->stage));
	tkb_buf_add_text(out, ",\"targets\":[");
	for (size_t i = 0; i < statement->target_count; i++)
		tkb_json_add_text(out, i == 0 ? "" : ",",
		                  statement->targets[i]);
	tkb_json_add_digest(out,
	                    "]},\"predicateType\":\"" TKB_PREDICATE_TYPE
	                    "\",\"subject\":[{\"digest\":{\"sha256\":",
	                    &statement->subject.bundle);
	tkb_json_add_text(out, "},\"name\":", statement->ref);
	tkb_buf_add_text(out, "}]}");
	return tkb_buf_check(out, err);
}

/* What is read of it only to check it. */
struct reading {
	struct tkb_statement statement;
	const char *type;
	const char *predicate_type;
	const char *expires;
	struct subject *subjects;
	size_t subject_count;
};

struct subject {
	struct tkb_digest bundle;
	const char *ref;
};

static bool is_statement(const char *text)
{
	return strcmp(text, TKB_STATEMENT_TYPE) == 0;
}

static bool is_predicate(const char *text)
{
	return strcmp(text, TKB_PREDICATE_TYPE) == 0;
}

static bool is_time(const char *text)
{
	uint64_t seconds;

	return tkb_time_read(text, &seconds);
}

static const struct tkb_schema_field digest_fields[] = {
	TKB_FIELD_DIGEST("sha256", struct subject, bundle),
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
	TKB_FIELD_TEXT("name", struct subject, ref, tkb_ref_is_valid,
	               "a subject is no ref's name"),
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
	.none = "there is no subject",
	.limit = 1,
	.too_many = "there is more than one subject",
};

static const struct tkb_schema_list target_list = {
	.item = { .kind = TKB_SCHEMA_TEXT },
	.item_size = sizeof(const char *),
	.limit = TKB_STATEMENT_TARGETS,
	.too_many = "too many targets",
};

static const struct tkb_schema_field predicate_fields[] = {
	TKB_FIELD_DIGEST("content", struct reading, statement.subject.content),
	TKB_FIELD_TEXT("expires", struct reading, expires, is_time,
	               "a time is not as 2027-02-21T12:00:00Z"),
	TKB_FIELD_NUMBER("sequence", struct reading, statement.sequence,
	                 UINT64_MAX),
	TKB_FIELD_CHOICE("stage", struct reading, statement.stage,
	                 tkb_stage_name, NULL, "a stage is not known"),
	TKB_FIELD_LIST("targets", struct reading, statement.targets,
	               statement.target_count, &target_list,
	               "targets are no list"),
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
	               is_predicate, "it is not about a record"),
	TKB_FIELD_LIST("subject", struct reading, subjects, subject_count,
	               &subject_list, "subjects are no list"),
};

static const struct tkb_schema schema = {
	.fields = fields,
	.count = TKB_COUNT_OF(fields),
	.is_closed = true,
};

int tkb_statement_read(struct tkb_bytes text, struct tkb_arena *arena,
                       struct tkb_statement *out, struct tkb_error *err)
{
	const struct tkb_schema_document document = { .text = text,
		                                      .name = "the statement",
		                                      .arena = arena };
	struct reading reading = { .type = NULL };
	int rc;

	if (text.size > TKB_STATEMENT_LIMIT)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the statement is too large");
	rc = tkb_schema_read(&document, &schema, &reading, err);
	if (rc < 0)
		return rc;
	*out = reading.statement;
	out->ref = reading.subjects[0].ref;
	out->subject.bundle = reading.subjects[0].bundle;
	(void)tkb_time_read(reading.expires, &out->expires_s);
	return 0;
}
