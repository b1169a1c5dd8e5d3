/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/triton_compile.h>

#include <stddef.h>
#include <stdlib.h>

#include "base/arena.h"
#include "text/json.h"
#include "compile/triton/triton_external.h"

/* A list of kernels, in JSON. */

enum {
	LIST_LIMIT = 16 * 1024 * 1024
};

struct tkb_triton_list {
	struct tkb_arena arena; /* owns the texts */
	struct tkb_triton_item *items;
	size_t count;
	size_t capacity;
};

/* The texts of a member that is a string or an array of strings. */
struct texts {
	const char **items;
	size_t count;
};

struct reader {
	struct tkb_json json;
	struct tkb_triton_list *list;
	const char *path; /* of the list */
	size_t number;    /* of the current object */
	unsigned seen;    /* bit i: members[i] was given */
	struct tkb_triton_item item;
	struct tkb_triton_unit unit; /* of the item */
	struct texts signatures;
	struct texts targets;
};

static int next_token(struct reader *reader, struct tkb_json_token *out,
                      struct tkb_error *err)
{
	struct tkb_error why = { 0 };

	if (tkb_json_next(&reader->json, out, &why) < 0)
		return tkb_fail(err, TKB_ERR_INVALID, "'%s' is %s",
		                reader->path, why.message);
	return 0;
}

static int fail_member(const struct reader *reader, const char *name,
                       const char *what, struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_INVALID,
	                "'%s', item %zu: \"%s\" must be %s", reader->path,
	                reader->number, name, what);
}

static int read_text(struct reader *reader, const char *name,
                     const struct tkb_json_token *token, void *out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(LIST_LIMIT);
	int rc;

	if (token->type != TKB_JSON_STRING)
		return fail_member(reader, name, "a string", err);
	tkb_json_decode(tkb_json_raw(&reader->json, token), &text);
	rc = tkb_buf_check(&text, err);
	if (rc < 0)
		return rc;
	if (text.size == 0 || memchr(text.data, '\0', text.size) != NULL)
		return fail_member(reader, name, "a string that is not empty",
		                   err);
	return tkb_arena_copy_buf(&reader->list->arena, &text, out, err);
}

/* Paths are relative to the list's folder. */
static int read_path(struct reader *reader, const char *name,
                     const struct tkb_json_token *token, void *out,
                     struct tkb_error *err)
{
	const char **path = out;
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(LIST_LIMIT);
	const char *slash = strrchr(reader->path, '/');
	int rc;

	rc = read_text(reader, name, token, path, err);
	if (rc < 0 || slash == NULL || (*path)[0] == '/')
		return rc;
	tkb_buf_add(&text,
	            (struct tkb_bytes){ reader->path,
	                                (size_t)(slash - reader->path) + 1 });
	tkb_buf_add_text(&text, *path);
	return tkb_arena_copy_buf(&reader->list->arena, &text, path, err);
}

/* A python without a slash is looked up on $PATH. */
static int read_python(struct reader *reader, const char *name,
                       const struct tkb_json_token *token, void *out,
                       struct tkb_error *err)
{
	const struct tkb_bytes raw = tkb_json_raw(&reader->json, token);

	if (token->type == TKB_JSON_STRING &&
	    memchr(raw.data, '/', raw.size) == NULL)
		return read_text(reader, name, token, out, err);
	return read_path(reader, name, token, out, err);
}

/* Count the strings of an array. */
static int count_texts(struct reader *reader, const char *name, size_t *out,
                       struct tkb_error *err)
{
	const struct tkb_json start = reader->json;
	struct tkb_json_token token;
	size_t count = 0;
	int rc;

	for (;;) {
		rc = next_token(reader, &token, err);
		if (rc < 0 || token.type == TKB_JSON_ARRAY_END)
			break;
		if (token.type != TKB_JSON_STRING)
			return fail_member(reader, name, "a string, or several",
			                   err);
		count++;
	}
	if (rc == 0 && count == 0)
		return fail_member(reader, name, "not empty", err);
	reader->json = start;
	*out = count;
	return rc;
}

