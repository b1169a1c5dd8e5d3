/* SPDX-License-Identifier: Apache-2.0 */
#include "format/parser.h"

#include <stdlib.h>

#include "base/digest.h"

enum {
	TEXT_LIMIT = 4096
};

void tkb_parser_release(struct tkb_parser *parser)
{
	free(parser->entries);
	free(parser->files);
	free(parser->devices);
	free(parser->launchers);
	free(parser->needs);
}

int tkb_parser_refuse(const struct tkb_parser *parser, const char *what,
                      struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_CORRUPT, "the manifest at byte %zu: %s",
	                parser->token.start, what);
}

int tkb_parser_advance(struct tkb_parser *parser, struct tkb_error *err)
{
	struct tkb_error inner; /* set on failure; this is called often */

	if (tkb_json_next(&parser->json, &parser->token, &inner) < 0)
		return tkb_fail(err, TKB_ERR_CORRUPT, "the manifest is %s",
		                inner.message);
	return 0;
}

int tkb_parser_expect(struct tkb_parser *parser, enum tkb_json_type type,
                      const char *what, struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_advance(parser, err);
	if (rc < 0)
		return rc;
	if (parser->token.type != type)
		return tkb_parser_refuse(parser, what, err);
	return 0;
}

bool tkb_parser_token_is(const struct tkb_parser *parser, const char *text)
{
	return tkb_bytes_equal(tkb_json_raw(&parser->json, &parser->token),
	                       tkb_text(text));
}

/* They stand in a string only as escapes. */
static bool has_control_character(struct tkb_bytes text)
{
	for (size_t i = 0; i < text.size; i++) {
		if (((const unsigned char *)text.data)[i] < 0x20)
			return true;
	}
	return false;
}

/* The text of the string just read, kept. */
int tkb_parser_keep_text(struct tkb_parser *parser, const char **out,
                         struct tkb_error *err)
{
	const struct tkb_bytes raw =
		tkb_json_raw(&parser->json, &parser->token);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf decoded = TKB_BUF_INIT(TEXT_LIMIT);
	struct tkb_bytes value = raw;
	const char *kept;
	int rc;

	if (raw.size > TEXT_LIMIT)
		return tkb_parser_refuse(parser, "a text is too long", err);
	if (memchr(raw.data, '\\', raw.size) != NULL) {
		tkb_json_decode(raw, &decoded);
		rc = tkb_buf_check(&decoded, err);
		if (rc < 0)
			return rc;
		value = tkb_buf_bytes(&decoded);
		if (has_control_character(value))
			return tkb_parser_refuse(parser, "a control character",
			                         err);
	}
	kept = tkb_arena_string(&parser->manifest->arena, value);
	if (kept == NULL)
		return tkb_fail_nomem(err);
	*out = kept;
	return 0;
}

int tkb_parser_text(struct tkb_parser *parser, const char **out,
                    struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_STRING, "a string is missing",
	                       err);
	if (rc < 0)
		return rc;
	return tkb_parser_keep_text(parser, out, err);
}

int tkb_parser_number_of(const struct tkb_parser *parser, uint64_t limit,
                         uint64_t *out, struct tkb_error *err)
{
	uint64_t number;

	if (!tkb_json_number(&parser->json, &parser->token, &number))
		return tkb_parser_refuse(parser, "a number is missing", err);
	if (number > limit)
		return tkb_parser_refuse(parser, "a number is too large", err);
	*out = number;
	return 0;
}

int tkb_parser_number(struct tkb_parser *parser, uint64_t limit, uint64_t *out,
                      struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_advance(parser, err);
	if (rc < 0)
		return rc;
	return tkb_parser_number_of(parser, limit, out, err);
}

int tkb_parser_digest(struct tkb_parser *parser, struct tkb_digest *out,
                      struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_STRING, "a digest is missing",
	                       err);
	if (rc < 0)
		return rc;
	if (!tkb_digest_from_hex(tkb_json_raw(&parser->json, &parser->token),
	                         out))
		return tkb_parser_refuse(parser, "a digest is not 64 digits",
		                         err);
	return 0;
}

int tkb_parser_skip(struct tkb_parser *parser, struct tkb_error *err)
{
	struct tkb_error inner = { 0 };
	int rc;

	rc = tkb_parser_advance(parser, err);
	if (rc < 0)
		return rc;
	if (tkb_json_skip(&parser->json, &parser->token, &inner) < 0)
		return tkb_fail(err, TKB_ERR_CORRUPT, "the manifest is %s",
		                inner.message);
	return 0;
}

int tkb_parser_object(struct tkb_parser *parser,
                      const struct tkb_member_reader *members, size_t count,
                      struct tkb_error *err)
{
	unsigned seen = 0;
	int rc;

	for (;;) {
		size_t i = 0;

		rc = tkb_parser_advance(parser, err);
		if (rc < 0)
			return rc;
		if (parser->token.type == TKB_JSON_OBJECT_END)
			break;
		while (i < count &&
		       !tkb_parser_token_is(parser, members[i].name))
			i++;
		if (i == count) {
			rc = tkb_parser_skip(parser, err);
		} else {
			seen |= 1u << i;
			rc = members[i].read(parser, err);
		}
		if (rc < 0)
			return rc;
	}
	if (seen != (1u << count) - 1)
		return tkb_parser_refuse(parser, "a member is missing", err);
	return 0;
}

int tkb_parser_objects(struct tkb_parser *parser,
                       const struct tkb_list_reader *list,
                       struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_ARRAY, list->no_list, err);
	if (rc < 0)
		return rc;
	for (size_t count = 0;; count++) {
		rc = tkb_parser_advance(parser, err);
		if (rc < 0)
			return rc;
		if (parser->token.type == TKB_JSON_ARRAY_END)
			return 0;
		if (parser->token.type != TKB_JSON_OBJECT)
			return tkb_parser_refuse(parser, list->no_object, err);
		if (count == list->limit)
			return tkb_parser_refuse(parser, list->too_many, err);
		rc = list->read_object(parser, err);
		if (rc < 0)
			return rc;
	}
}
