/* SPDX-License-Identifier: Apache-2.0 */
#include "images/statement.h"

#define PREDICATE "https://sigstore.dev/cosign/sign/v1"

void tkb_image_statement_write(const struct tkb_digest *manifest,
                               const char *name, uint64_t expires_s,
                               uint64_t sequence, struct tkb_buf *out)
{
	tkb_in_toto_begin(out);
	tkb_in_toto_add_life(out, expires_s, sequence);
	tkb_in_toto_end_predicate(out, PREDICATE);
	tkb_in_toto_add_subject(out, true, manifest, name);
	tkb_in_toto_end(out);
}

static bool is_image_name(const char *text)
{
	return text[0] != '\0';
}

static const struct tkb_in_toto_sort sort = {
	.predicate = &tkb_in_toto_life,
	.predicate_type = PREDICATE,
	.other_predicate = "it is not about an image",
	.is_name = is_image_name,
	.wrong_name = "an image has no name",
	.none = "there is no subject",
	.limit = 1,
	.too_many = "too many subjects",
};

int tkb_image_statement_read(struct tkb_bytes text, struct tkb_arena *arena,
                             struct tkb_in_toto *out, struct tkb_error *err)
{
	const struct tkb_schema_document document = { .text = text,
		                                      .name = "the statement",
		                                      .arena = arena };

	return tkb_in_toto_read(&document, &sort, out, err);
}
