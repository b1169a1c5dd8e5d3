/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/triton_compile.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "text/schema.h"
#include "compile/triton/triton_external.h"

/* Reads a list of kernels in JSON. */

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

/* One object of the list. */
struct reading {
	struct tkb_triton_item item;
	struct tkb_triton_unit unit; /* of the item */
	struct texts signatures;
	struct texts targets;
};

/* An object as a document, for functions that read its members. */
struct object {
	struct tkb_schema_document document;
	const char *path; /* of the list */
};

static int fail_member(const struct tkb_schema_reader *reader, const char *what,
                       struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_INVALID, "%s: \"%s\" must be %s",
	                reader->document->name, reader->field->name, what);
}

static int read_list_text(struct tkb_schema_reader *reader, void *out,
                          struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(LIST_LIMIT);
	int rc;

	if (reader->token.type != TKB_JSON_STRING)
		return fail_member(reader, reader->field->missing, err);
	tkb_json_decode(tkb_json_raw(&reader->json, &reader->token), &text);
	rc = tkb_buf_check(&text, err);
	if (rc < 0)
		return rc;
	if (text.size == 0 || memchr(text.data, '\0', text.size) != NULL)
		return fail_member(reader, "a string that is not empty", err);
	return tkb_arena_copy_buf(reader->document->arena, &text, out, err);
}

/* Paths are relative to the list's folder. */
static int read_list_path(struct tkb_schema_reader *reader, void *out,
                          struct tkb_error *err)
{
	const char *list = ((const struct object *)reader->document)->path;
	const char *slash = strrchr(list, '/');
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(LIST_LIMIT);
	const char **path = out;
	int rc;

	rc = read_list_text(reader, path, err);
	if (rc < 0 || slash == NULL || (*path)[0] == '/')
		return rc;
	tkb_buf_add(&text,
	            (struct tkb_bytes){ list, (size_t)(slash - list) + 1 });
	tkb_buf_add_text(&text, *path);
	return tkb_arena_copy_buf(reader->document->arena, &text, path, err);
}

/* Read the member `python`: a name without a slash is looked up on $PATH. */
static int read_python(struct tkb_schema_reader *reader, void *out,
                       struct tkb_error *err)
{
	const struct tkb_bytes raw =
		tkb_json_raw(&reader->json, &reader->token);

	if (reader->token.type == TKB_JSON_STRING &&
	    memchr(raw.data, '/', raw.size) == NULL)
		return read_list_text(reader, out, err);
	return read_list_path(reader, out, err);
}

/* Read a string or an array of strings. */
static int read_texts(struct tkb_schema_reader *reader, void *out,
                      struct tkb_error *err)
{
	const struct tkb_schema_field array = {
		.kind = TKB_SCHEMA_LIST,
		.offset = offsetof(struct texts, items),
		.count_offset = offsetof(struct texts, count),
		.list = reader->field->list,
	};
	struct texts *texts = out;

	if (reader->token.type == TKB_JSON_ARRAY)
		return tkb_schema_value(reader, &array, texts, err);
	texts->items = tkb_arena_alloc(reader->document->arena, 1,
	                               sizeof(*texts->items));
	if (texts->items == NULL)
		return tkb_fail_nomem(err);
	texts->count = 1;
	return read_list_text(reader, texts->items, err);
}

static int read_list_number(struct tkb_schema_reader *reader, void *out,
                            struct tkb_error *err)
{
	uint64_t value = 0;

	if (!tkb_json_number(&reader->json, &reader->token, &value) ||
	    value == 0 || value > 1024)
		return fail_member(reader, "a number from 1 to 1024", err);
	*(uint32_t *)out = (uint32_t)value;
	return 0;
}

/* Keep the options verbatim: the worker parses them. */
static int keep_options(struct tkb_schema_reader *reader, void *out,
                        struct tkb_error *err)
{
	int rc;

	if (reader->token.type != TKB_JSON_OBJECT)
		return fail_member(reader, "an object", err);
	rc = tkb_schema_skip(reader, err);
	if (rc < 0)
		return rc;
	return tkb_arena_copy(reader->document->arena,
	                      tkb_bytes_slice(reader->json.text,
	                                      reader->token.start,
	                                      reader->json.at),
	                      out, err);
}

#define TEXTS(name_)                                                           \
	{                                                                      \
		.item = { .name = (name_),                                     \
			  .kind = TKB_SCHEMA_CUSTOM,                           \
			  .missing = "a string, or several",                   \
			  .read = read_list_text },                            \
		.item_size = sizeof(const char *),                             \
		.none = "\"" name_ "\" is empty"                               \
	}

static const struct tkb_schema_list signatures = TEXTS("signature");
static const struct tkb_schema_list targets = TEXTS("targets");

