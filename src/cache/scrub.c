/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/scrub.h"

#include "text/json.h"
#include "base/path.h"
#include "cache/names.h"

struct parser {
	struct tkb_json json;
	const char *key;
	struct tkb_arena *arena;
	struct tkb_child children[TKB_FILES_LIMIT];
	size_t child_count;
	struct tkb_group group;
};

static int fail_group(struct tkb_error *err, const char *what)
{
	return tkb_fail_entry(err, TKB_REASON_GROUP, "the group file %s", what);
}

/*
 * Read the next token. Fail if a string already begins with the sentinel:
 * restoring would replace it.
 */
static int read_token(struct parser *parser, struct tkb_json_token *out,
                      struct tkb_error *err)
{
	struct tkb_error inner; /* filled on failure */
	size_t end;
	int rc;

	rc = tkb_json_next(&parser->json, out, &inner);
	if (rc < 0)
		return tkb_fail_entry(err, TKB_REASON_GROUP,
		                      "the group file is %s", inner.message);
	if (out->type == TKB_JSON_STRING &&
	    tkb_json_begins(tkb_json_raw(&parser->json, out),
	                    tkb_text(TKB_SENTINEL), &end))
		return tkb_fail_entry(err, TKB_REASON_SENTINEL,
		                      "the group file holds '%s' already",
		                      TKB_SENTINEL);
	return 0;
}

/* Skip the next value. */
static int skip_value(struct parser *parser, struct tkb_error *err)
{
	const unsigned depth = parser->json.depth;
	struct tkb_json_token token;
	int rc;

	do {
		rc = read_token(parser, &token, err);
	} while (rc == 0 && parser->json.depth > depth);
	return rc;
}

static int decode_name(struct parser *parser, struct tkb_bytes raw,
                       const char **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf name = TKB_BUF_INIT(raw.size + 1);

	tkb_json_decode(raw, &name);
	if (name.failure != 0)
		return tkb_fail_nomem(err);
	if (!tkb_name_is_valid(tkb_buf_bytes(&name)))
		return tkb_fail_entry(err, TKB_REASON_NAME,
		                      "the group file lists '%.*s', which "
		                      "cannot be a file's name",
		                      (int)(raw.size < 300 ? raw.size : 300),
		                      (const char *)raw.data);
	return tkb_arena_copy_buf(parser->arena, &name, out, err);
}

static int add_child(struct parser *parser, const struct tkb_child *child,
                     struct tkb_error *err)
{
	for (size_t i = 0; i < parser->child_count; i++) {
		if (strcmp(parser->children[i].name, child->name) == 0)
			return tkb_fail_entry(err, TKB_REASON_GROUP,
			                      "the group file lists '%s' "
			                      "twice",
			                      child->name);
	}
	/* The group file itself is one of the entry's files. */
	if (parser->child_count == TKB_FILES_LIMIT - 1)
		return tkb_fail_entry(err, TKB_REASON_LIMIT,
		                      "the group file lists more than %d files",
		                      TKB_FILES_LIMIT - 1);
	parser->children[parser->child_count++] = *child;
	return 0;
}

/* Are the last two parts of the path `raw` the key and the name? */
static bool is_own_path(struct tkb_bytes raw, const char *key, const char *name,
                        size_t *slash_out)
{
	size_t length = 0;
	size_t slash;
	size_t above;
	struct tkb_bytes folder;

	slash = tkb_json_last_slash(raw, &length);
	if (slash == SIZE_MAX ||
	    !tkb_json_equals(tkb_bytes_slice(raw, slash + length, raw.size),
	                     tkb_text(name)))
		return false;

	folder = tkb_bytes_slice(raw, 0, slash);
	above = tkb_json_last_slash(folder, &length);
	if (above != SIZE_MAX)
		folder = tkb_bytes_slice(raw, above + length, slash);
	if (!tkb_json_equals(folder, tkb_text(key)))
		return false;
	*slash_out = slash;
	return true;
}

static int read_dict_child(struct parser *parser,
                           const struct tkb_json_token *key_token,
                           struct tkb_error *err)
{
	struct tkb_child child = { 0 };
	struct tkb_json_token value;
	struct tkb_bytes raw;
	size_t slash = 0;
	int rc;

	rc = decode_name(parser, tkb_json_raw(&parser->json, key_token),
	                 &child.name, err);
	if (rc < 0)
		return rc;
	rc = read_token(parser, &value, err);
	if (rc < 0)
		return rc;
	if (value.type != TKB_JSON_STRING)
		return fail_group(err, "lists a path that is not a string");

	raw = tkb_json_raw(&parser->json, &value);
	if (!is_own_path(raw, parser->key, child.name, &slash))
		return tkb_fail_entry(err, TKB_REASON_OUTSIDE,
		                      "the group file lists '%.*s', which is "
		                      "not in this entry",
		                      (int)(raw.size < 300 ? raw.size : 300),
		                      (const char *)raw.data);

	child.start = value.start + 1;
	child.slash = child.start + slash;
	child.end = value.end - 1;
	return add_child(parser, &child, err);
}

