/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json_walk.h"

enum {
	PATH_LIMIT = 64 * 1024,
	VALUE_LIMIT = 16 * 1024 * 1024
};

struct walk {
	const struct tkb_json_walker *walker;
	struct tkb_json json;
	struct tkb_buf path; /* to the value that comes next, no zero behind */
	struct tkb_buf value;
	size_t sizes[TKB_JSON_DEPTH + 1]; /* of the paths to what is open */
	bool is_array[TKB_JSON_DEPTH + 1];
	size_t depth; /* how much is open */
};

static void walk_release(struct walk *walk)
{
	tkb_buf_release(&walk->path);
	tkb_buf_release(&walk->value);
}

/* Go back to what is open. */
static void cut_path(struct walk *walk)
{
	walk->path.size = walk->depth == 0 ? 0 : walk->sizes[walk->depth - 1];
}

static void begin_name(struct walk *walk)
{
	cut_path(walk);
	if (walk->path.size != 0)
		tkb_buf_add_byte(&walk->path, '/');
}

/* An item of an array has no key. */
static void name_item(struct walk *walk)
{
	if (walk->depth == 0 || !walk->is_array[walk->depth - 1])
		return;
	begin_name(walk);
	tkb_buf_add_byte(&walk->path, '*');
}

static int tell_value(struct walk *walk, const struct tkb_json_token *token,
                      struct tkb_error *err)
{
	const struct tkb_json *json = &walk->json;
	int rc;

	name_item(walk);
	tkb_buf_reset(&walk->value);
	if (token->type == TKB_JSON_STRING)
		tkb_json_decode(tkb_json_raw(json, token), &walk->value);
	else
		tkb_buf_add(
			&walk->value,
			tkb_bytes_slice(json->text, token->start, token->end));
	tkb_buf_add_byte(&walk->value, '\0');
	tkb_buf_add_byte(&walk->path, '\0');
	rc = tkb_buf_check(&walk->value, err);
	if (rc == 0)
		rc = tkb_buf_check(&walk->path, err);
	if (rc == 0)
		rc = walk->walker->on_value(
			walk->walker->self, (const char *)walk->path.data,
			token->type, (const char *)walk->value.data, err);
	return rc;
}

/* The tokenizer refuses what is nested deeper than the arrays here. */
static void enter_level(struct walk *walk, bool is_array)
{
	name_item(walk);
	walk->sizes[walk->depth] = walk->path.size;
	walk->is_array[walk->depth++] = is_array;
}

static int take_token(struct walk *walk, const struct tkb_json_token *token,
                      struct tkb_error *err)
{
	switch (token->type) {
	case TKB_JSON_OBJECT:
	case TKB_JSON_ARRAY:
		enter_level(walk, token->type == TKB_JSON_ARRAY);
		break;
	case TKB_JSON_OBJECT_END:
	case TKB_JSON_ARRAY_END:
		walk->depth--;
		break;
	case TKB_JSON_KEY:
		begin_name(walk);
		tkb_json_decode(tkb_json_raw(&walk->json, token), &walk->path);
		break;
	case TKB_JSON_END:
		break;
	default:
		return tell_value(walk, token, err);
	}
	return tkb_buf_check(&walk->path, err);
}

int tkb_json_walk(struct tkb_bytes text, const struct tkb_json_walker *walker,
                  struct tkb_error *err)
{
	TKB_AUTO(walk_release)
	struct walk walk = { .walker = walker,
		             .json = tkb_json_of(text, 0),
		             .path = TKB_BUF_INIT(PATH_LIMIT),
		             .value = TKB_BUF_INIT(VALUE_LIMIT) };
	struct tkb_json_token token;
	int rc;

	do {
		rc = tkb_json_next(&walk.json, &token, err);
		if (rc == 0)
			rc = take_token(&walk, &token, err);
	} while (rc == 0 && token.type != TKB_JSON_END);
	return rc;
}
