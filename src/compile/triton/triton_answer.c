/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/triton/triton_answer.h"

#include <stdlib.h>

#include "compile/pool/fields.h"
#include "compile/triton/triton_fields.h"

/* The member that receives the text of a field, or NULL. */
static const char **find_text(struct tkb_triton_compiled *compiled,
                              unsigned field)
{
	switch (field) {
	case TKB_TRITON_HASH:
		return &compiled->hash;
	case TKB_TRITON_FOLDER:
		return &compiled->folder;
	case TKB_TRITON_NAME:
		return &compiled->kernel;
	case TKB_TRITON_VERSION:
		return &compiled->version;
	case TKB_TRITON_NOTE:
		return &compiled->note;
	case TKB_TRITON_KEY:
		return &compiled->key;
	default:
		return NULL;
	}
}

static int add_choice(struct tkb_triton_answer *answer, struct tkb_bytes choice,
                      struct tkb_error *err)
{
	struct tkb_triton_compiled *compiled = &answer->compiled;
	int rc =
		tkb_grow(&answer->choices, &answer->choice_capacity,
	                 compiled->choice_count, sizeof(*answer->choices), err);

	if (rc < 0)
		return rc;
	compiled->choices = answer->choices;
	return tkb_arena_copy(&answer->arena, choice,
	                      &answer->choices[compiled->choice_count++], err);
}

static int copy_product(struct tkb_triton_answer *answer,
                        struct tkb_bytes bytes, struct tkb_error *err)
{
	struct tkb_bytes *const product = &answer->compiled.product;

	product->size = bytes.size;
	product->data = tkb_arena_string(&answer->arena, bytes);
	return product->data == NULL ? tkb_fail_nomem(err) : 0;
}

static int read_triton_field(struct tkb_triton_answer *answer, unsigned field,
                             struct tkb_bytes bytes, struct tkb_error *err)
{
	struct tkb_triton_compiled *compiled = &answer->compiled;
	const char **text_out = find_text(compiled, field);

	if (field == TKB_TRITON_CHOICES)
		return add_choice(answer, bytes, err);
	if (field == TKB_TRITON_PRODUCT)
		return copy_product(answer, bytes, err);
	if (field == TKB_TRITON_IS_HIT)
		compiled->is_hit = bytes.size != 0;
	if (field == TKB_TRITON_IS_UNASKED)
		compiled->is_unasked = bytes.size != 0;
	return text_out == NULL
	               ? 0
	               : tkb_arena_copy(&answer->arena, bytes, text_out, err);
}

int tkb_triton_answer_read(struct tkb_bytes answer,
                           struct tkb_triton_answer *out, struct tkb_error *err)
{
	struct tkb_triton_compiled *compiled = &out->compiled;
	struct tkb_fields fields = { .bytes = answer };
	struct tkb_bytes bytes;
	unsigned field;
	int rc;

	*compiled = (struct tkb_triton_compiled){
		.key = "",
		.hash = "",
		.folder = "",
		.kernel = "",
		.version = "",
		.note = "",
	};
	rc = tkb_fields_next(&fields, &field, &bytes, err);
	while (rc == 0) {
		rc = read_triton_field(out, field, bytes, err);
		if (rc == 0)
			rc = tkb_fields_next(&fields, &field, &bytes, err);
	}
	return rc == TKB_MISS ? 0 : rc;
}

void tkb_triton_answer_release(struct tkb_triton_answer *answer)
{
	free(answer->choices);
	tkb_arena_release(&answer->arena);
}
