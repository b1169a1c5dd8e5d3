/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/statement.h"

#include "remote/remote.h"
#include "trust/in_toto.h"

#define PREDICATE_TYPE "https://tkbundle.dev/record/v1"

static const char *const stages[] = { "dev", "prod" };

const char *tkb_stage_name(unsigned stage)
{
	return stage < TKB_COUNT_OF(stages) ? stages[stage] : NULL;
}

int tkb_statement_write(const struct tkb_statement *statement,
                        struct tkb_buf *out, struct tkb_error *err)
{
	tkb_in_toto_begin(out);
	tkb_json_add_digest(out, "\"content\":", &statement->subject.content);
	tkb_buf_add_text(out, ",");
	tkb_in_toto_add_life(out, statement->expires_s, statement->sequence);
	tkb_json_add_text(out, ",\"stage\":", tkb_stage_name(statement->stage));
	tkb_buf_add_text(out, ",\"targets\":[");
	for (size_t i = 0; i < statement->target_count; i++)
		tkb_json_add_text(out, i == 0 ? "" : ",",
		                  statement->targets[i]);
	tkb_buf_add_text(out, "]");
	tkb_in_toto_end_predicate(out, PREDICATE_TYPE);
	tkb_in_toto_add_subject(out, true, &statement->subject.bundle,
	                        statement->ref);
	tkb_in_toto_end(out);
	return tkb_buf_check(out, err);
}

struct reading {
	struct tkb_in_toto common;
	struct tkb_statement statement;
};

static const struct tkb_schema_list target_list = {
	.item = { .kind = TKB_SCHEMA_TEXT },
	.item_size = sizeof(const char *),
	.limit = TKB_STATEMENT_TARGETS,
	.too_many = "too many targets",
};

static const struct tkb_schema_field predicate_fields[] = {
	TKB_FIELD_DIGEST("content", struct reading, statement.subject.content),
	TKB_IN_TOTO_EXPIRES,
	TKB_IN_TOTO_SEQUENCE,
	TKB_FIELD_CHOICE("stage", struct reading, statement.stage,
	                 tkb_stage_name, NULL, "a stage is unknown"),
	TKB_FIELD_LIST("targets", struct reading, statement.targets,
	               statement.target_count, &target_list,
	               "targets are not a list"),
};

static const struct tkb_in_toto_sort sort = {
	.predicate = TKB_CLOSED_OF(predicate_fields),
	.predicate_type = PREDICATE_TYPE,
	.other_predicate = "it is not about a record",
	.is_name = tkb_ref_is_valid,
	.wrong_name = "a subject is not the name of a ref",
	.none = "there is no subject",
	.limit = 1,
	.too_many = "there is more than one subject",
};

int tkb_statement_read(struct tkb_bytes text, struct tkb_arena *arena,
                       struct tkb_statement *out, struct tkb_error *err)
{
	const struct tkb_schema_document document = { .text = text,
		                                      .name = "the statement",
		                                      .arena = arena };
	struct reading reading = { .common = { .subject_count = 0 } };
	int rc;

	if (text.size > TKB_STATEMENT_LIMIT)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "the statement is too large");
	rc = tkb_in_toto_read(&document, &sort, &reading.common, err);
	if (rc < 0)
		return rc;
	*out = reading.statement;
	out->ref = reading.common.subjects[0].name;
	out->subject.bundle = reading.common.subjects[0].digest;
	out->sequence = reading.common.sequence;
	out->expires_s = reading.common.expires_s;
	return 0;
}
