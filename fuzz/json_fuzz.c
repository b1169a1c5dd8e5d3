/* SPDX-License-Identifier: Apache-2.0 */
#include "text/json.h"

#include "base/utf8.h"
#include "fuzz.h"

/*
 * The tokenizer in both modes. What the canonical mode accepts, the lenient one
 * splits into the same tokens, and quoted and escaped strings mean the same.
 */

static bool same_token(const struct tkb_json_token *a,
                       const struct tkb_json_token *b)
{
	return a->type == b->type && a->start == b->start && a->end == b->end;
}

/* The value of a string survives being written again, in both ways. */
static void check_string(struct tkb_bytes raw)
{
	const size_t limit = 8 * raw.size + 16;
	TKB_AUTO(tkb_buf_release) struct tkb_buf value = TKB_BUF_INIT(limit);
	TKB_AUTO(tkb_buf_release) struct tkb_buf again = TKB_BUF_INIT(limit);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf written = TKB_BUF_INIT(8 * limit + 16);
	size_t length = 0;
	size_t slash;
	size_t end = 0;

	tkb_json_decode(raw, &value);
	MUST(value.failure == 0);
	MUST(tkb_json_equals(raw, tkb_buf_bytes(&value)));
	MUST(tkb_json_begins(raw, tkb_buf_bytes(&value), &end));
	MUST(end == raw.size);

	slash = tkb_json_last_slash(raw, &length);
	MUST(slash == SIZE_MAX || slash + length <= raw.size);
	MUST((slash == SIZE_MAX) ==
	     (value.size == 0 || memrchr(value.data, '/', value.size) == NULL));

	tkb_json_escape_python(tkb_buf_bytes(&value), &written);
	MUST(written.failure == 0);
	if (written.size == 0)
		return;
	tkb_json_decode(tkb_buf_bytes(&written), &again);
	MUST(tkb_bytes_equal(tkb_buf_bytes(&again), tkb_buf_bytes(&value)));
}

/* A canonical string is the only one with its value. */
static void check_canonical_string(struct tkb_bytes raw)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf value = TKB_BUF_INIT(raw.size + 1);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf quoted = TKB_BUF_INIT(raw.size + 2);

	tkb_json_decode(raw, &value);
	tkb_json_quote(tkb_buf_bytes(&value), &quoted);
	MUST(quoted.failure == 0 && quoted.size == raw.size + 2);
	MUST(tkb_bytes_equal(
		tkb_bytes_slice(tkb_buf_bytes(&quoted), 1, quoted.size - 1),
		raw));
}

static void check_token(const struct tkb_json *json, unsigned flags,
                        const struct tkb_json_token *token)
{
	uint64_t number;

	MUST(token->start <= token->end && token->end <= json->text.size);
	if (token->type == TKB_JSON_STRING || token->type == TKB_JSON_KEY) {
		check_string(tkb_json_raw(json, token));
		if ((flags & TKB_JSON_CANONICAL) != 0)
			check_canonical_string(tkb_json_raw(json, token));
	}
	(void)tkb_json_number(json, token, &number);
}

static bool is_accepted(struct tkb_bytes text, unsigned flags)
{
	struct tkb_json json = tkb_json_of(text, flags);
	struct tkb_json_token token = { 0 };
	struct tkb_error err = { 0 };
	size_t last = 0;

	do {
		if (tkb_json_next(&json, &token, &err) < 0) {
			MUST(err.status == TKB_ERR_CORRUPT);
			return false;
		}
		MUST(token.start >= last);
		last = token.end;
		check_token(&json, flags, &token);
	} while (token.type != TKB_JSON_END);
	return true;
}

static void check_same_tokens(struct tkb_bytes text)
{
	struct tkb_json strict = tkb_json_of(text, TKB_JSON_CANONICAL);
	struct tkb_json lenient = tkb_json_of(text, 0);
	struct tkb_json_token left = { 0 };
	struct tkb_json_token right = { 0 };
	struct tkb_error err = { 0 };

	do {
		MUST_OK(tkb_json_next(&strict, &left, &err), &err);
		MUST_OK(tkb_json_next(&lenient, &right, &err), &err);
		MUST(same_token(&left, &right));
	} while (left.type != TKB_JSON_END);
}

/* Skipping the document's value leads to its end. */
static void check_skip(struct tkb_bytes text)
{
	struct tkb_json json = tkb_json_of(text, 0);
	struct tkb_json_token token = { 0 };
	struct tkb_error err = { 0 };

	MUST_OK(tkb_json_next(&json, &token, &err), &err);
	MUST_OK(tkb_json_skip(&json, &token, &err), &err);
	MUST_OK(tkb_json_next(&json, &token, &err), &err);
	MUST(token.type == TKB_JSON_END);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct tkb_bytes text = { data, size };
	const bool is_canonical = is_accepted(text, TKB_JSON_CANONICAL);
	const bool is_json = is_accepted(text, 0);

	MUST(is_json || !is_canonical);
	if (is_json) {
		MUST(tkb_utf8_is_valid(text));
		check_skip(text);
	}
	if (is_canonical)
		check_same_tokens(text);
	return 0;
}