#define FIELD(name_, member_, read_, is_optional_)                             \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_CUSTOM,                    \
		.offset = offsetof(struct reading, member_),                   \
		.is_optional = (is_optional_), .missing = "a string",          \
		.read = (read_)                                                \
	}
#define FIELD_TEXTS(name_, member_, list_, is_optional_)                       \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_CUSTOM,                    \
		.offset = offsetof(struct reading, member_),                   \
		.is_optional = (is_optional_),                                 \
		.missing = "a string, or several", .list = (list_),            \
		.read = read_texts                                             \
	}

static const struct tkb_schema_field fields[] = {
	FIELD("file", unit.file, read_list_path, false),
	FIELD("kernel", unit.kernel, read_list_text, false),
	FIELD_TEXTS("signature", signatures, &signatures, false),
	FIELD("num_warps", unit.num_warps, read_list_number, true),
	FIELD("num_stages", unit.num_stages, read_list_number, true),
	FIELD("options", unit.options, keep_options, true),
	FIELD_TEXTS("targets", targets, &targets, true),
	FIELD("python", item.python, read_python, true),
};

/* Add an item for each signature. */
static int add_items(struct tkb_triton_list *list, struct reading *reading,
                     struct tkb_error *err)
{
	int rc = 0;

	reading->item.targets = reading->targets.items;
	reading->item.target_count = reading->targets.count;
	for (size_t i = 0; i < reading->signatures.count && rc == 0; i++) {
		struct tkb_triton_unit *unit =
			tkb_arena_alloc(&list->arena, 1, sizeof(*unit));

		if (unit == NULL)
			return tkb_fail_nomem(err);
		*unit = reading->unit;
		unit->signature = reading->signatures.items[i];
		reading->item.unit = unit;
		rc = tkb_append(&list->items, &list->count, &list->capacity,
		                &reading->item, sizeof(reading->item), err);
	}
	return rc;
}

/* The `number`-th item of the list. */
static int read_object(struct tkb_triton_list *list, const char *path,
                       size_t number, struct tkb_bytes text,
                       struct tkb_error *err)
{
	static const struct tkb_schema schema = {
		.fields = fields,
		.count = TKB_COUNT_OF(fields),
		.is_closed = true,
	};
	char name[32];
	const struct object object = {
		.document = { .text = text,
		              .name = name,
		              .arena = &list->arena },
		.path = path,
	};
	struct reading reading = {
		.unit = { .struct_size = sizeof(reading.unit) },
	};
	int rc;

	(void)snprintf(name, sizeof(name), "item %zu", number);
	rc = tkb_schema_read(&object.document, &schema, &reading, err);
	if (rc == TKB_ERR_CORRUPT || rc == TKB_ERR_INVALID)
		return tkb_fail_while(err, TKB_ERR_INVALID, "'%s'", path);
	return rc < 0 ? rc : add_items(list, &reading, err);
}

static int fail_document(const char *path, const struct tkb_error *why,
                         struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_INVALID, "'%s' is %s", path, why->message);
}

static int read_list(struct tkb_triton_list *list, const char *path,
                     struct tkb_bytes text, struct tkb_error *err)
{
	struct tkb_json json = tkb_json_of(text, 0);
	struct tkb_error why = { 0 };
	struct tkb_json_token token;
	int rc;

	if (tkb_json_next(&json, &token, &why) < 0)
		return fail_document(path, &why, err);
	if (token.type != TKB_JSON_ARRAY)
		return tkb_fail(
			err, TKB_ERR_INVALID,
			"'%s' is not a list of kernels: it must be a JSON "
			"array of objects",
			path);
	for (size_t number = 1;; number++) {
		if (tkb_json_next(&json, &token, &why) < 0 ||
		    tkb_json_skip(&json, &token, &why) < 0)
			return fail_document(path, &why, err);
		if (token.type == TKB_JSON_ARRAY_END)
			break;
		rc = read_object(list, path, number,
		                 tkb_bytes_slice(text, token.start, json.at),
		                 err);
		if (rc < 0)
			return rc;
	}
	return tkb_json_next(&json, &token, &why) < 0
	               ? fail_document(path, &why, err)
	               : 0;
}

TKB_AUTO_POINTER(free_at, struct tkb_triton_list, tkb_triton_list_free)

int tkb_triton_list_read(const char *path, struct tkb_triton_list **out,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(LIST_LIMIT);
	TKB_AUTO(free_at)
	struct tkb_triton_list *list = tkb_alloc_array(1, sizeof(*list));
	int rc;

	if (list == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_triton_read_file(path, &text, err);
	if (rc == 0)
		rc = read_list(list, path, tkb_buf_bytes(&text), err);
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
