/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/pool/fields.h"

#include <string.h>

struct head {
	uint32_t field;
	uint32_t size;
};

void tkb_field_add(struct tkb_buf *out, unsigned field, struct tkb_bytes bytes)
{
	const struct head head = { field, (uint32_t)bytes.size };

	if (bytes.size > UINT32_MAX) {
		tkb_buf_add(out, (struct tkb_bytes){ "", SIZE_MAX });
		return; /* also exceeds the limit of every buffer */
	}
	tkb_buf_add(out, (struct tkb_bytes){ &head, sizeof(head) });
	tkb_buf_add(out, bytes);
}

void tkb_field_add_text(struct tkb_buf *out, unsigned field, const char *text)
{
	if (text != NULL)
		tkb_field_add(out, field, tkb_text(text));
}

void tkb_field_add_flag(struct tkb_buf *out, unsigned field, bool is_set)
{
	if (is_set)
		tkb_field_add_text(out, field, "1");
}

void tkb_field_add_number(struct tkb_buf *out, unsigned field, uint64_t number)
{
	struct tkb_buf text = TKB_BUF_INIT(32);

	tkb_buf_add_number(&text, number);
	tkb_field_add(out, field, tkb_buf_bytes(&text));
	tkb_buf_release(&text);
}

void tkb_field_add_list(struct tkb_buf *out, unsigned field,
                        const char *const *texts)
{
	for (; texts != NULL && *texts != NULL; texts++)
		tkb_field_add_text(out, field, *texts);
}

void tkb_field_add_finalize(struct tkb_buf *out,
                            const struct tkb_finalize_options *options)
{
	tkb_field_add_text(out, TKB_FIELD_FINALIZE, "1");
	tkb_field_add_list(out, TKB_FIELD_FINALIZE_KEEP, options->kernels);
	tkb_field_add_list(out, TKB_FIELD_FINALIZE_WITHOUT, options->without);
	for (size_t i = 0; i < options->rule_count; i++)
		tkb_field_add(out, TKB_FIELD_FINALIZE_RULE, options->rules[i]);
	tkb_field_add_flag(out, TKB_FIELD_FINALIZE_FAST, options->is_fast);
	if (options->quant != TKB_QUANT_ANY)
		tkb_field_add_number(out, TKB_FIELD_FINALIZE_QUANT,
		                     (uint64_t)options->quant);
}

void tkb_field_add_finalize_request(struct tkb_buf *out,
                                    const struct tkb_finalize_options *options)
{
	tkb_field_add_finalize(out, options);
	for (size_t i = 0;
	     options->rule_names != NULL && i < options->rule_count; i++)
		tkb_field_add_text(out, TKB_FIELD_FINALIZE_RULE_NAME,
		                   options->rule_names[i]);
	tkb_field_add_flag(out, TKB_FIELD_BITCODE, options->is_bitcode);
	for (size_t i = 0; i < options->binding_count; i++) {
		const struct tkb_binding *const binding = &options->bindings[i];

		tkb_field_add_text(out, TKB_FIELD_BIND_ARGUMENT,
		                   binding->argument);
		tkb_field_add_text(out, TKB_FIELD_BIND_VALUE, binding->value);
		tkb_field_add(out, TKB_FIELD_BIND_BYTES, binding->bytes);
	}
}

int tkb_fields_next(struct tkb_fields *fields, unsigned *field_out,
                    struct tkb_bytes *bytes_out, struct tkb_error *err)
{
	const size_t left = fields->bytes.size - fields->at;
	struct head head;

	if (left == 0)
		return TKB_MISS;
	if (left < sizeof(head))
		return tkb_fail(err, TKB_ERR_CORRUPT, "a field is cut short");
	memcpy(&head, (const char *)fields->bytes.data + fields->at,
	       sizeof(head));
	if (head.size > left - sizeof(head))
		return tkb_fail(err, TKB_ERR_CORRUPT, "a field is cut short");
	fields->at += sizeof(head);
	*field_out = head.field;
	*bytes_out = tkb_bytes_slice(fields->bytes, fields->at,
	                             fields->at + head.size);
	fields->at += head.size;
	return 0;
}

bool tkb_field_path(struct tkb_bytes bytes, char out[TKB_FIELD_PATH_SIZE])
{
	if (bytes.size == 0 || bytes.size >= TKB_FIELD_PATH_SIZE ||
	    memchr(bytes.data, '\0', bytes.size) != NULL)
		return false;
	memcpy(out, bytes.data, bytes.size);
	out[bytes.size] = '\0';
	return true;
}
