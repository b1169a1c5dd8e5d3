/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/in_toto.h"

#include "trust/date.h"

#define TYPE "https://in-toto.io/Statement/v1"

void tkb_in_toto_begin(struct tkb_buf *out)
{
	tkb_buf_add_text(out, "{\"_type\":\"" TYPE "\",\"predicate\":{");
}

void tkb_in_toto_add_life(struct tkb_buf *out, uint64_t expires_s,
                          uint64_t sequence)
{
	char expires[TKB_TIME_TEXT_SIZE];

	tkb_time_text(expires_s, expires);
	tkb_json_add_text(out, "\"expires\":", expires);
	tkb_json_add_number(out, ",\"sequence\":", sequence);
}

void tkb_in_toto_end_predicate(struct tkb_buf *out, const char *type)
{
	tkb_json_add_text(out, "},\"predicateType\":", type);
	tkb_buf_add_text(out, ",\"subject\":[");
}

void tkb_in_toto_add_subject(struct tkb_buf *out, bool is_first,
                             const struct tkb_digest *digest, const char *name)
{
	tkb_json_add_digest(out,
	                    is_first ? "{\"digest\":{\"sha256\":"
	                             : ",{\"digest\":{\"sha256\":",
	                    digest);
	tkb_json_add_text(out, "},\"name\":", name);
	tkb_buf_add_text(out, "}");
}

void tkb_in_toto_end(struct tkb_buf *out)
{
	tkb_buf_add_text(out, "]}");
}

int tkb_in_toto_read_sequence(struct tkb_schema_reader *reader, void *out,
                              struct tkb_error *err)
{
	struct tkb_json_token whole = reader->token;
	const char *text = reader->document->text.data;

	if (whole.type == TKB_JSON_NUMBER && whole.end - whole.start > 2 &&
	    memcmp(text + whole.end - 2, ".0", 2) == 0)
		whole.end -= 2;
	return tkb_json_number(&reader->json, &whole, out)
	               ? 0
	               : tkb_schema_refuse(reader, "a number is missing", err);
}

bool tkb_in_toto_is_time(const char *text)
{
	uint64_t seconds;

	return tkb_date_parse(text, &seconds);
}

static const struct tkb_schema_field digest_fields[] = {
	TKB_FIELD_DIGEST("sha256", struct tkb_in_toto_subject, digest),
};

static const struct tkb_schema_field life_fields[] = {
	TKB_IN_TOTO_EXPIRES,
	TKB_IN_TOTO_SEQUENCE,
};

const struct tkb_schema tkb_in_toto_life = {
	.fields = life_fields,
	.count = TKB_COUNT_OF(life_fields),
	.is_closed = true,
};

/* `subjects` describes the list of subjects of the same sort. */
static int read_members(const struct tkb_schema_document *document,
                        const struct tkb_in_toto_sort *sort,
                        const struct tkb_schema_list *subjects,
                        struct tkb_in_toto *out, struct tkb_error *err)
{
	const struct tkb_schema_field fields[] = {
		TKB_FIELD_CONSTANT("_type", TYPE,
		                   "it is not an in-toto Statement, version 1"),
		TKB_FIELD_OBJECT("predicate", 0, sort->predicate,
		                 "a predicate is not an object"),
		TKB_FIELD_CONSTANT("predicateType", sort->predicate_type,
		                   sort->other_predicate),
		TKB_FIELD_LIST("subject", struct tkb_in_toto, subjects,
		               subject_count, subjects,
		               "subjects are not a "
		               "list"),
	};

	return tkb_schema_read(document, TKB_CLOSED_OF(fields), out, err);
}

int tkb_in_toto_read(const struct tkb_schema_document *document,
                     const struct tkb_in_toto_sort *sort,
                     struct tkb_in_toto *out, struct tkb_error *err)
{
	const struct tkb_schema_field fields[] = {
		TKB_FIELD_OBJECT("digest", 0, TKB_CLOSED_OF(digest_fields),
		                 "a digest is not an object"),
		TKB_FIELD_TEXT("name", struct tkb_in_toto_subject, name,
		               sort->is_name, sort->wrong_name),
	};
	const struct tkb_schema_list subjects = {
		TKB_ITEMS_OBJECT(struct tkb_in_toto_subject,
		                 TKB_CLOSED_OF(fields),
		                 "a subject is not an object"),
		.none = sort->none,
		.limit = sort->limit,
		.too_many = sort->too_many,
		.compare = sort->compare,
		.unsorted = sort->unsorted,
	};
	int rc;

	rc = read_members(document, sort, &subjects, out, err);
	if (rc < 0)
		return rc;
	(void)tkb_date_parse(out->expires,
	                     &out->expires_s); /* is_time() has checked it */
	return 0;
}