static int read_list_child(struct parser *parser,
                           const struct tkb_json_token *token,
                           struct tkb_error *err)
{
	struct tkb_child child = { 0 };
	int rc;

	if (token->type != TKB_JSON_STRING)
		return fail_group(err, "lists a name that is not a string");
	child.start = token->start + 1;
	child.end = token->end - 1;
	rc = decode_name(parser, tkb_json_raw(&parser->json, token),
	                 &child.name, err);
	if (rc < 0)
		return rc;
	return add_child(parser, &child, err);
}

static int read_children(struct parser *parser, struct tkb_error *err)
{
	struct tkb_json_token token;
	int rc;

	rc = read_token(parser, &token, err);
	if (rc < 0)
		return rc;
	if (token.type != TKB_JSON_OBJECT && token.type != TKB_JSON_ARRAY)
		return fail_group(err, "has child_paths of no known shape");
	if (parser->child_count != 0)
		return fail_group(err, "has child_paths twice");
	parser->group.is_list = token.type == TKB_JSON_ARRAY;

	for (;;) {
		rc = read_token(parser, &token, err);
		if (rc < 0)
			return rc;
		if (token.type == TKB_JSON_OBJECT_END ||
		    token.type == TKB_JSON_ARRAY_END)
			return 0;
		rc = parser->group.is_list
		             ? read_list_child(parser, &token, err)
		             : read_dict_child(parser, &token, err);
		if (rc < 0)
			return rc;
	}
}

static int read_group_member(struct parser *parser,
                             const struct tkb_json_token *key,
                             struct tkb_error *err)
{
	if (tkb_json_equals(tkb_json_raw(&parser->json, key),
	                    tkb_text("child_paths")))
		return read_children(parser, err);
	return skip_value(parser, err);
}

static int read_group(struct parser *parser, struct tkb_error *err)
{
	struct tkb_json_token token;
	int rc;

	rc = read_token(parser, &token, err);
	if (rc < 0)
		return rc;
	if (token.type != TKB_JSON_OBJECT)
		return fail_group(err, "is not a JSON object");
	for (;;) {
		rc = read_token(parser, &token, err);
		if (rc < 0)
			return rc;
		if (token.type == TKB_JSON_OBJECT_END)
			break;
		rc = read_group_member(parser, &token, err);
		if (rc < 0)
			return rc;
	}
	rc = read_token(parser, &token, err); /* nothing may follow */
	if (rc < 0)
		return rc;
	if (parser->child_count == 0)
		return fail_group(err, "lists no files");
	return 0;
}

int tkb_group_parse(struct tkb_bytes text, const char *key,
                    struct tkb_arena *arena, struct tkb_group *out,
                    struct tkb_error *err)
{
	struct parser parser = { .json = tkb_json_of(text, 0),
		                 .key = key,
		                 .arena = arena };
	const size_t size = sizeof(parser.children[0]);
	int rc;

	if (text.size == 0)
		return fail_group(err, "is empty");
	rc = read_group(&parser, err);
	if (rc < 0)
		return rc;

	parser.group.text = text;
	parser.group.child_count = parser.child_count;
	parser.group.children =
		tkb_arena_alloc(arena, parser.child_count, size);
	if (parser.group.children == NULL)
		return tkb_fail_nomem(err);
	memcpy(parser.group.children, parser.children,
	       parser.child_count * size);
	*out = parser.group;
	return 0;
}

bool tkb_group_names(const struct tkb_group *group, struct tkb_bytes place)
{
	if (group->is_list)
		return true;
	for (size_t i = 0; i < group->child_count; i++) {
		const struct tkb_child *child = &group->children[i];

		if (!tkb_bytes_equal(tkb_bytes_slice(group->text, child->start,
		                                     child->slash),
		                     place))
			return false;
	}
	return true;
}

uint32_t tkb_group_write(const struct tkb_group *group, struct tkb_bytes prefix,
                         bool is_lean, struct tkb_buf *out)
{
	const char *separator = "\"";
	uint32_t count = 0;

	tkb_buf_add_text(out, "{\"child_paths\": ");
	tkb_buf_add_byte(out, group->is_list ? '[' : '{');
	for (size_t i = 0; i < group->child_count; i++) {
		const struct tkb_bytes name = tkb_text(group->children[i].name);

		if (is_lean && tkb_name_is_lean_drop(group->children[i].name))
			continue;
		tkb_buf_add_text(out, separator);
		separator = ", \"";
		if (!group->is_list) {
			tkb_json_escape_python(name, out);
			tkb_buf_add_text(out, "\": \"");
			tkb_buf_add(out, prefix);
			tkb_buf_add_byte(out, '/');
			count++;
		}
		tkb_json_escape_python(name, out);
		tkb_buf_add_byte(out, '"');
	}
	tkb_buf_add_text(out, group->is_list ? "]}" : "}}");
	return count;
}

