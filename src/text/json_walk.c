/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json_walk.h"

enum {
	PATH_LIMIT = 64 * 1024,
	VALUE_LIMIT = 16 * 1024 * 1024
};

struct walk {
	const struct tkb_json_walker *walker;
	struct tkb_json json;
	struct tkb_buf path; /* of the next value; not terminated */
	struct tkb_buf value;
	size_t sizes[TKB_JSON_DEPTH + 1]; /* of the open containers' paths */
	bool is_array[TKB_JSON_DEPTH + 1];
	size_t depth; /* number of open containers */
};

static void walk_release(struct walk *walk)
{
	tkb_buf_release(&walk->path);
	tkb_buf_release(&walk->value);
}

/* Shorten the path to that of the innermost open container. */
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

/* An item of an array has no key: its name is a star. */
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

/* The depth fits the arrays: the tokenizer refuses deeper nesting. */
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
