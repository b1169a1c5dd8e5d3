/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/revocations.h"

#include "trust/in_toto.h"

#define PREDICATE_TYPE "https://tkbundle.dev/revocation/v1"
#define NAME "revoked"

void tkb_revocation_release(struct tkb_revocation *list)
{
	tkb_digests_release(&list->digests);
}

int tkb_revocation_write(const struct tkb_revocation *list, struct tkb_buf *out,
                         struct tkb_error *err)
{
	tkb_in_toto_begin(out);
	tkb_in_toto_add_life(out, list->expires_s, list->sequence);
	tkb_in_toto_end_predicate(out, PREDICATE_TYPE);
	for (size_t i = 0; i < list->digests.count; i++)
		tkb_in_toto_add_subject(out, i == 0, &list->digests.items[i],
		                        NAME);
	tkb_in_toto_end(out);
	return tkb_buf_check(out, err);
}

static bool is_subject_name(const char *text)
{
	return strcmp(text, NAME) == 0;
}

static const struct tkb_in_toto_sort sort = {
	.predicate = &tkb_in_toto_life,
	.predicate_type = PREDICATE_TYPE,
	.other_predicate = "it is not about what is revoked",
	.is_name = is_subject_name,
	.wrong_name = "a subject has another name",
	.limit = TKB_REVOCATION_LIMIT,
	.too_many = "too many subjects",
	.compare = tkb_compare_digests,
	.unsorted = "subjects are not sorted",
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
	struct tkb_in_toto reading = { .subject_count = 0 };
	int rc;

	rc = tkb_in_toto_read(&document, &sort, &reading, err);
	for (size_t i = 0; i < reading.subject_count && rc == 0; i++)
		rc = tkb_digests_add(&list.digests, &reading.subjects[i].digest,
		                     err);
	if (rc < 0)
		return rc;
	list.sequence = reading.sequence;
	list.expires_s = reading.expires_s;
	*out = list;
	list = (struct tkb_revocation){ .sequence = 0 };
	return 0;
}
