/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"
#include "base/path.h"
#include "cache/key.h"
#include "cache/names.h"
#include "format/parser.h"

static int read_cache_key(struct tkb_parser *parser, struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_text(parser, &parser->launcher.cache_key, err);
	if (rc < 0)
		return rc;
	if (!tkb_launcher_text_is_valid(parser->launcher.cache_key,
	                                TKB_CACHE_KEY_LIMIT))
		return tkb_parser_refuse(
			parser, "a launcher's key is not allowed", err);
	return 0;
}

static int read_name(struct tkb_parser *parser, struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_text(parser, &parser->launcher.name, err);
	if (rc < 0)
		return rc;
	if (!tkb_launcher_text_is_valid(parser->launcher.name, TKB_NAME_LIMIT))
		return tkb_parser_refuse(
			parser, "a launcher's name is not allowed", err);
	return 0;
}

static int read_need(struct tkb_parser *parser, struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_STRING, "a need is missing",
	                       err);
	if (rc < 0)
		return rc;
	for (int need = TKB_NEED_ALL; need <= TKB_NEED_ANY; need++) {
		if (tkb_parser_token_is(parser,
		                        tkb_need_name((enum tkb_need)need))) {
			parser->launcher.need = (enum tkb_need)need;
			return 0;
		}
	}
	return tkb_parser_refuse(parser, "a need is not known", err);
}

static bool has_need(const struct tkb_parser *parser, size_t count,
                     const char *key)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(parser->needs[i], key) == 0)
			return true;
	}
	return false;
}

static int add_need(struct tkb_parser *parser, size_t count,
                    struct tkb_error *err)
{
	const char *key = NULL;
	int rc;

	if (parser->token.type != TKB_JSON_STRING)
		return tkb_parser_refuse(parser, "a needed key is no string",
		                         err);
	if (count == TKB_NEEDS_LIMIT)
		return tkb_parser_refuse(parser, "a launcher needs too much",
		                         err);
	rc = tkb_parser_keep_text(parser, &key, err);
	if (rc < 0)
		return rc;
	if (!tkb_key_is_valid(key))
		return tkb_parser_refuse(parser, "a key has no known shape",
		                         err);
	if (has_need(parser, count, key))
		return tkb_parser_refuse(parser, "a launcher needs a key twice",
		                         err);
	rc = tkb_grow(&parser->needs, &parser->need_capacity, count,
	              sizeof(*parser->needs), err);
	if (rc < 0)
		return rc;
	parser->needs[count] = key;
	return 0;
}

static int keep_needs(struct tkb_parser *parser, size_t count,
                      struct tkb_error *err)
{
	const char **kept;

	if (count == 0)
		return tkb_parser_refuse(parser, "a launcher needs nothing",
		                         err);
	kept = tkb_arena_alloc(&parser->manifest->arena, count, sizeof(*kept));
	if (kept == NULL)
		return tkb_fail_nomem(err);
	memcpy(kept, parser->needs, count * sizeof(*kept));
	parser->launcher.needs = kept;
	parser->launcher.need_count = count;
	return 0;
}

static int read_needs(struct tkb_parser *parser, struct tkb_error *err)
{
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_ARRAY, "needs are no list",
	                       err);
	if (rc < 0)
		return rc;
	for (size_t count = 0;; count++) {
		rc = tkb_parser_advance(parser, err);
		if (rc < 0)
			return rc;
		if (parser->token.type == TKB_JSON_ARRAY_END)
			return keep_needs(parser, count, err);
		rc = add_need(parser, count, err);
		if (rc < 0)
			return rc;
	}
}

static int read_payload(struct tkb_parser *parser, struct tkb_error *err)
{
	struct tkb_saved_launcher *launcher = &parser->launcher;
	int rc;

	rc = tkb_parser_expect(parser, TKB_JSON_ARRAY, "a payload is no list",
	                       err);
	if (rc < 0)
		return rc;
	rc = tkb_parser_digest(parser, &launcher->digest, err);
	if (rc < 0)
		return rc;
	rc = tkb_parser_number(parser, TKB_FILE_SIZE_LIMIT, &launcher->size,
	                       err);
	if (rc < 0)
		return rc;
	return tkb_parser_expect(parser, TKB_JSON_ARRAY_END,
	                         "a payload has too many parts", err);
}

static const struct tkb_member_reader launcher_members[] = {
	{ "key", read_cache_key },   { "name", read_name },
	{ "need", read_need },       { "needs", read_needs },
	{ "payload", read_payload },
};

int tkb_parser_launcher(struct tkb_parser *parser, struct tkb_error *err)
{
	const struct tkb_manifest *manifest = parser->manifest;
	const size_t count = manifest->launcher_count;
	int rc;

	parser->launcher = (struct tkb_saved_launcher){ 0 };
	rc = tkb_parser_object(parser, launcher_members,
	                       TKB_COUNT_OF(launcher_members), err);
	if (rc < 0)
		return rc;
	if (count != 0 && strcmp(parser->launchers[count - 1].cache_key,
	                         parser->launcher.cache_key) >= 0)
		return tkb_parser_refuse(parser, "launchers are not in order",
		                         err);
	return 0;
}