/* Read a string or an array of strings. */
static int read_texts(struct reader *reader, const char *name,
                      const struct tkb_json_token *first, void *out,
                      struct tkb_error *err)
{
	struct texts *texts = out;
	const bool is_array = first->type == TKB_JSON_ARRAY;
	struct tkb_json_token token = *first;
	size_t count = 1;
	int rc = 0;

	if (is_array)
		rc = count_texts(reader, name, &count, err);
	if (rc < 0)
		return rc;
	texts->items = tkb_arena_alloc(&reader->list->arena, count,
	                               sizeof(*texts->items));
	if (texts->items == NULL)
		return tkb_fail_nomem(err);
	while (rc == 0 && texts->count < count) {
		if (is_array)
			rc = next_token(reader, &token, err);
		if (rc == 0)
			rc = read_text(reader, name, &token,
			               &texts->items[texts->count++], err);
	}
	return rc == 0 && is_array ? next_token(reader, &token, err) : rc;
}

static int read_number(struct reader *reader, const char *name,
                       const struct tkb_json_token *token, void *out,
                       struct tkb_error *err)
{
	uint64_t value = 0;

	if (token->type != TKB_JSON_NUMBER ||
	    !tkb_json_number(&reader->json, token, &value) || value == 0 ||
	    value > 1024)
		return fail_member(reader, name, "a number from 1 to 1024",
		                   err);
	*(uint32_t *)out = (uint32_t)value;
	return 0;
}

/* Kept verbatim: the worker parses it. */
static int read_options(struct reader *reader, const char *name,
                        const struct tkb_json_token *token, void *out,
                        struct tkb_error *err)
{
	struct tkb_json_token inner = *token;
	size_t depth = 1;
	int rc;

	if (token->type != TKB_JSON_OBJECT)
		return fail_member(reader, name, "an object", err);
	while (depth > 0) {
		rc = next_token(reader, &inner, err);
		if (rc < 0)
			return rc;
		if (inner.type == TKB_JSON_OBJECT ||
		    inner.type == TKB_JSON_ARRAY)
			depth++;
		if (inner.type == TKB_JSON_OBJECT_END ||
		    inner.type == TKB_JSON_ARRAY_END)
			depth--;
	}
	return tkb_arena_copy(
		&reader->list->arena,
		tkb_bytes_slice(reader->json.text, token->start, inner.end),
		out, err);
}

static const struct member {
	const char *name;
	bool is_required;
	int (*read)(struct reader *reader, const char *name,
	            const struct tkb_json_token *token, void *out,
	            struct tkb_error *err);
	size_t offset; /* of what is read, in struct reader */
} members[] = {
	{ "file", true, read_path, offsetof(struct reader, unit.file) },
	{ "kernel", true, read_text, offsetof(struct reader, unit.kernel) },
	{ "signature", true, read_texts, offsetof(struct reader, signatures) },
	{ "num_warps", false, read_number,
	  offsetof(struct reader, unit.num_warps) },
	{ "num_stages", false, read_number,
	  offsetof(struct reader, unit.num_stages) },
	{ "options", false, read_options,
	  offsetof(struct reader, unit.options) },
	{ "targets", false, read_texts, offsetof(struct reader, targets) },
	{ "python", false, read_python, offsetof(struct reader, item.python) },
};

static int find_member(struct reader *reader, const struct tkb_json_token *key,
                       size_t *out, struct tkb_error *err)
{
	const struct tkb_bytes name = tkb_json_raw(&reader->json, key);

	for (size_t i = 0; i < TKB_COUNT_OF(members); i++) {
		if (!tkb_json_equals(name, tkb_text(members[i].name)))
			continue;
		if ((reader->seen & (1u << i)) != 0)
			return tkb_fail(err, TKB_ERR_INVALID,
			                "'%s', item %zu: \"%s\" is given "
			                "twice",
			                reader->path, reader->number,
			                members[i].name);
		reader->seen |= 1u << i;
		*out = i;
		return 0;
	}
	return tkb_fail(err, TKB_ERR_INVALID,
	                "'%s', item %zu: \"%.*s\" is unknown; known are file, "
	                "kernel, signature, num_warps, num_stages, options, "
	                "targets, python",
	                reader->path, reader->number,
	                (int)(name.size < 64 ? name.size : 64),
	                (const char *)name.data);
}

