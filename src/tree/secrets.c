/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/secrets.h"

#include "text/json.h"
#include "tree/secret_text.h"
#include "tree/utf16.h"

/* A JSON document that is being read. */
struct reader {
	struct tkb_json json;
	struct tkb_json_token token;
	bool is_secret;    /* the next value belongs to a secret name */
	unsigned depth;    /* of that name */
	bool is_in_array;  /* the last token opened an array */
	bool was_argument; /* the last string was a name such as "--api-key" */
	bool was_option;   /* that name began with a dash */
};

static int is_secret_string(const struct reader *reader, bool *out,
                            struct tkb_error *err)
{
	const struct tkb_bytes raw =
		tkb_json_raw(&reader->json, &reader->token);
	TKB_AUTO(tkb_buf_release) struct tkb_buf name = TKB_BUF_INIT(raw.size);

	tkb_json_decode(raw, &name);
	*out = tkb_secret_name_bytes(tkb_buf_bytes(&name));
	return tkb_buf_check(&name, err);
}

/* Hide secrets in a string that is not a secret as a whole. */
static void hide_in_string(struct tkb_secret_copy *copy,
                           const struct tkb_json_token *token)
{
	const size_t size = copy->text.size;

	copy->text.size = token->end - 1;
	tkb_secret_hide_in_text(copy, token->start + 1);
	copy->text.size = size;
}

/*
 * Handle a string that is not a member's name. In ["--api-key", "x"] and
 * ["API_KEY", "x"], the second string is a secret; in ["API_KEY", "HF_TOKEN"]
 * it is not. After an option comes its value, even if it looks like a name:
 * "my-secret".
 */
static int hide_string(struct tkb_secret_copy *copy, struct reader *reader,
                       struct tkb_error *err)
{
	const struct tkb_json_token *token = &reader->token;
	const bool is_first = reader->is_in_array;
	const bool is_option =
		((const char *)copy->text.data)[token->start + 1] == '-';
	bool is_name;
	int rc;

	if (reader->is_secret) {
		tkb_secret_hide(copy, token->start + 1, token->end - 1);
		return 0;
	}
	rc = is_secret_string(reader, &is_name, err);
	if (rc < 0)
		return rc;
	if (reader->was_argument &&
	    (!is_name || (reader->was_option && !is_option)))
		tkb_secret_hide(copy, token->start + 1, token->end - 1);
	else
		hide_in_string(copy, token);
	reader->was_argument = is_name && (is_first || is_option);
	reader->was_option = is_option;
	return 0;
}

static int hide_token(struct tkb_secret_copy *copy, struct reader *reader,
                      struct tkb_error *err)
{
	const struct tkb_json_token *token = &reader->token;
	int rc = 0;

	if (token->type == TKB_JSON_KEY) {
		hide_in_string(copy, token);
		reader->was_argument = false;
		if (reader->is_secret)
			return 0;
		reader->depth = reader->json.depth;
		return is_secret_string(reader, &reader->is_secret, err);
	}
	if (token->type == TKB_JSON_STRING)
		rc = hide_string(copy, reader, err);
	else
		reader->was_argument = false;
	if (token->type == TKB_JSON_NUMBER && reader->is_secret)
		tkb_secret_replace(copy, token->start, token->end,
		                   "\"" TKB_SECRET_HIDDEN "\"");
	reader->is_in_array = token->type == TKB_JSON_ARRAY;
	reader->is_secret =
		reader->is_secret && reader->json.depth > reader->depth;
	return rc;
}

/* Hide the secrets in JSON. Returns TKB_ERR_CORRUPT if it is not JSON. */
static int hide_in_json(struct tkb_secret_copy *copy, struct tkb_error *err)
{
	struct reader reader = { .json = tkb_json_of(copy->text, 0),
		                 .token.type = TKB_JSON_ARRAY };
	int rc;

	while (reader.token.type != TKB_JSON_END) {
		rc = tkb_json_next(&reader.json, &reader.token, err);
		if (rc == 0)
			rc = hide_token(copy, &reader, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int hide_bytes(struct tkb_bytes text, enum tkb_path_style style,
                      struct tkb_buf *out, size_t *count_out,
                      struct tkb_error *err)
{
	struct tkb_secret_copy copy = { .text = text,
		                        .style = style,
		                        .out = out };
	const struct tkb_secret_copy untouched = copy;
	const size_t before = out->size;
	struct tkb_error inner = { 0 };
	int rc = TKB_ERR_CORRUPT;

	if (style == TKB_PATH_STYLE_JSON)
		rc = hide_in_json(&copy, &inner);
	if (rc == TKB_ERR_CORRUPT) {
		copy = untouched;
		out->size = before;
		if (style != TKB_PATH_STYLE_NONE)
			tkb_secret_hide_in_text(&copy, 0);
	} else if (rc < 0) {
		return tkb_fail_nomem(err);
	}
	if (copy.done < text.size)
		tkb_buf_add(out, tkb_bytes_slice(text, copy.done, text.size));
	rc = tkb_buf_check(out, err);
	if (rc == 0)
		*count_out = copy.count;
	return rc;
}

/* Hide the secrets in a UTF-16 text, by way of UTF-8. */
static int hide_units(struct tkb_bytes text, enum tkb_path_style style,
                      enum tkb_utf16 order, struct tkb_buf *out,
                      size_t *count_out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf narrow = TKB_BUF_INIT(2 * text.size);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf hidden = TKB_BUF_INIT(8 * text.size);
	int rc;

	tkb_utf16_narrow(text, order, &narrow);
	rc = tkb_buf_check(&narrow, err);
	if (rc == 0)
		rc = hide_bytes(tkb_buf_bytes(&narrow), style, &hidden,
		                count_out, err);
	if (rc < 0)
		return rc;
	if (*count_out == 0) {
		tkb_buf_add(out, text);
	} else {
		tkb_utf16_widen(tkb_buf_bytes(&hidden), order, out);
		tkb_buf_add(out, tkb_bytes_slice(text, text.size & ~(size_t)1,
		                                 text.size));
	}
	return tkb_buf_check(out, err);
}

int tkb_secrets_hide(struct tkb_bytes text, enum tkb_path_style style,
                     struct tkb_buf *out, size_t *count_out,
                     struct tkb_error *err)
{
	const enum tkb_utf16 order = style == TKB_PATH_STYLE_NONE
	                                     ? TKB_UTF16_NONE
	                                     : tkb_utf16_order(text);

	return order == TKB_UTF16_NONE
	               ? hide_bytes(text, style, out, count_out, err)
	               : hide_units(text, style, order, out, count_out, err);
}