void tkb_group_rewrite(const struct tkb_group *group, struct tkb_bytes prefix,
                       bool is_lean, struct tkb_buf *out, uint32_t *count_out)
{
	size_t from = 0;

	if (is_lean) {
		*count_out = tkb_group_write(group, prefix, true, out);
		return;
	}
	*count_out = 0;
	if (!group->is_list) {
		for (size_t i = 0; i < group->child_count; i++) {
			const struct tkb_child *child = &group->children[i];

			tkb_buf_add(out, tkb_bytes_slice(group->text, from,
			                                 child->start));
			tkb_buf_add(out, prefix);
			from = child->slash;
		}
		*count_out = (uint32_t)group->child_count;
	}
	tkb_buf_add(out, tkb_bytes_slice(group->text, from, group->text.size));
}

/* Put `with` in place of the first `length` raw bytes of a string value. */
struct replacement {
	size_t length;
	struct tkb_bytes with;
};

/* Decides what to replace in a string value; a length of 0 means nothing. */
struct replacer {
	int (*find)(struct replacer *replacer, struct tkb_bytes raw,
	            struct replacement *out, struct tkb_error *err);
	const char *name; /* of the file, for messages */
	const struct tkb_bytes *prefixes;
	size_t prefix_count;
	uint32_t count;
};

static int replace_strings(struct tkb_bytes text, struct replacer *replacer,
                           struct tkb_buf *out, struct tkb_error *err)
{
	struct tkb_json json = tkb_json_of(text, 0);
	struct tkb_error inner = { 0 };
	struct tkb_json_token token;
	size_t from = 0;
	int rc;

	for (;;) {
		struct replacement change = { 0 };

		rc = tkb_json_next(&json, &token, &inner);
		if (rc < 0)
			return tkb_fail_entry(err, TKB_REASON_METADATA,
			                      "'%s' is %s", replacer->name,
			                      inner.message);
		if (token.type == TKB_JSON_END)
			break;
		if (token.type != TKB_JSON_STRING)
			continue;
		rc = replacer->find(replacer, tkb_json_raw(&json, &token),
		                    &change, err);
		if (rc < 0)
			return rc;
		if (change.length == 0)
			continue;
		tkb_buf_add(out, tkb_bytes_slice(text, from, token.start + 1));
		tkb_buf_add(out, change.with);
		from = token.start + 1 + change.length;
		replacer->count++;
	}
	tkb_buf_add(out, tkb_bytes_slice(text, from, text.size));
	return tkb_buf_check(out, err);
}

static int find_prefix(struct replacer *replacer, struct tkb_bytes raw,
                       struct replacement *out, struct tkb_error *err)
{
	size_t end = 0;
	size_t next_end;

	if (tkb_json_begins(raw, tkb_text(TKB_SENTINEL), &end))
		return tkb_fail_entry(err, TKB_REASON_SENTINEL,
		                      "'%s' holds '%s' already", replacer->name,
		                      TKB_SENTINEL);
	for (size_t i = 0; i < replacer->prefix_count; i++) {
		struct tkb_bytes rest;

		if (!tkb_json_begins(raw, replacer->prefixes[i], &end))
			continue;
		rest = tkb_bytes_slice(raw, end, raw.size);
		if (rest.size != 0 &&
		    !tkb_json_begins(rest, tkb_text("/"), &next_end))
			continue;
		*out = (struct replacement){ end, tkb_text(TKB_SENTINEL) };
		return 0;
	}
	return 0;
}

int tkb_scrub(struct tkb_bytes text, const char *name,
              const struct tkb_bytes *prefixes, size_t prefix_count,
              struct tkb_buf *out, uint32_t *count_out, struct tkb_error *err)
{
	struct replacer replacer = { .find = find_prefix,
		                     .name = name,
		                     .prefixes = prefixes,
		                     .prefix_count = prefix_count };
	int rc;

	rc = replace_strings(text, &replacer, out, err);
	if (rc < 0)
		return rc;
	*count_out = replacer.count;
	return 0;
}

static int find_sentinel(struct replacer *replacer, struct tkb_bytes raw,
                         struct replacement *out, struct tkb_error *err)
{
	size_t end = 0;

	(void)err;
	if (tkb_json_begins(raw, tkb_text(TKB_SENTINEL), &end))
		*out = (struct replacement){ end, replacer->prefixes[0] };
	return 0;
}

int tkb_restore(struct tkb_bytes text, const char *name, struct tkb_bytes place,
                uint32_t count, struct tkb_buf *out, struct tkb_error *err)
{
	struct replacer replacer = { .find = find_sentinel,
		                     .name = name,
		                     .prefixes = &place,
		                     .prefix_count = 1 };
	int rc;

	rc = replace_strings(text, &replacer, out, err);
	if (rc < 0)
		return rc;
	if (replacer.count != count)
		return tkb_fail_entry(err, TKB_REASON_SENTINEL,
		                      "'%s' holds %u sentinels, the manifest "
		                      "says %u",
		                      name, (unsigned)replacer.count,
		                      (unsigned)count);
	return 0;
}