/* Add an item for each signature. */
static int add_items(struct reader *reader, struct tkb_error *err)
{
	struct tkb_triton_list *list = reader->list;
	int rc = 0;

	for (size_t i = 0; i < TKB_COUNT_OF(members); i++) {
		if (members[i].is_required && (reader->seen & (1u << i)) == 0)
			return tkb_fail(err, TKB_ERR_INVALID,
			                "'%s', item %zu: there is no \"%s\"",
			                reader->path, reader->number,
			                members[i].name);
	}
	reader->item.targets = reader->targets.items;
	reader->item.target_count = reader->targets.count;
	for (size_t i = 0; i < reader->signatures.count && rc == 0; i++) {
		struct tkb_triton_unit *unit =
			tkb_arena_alloc(&list->arena, 1, sizeof(*unit));

		if (unit == NULL)
			return tkb_fail_nomem(err);
		*unit = reader->unit;
		unit->signature = reader->signatures.items[i];
		reader->item.unit = unit;
		rc = tkb_grow(&list->items, &list->capacity, list->count,
		              sizeof(*list->items), err);
		if (rc == 0)
			list->items[list->count++] = reader->item;
	}
	return rc;
}

static int read_object(struct reader *reader, struct tkb_error *err)
{
	struct tkb_json_token token;
	size_t index = 0;
	int rc;

	reader->seen = 0;
	reader->item = (struct tkb_triton_item){ .target_count = 0 };
	reader->unit =
		(struct tkb_triton_unit){ .struct_size = sizeof(reader->unit) };
	reader->signatures = reader->targets = (struct texts){ NULL, 0 };
	for (;;) {
		rc = next_token(reader, &token, err);
		if (rc < 0)
			return rc;
		if (token.type == TKB_JSON_OBJECT_END)
			return add_items(reader, err);
		rc = find_member(reader, &token, &index, err);
		if (rc == 0)
			rc = next_token(reader, &token, err);
		if (rc == 0)
			rc = members[index].read(
				reader, members[index].name, &token,
				(char *)reader + members[index].offset, err);
		if (rc < 0)
			return rc;
	}
}

static int read_list(struct reader *reader, struct tkb_error *err)
{
	struct tkb_json_token token;
	int rc;

	rc = next_token(reader, &token, err);
	if (rc == 0 && token.type != TKB_JSON_ARRAY)
		return tkb_fail(
			err, TKB_ERR_INVALID,
			"'%s' is not a list of kernels: it must be a JSON "
			"array of objects",
			reader->path);
	for (;;) {
		if (rc == 0)
			rc = next_token(reader, &token, err);
		if (rc < 0 || token.type == TKB_JSON_ARRAY_END)
			break;
		reader->number++;
		if (token.type != TKB_JSON_OBJECT)
			return tkb_fail(err, TKB_ERR_INVALID,
			                "'%s', item %zu is not an object",
			                reader->path, reader->number);
		rc = read_object(reader, err);
	}
	return rc < 0 ? rc : next_token(reader, &token, err);
}

static void free_at(struct tkb_triton_list **list)
{
	tkb_triton_list_free(*list);
}

int tkb_triton_list_read(const char *path, struct tkb_triton_list **out,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(LIST_LIMIT);
	TKB_AUTO(free_at)
	struct tkb_triton_list *list = tkb_alloc_array(1, sizeof(*list));
	struct reader reader = { .list = list, .path = path };
	int rc;

	if (list == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_triton_read_file(path, &text, err);
	reader.json = tkb_json_of(tkb_buf_bytes(&text), 0);
	if (rc == 0)
		rc = read_list(&reader, err);
	if (rc != 0)
		return rc;
	*out = tkb_take(list);
	return 0;
}

size_t tkb_triton_list_count(const struct tkb_triton_list *list)
{
	return list->count;
}

const struct tkb_triton_item *tkb_triton_list_item(
	const struct tkb_triton_list *list, size_t index)
{
	return &list->items[index];
}

void tkb_triton_list_free(struct tkb_triton_list *list)
{
	if (list == NULL)
		return;
	tkb_arena_release(&list->arena);
	free(list->items);
	free(list);
}
