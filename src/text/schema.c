/* SPDX-License-Identifier: Apache-2.0 */
#include "text/schema.h"

#include <stdalign.h>
#include <string.h>

#include "base/digest.h"
#include "text/ascii.h"

enum {
	ALIGNMENT = alignof(max_align_t)
};

/* One item of a list while it is read. The item may contain lists itself. */
union item {
	max_align_t align;
	unsigned char bytes[TKB_SCHEMA_ITEM_SIZE];
};

int tkb_schema_refuse(const struct tkb_schema_reader *reader, const char *what,
                      struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_CORRUPT, "%s at byte %zu: %s",
	                reader->document->name, reader->token.start, what);
}

int tkb_schema_next(struct tkb_schema_reader *reader, struct tkb_error *err)
{
	struct tkb_error inner; /* not initialised: this is called often */

	if (tkb_json_next(&reader->json, &reader->token, &inner) < 0)
		return tkb_fail(err, TKB_ERR_CORRUPT, "%s is %s",
		                reader->document->name, inner.message);
	return 0;
}

int tkb_schema_skip(struct tkb_schema_reader *reader, struct tkb_error *err)
{
	struct tkb_error inner;

	if (tkb_json_skip(&reader->json, &reader->token, &inner) < 0)
		return tkb_fail(err, TKB_ERR_CORRUPT, "%s is %s",
		                reader->document->name, inner.message);
	return 0;
}

static int expect(const struct tkb_schema_reader *reader,
                  enum tkb_json_type type, const struct tkb_schema_field *field,
                  const char *sentence, struct tkb_error *err)
{
	if (reader->token.type == type)
		return 0;
	return tkb_schema_refuse(
		reader, field->missing != NULL ? field->missing : sentence,
		err);
}

static struct tkb_bytes raw_of(const struct tkb_schema_reader *reader)
{
	return tkb_json_raw(&reader->json, &reader->token);
}

/* Keep the text of the string just read in the document's arena. */
static int keep_text(const struct tkb_schema_reader *reader, const char **out,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf decoded = TKB_BUF_INIT(TKB_SCHEMA_TEXT_LIMIT);
	struct tkb_bytes value = raw_of(reader);
	int rc;

	if (value.size > TKB_SCHEMA_TEXT_LIMIT)
		return tkb_schema_refuse(reader, "a text is too long", err);
	if (memchr(value.data, '\\', value.size) != NULL) {
		tkb_json_decode(value, &decoded);
		rc = tkb_buf_check(&decoded, err);
		if (rc < 0)
			return rc;
		value = tkb_buf_bytes(&decoded);
		/* The raw text has control characters only as escapes. */
		if (tkb_has_control(value.data, value.size))
			return tkb_schema_refuse(reader, "a control character",
			                         err);
	}
	return tkb_arena_copy(reader->document->arena, value, out, err);
}

static int read_text_field(struct tkb_schema_reader *reader,
                           const struct tkb_schema_field *field, void *out,
                           struct tkb_error *err)
{
	const char *text = NULL;
	int rc;

	rc = expect(reader, TKB_JSON_STRING, field, "a string is missing", err);
	if (rc == 0)
		rc = keep_text(reader, &text, err);
	if (rc < 0)
		return rc;
	if ((field->is_valid != NULL && !field->is_valid(text)) ||
	    (field->only != NULL && strcmp(text, field->only) != 0))
		return tkb_schema_refuse(reader, field->wrong, err);
	memcpy(out, &text, sizeof(text));
	return 0;
}

static int read_number_field(struct tkb_schema_reader *reader,
                             const struct tkb_schema_field *field, void *out,
                             struct tkb_error *err)
{
	uint64_t number = 0;
	uint32_t small;

	if (!tkb_json_number(&reader->json, &reader->token, &number))
		return tkb_schema_refuse(reader, "a number is missing", err);
	if (number > field->limit)
		return tkb_schema_refuse(reader, "a number is too large", err);
	if (number < field->least)
		return tkb_schema_refuse(reader, field->wrong, err);
	small = (uint32_t)number;
	if (field->size == sizeof(number))
		memcpy(out, &number, sizeof(number));
	else
		memcpy(out, &small, sizeof(small));
	return 0;
}

static int read_digest(struct tkb_schema_reader *reader,
                       const struct tkb_schema_field *field, void *out,
                       struct tkb_error *err)
{
	int rc;

	rc = expect(reader, TKB_JSON_STRING, field, "a digest is missing", err);
	if (rc < 0)
		return rc;
	if (!tkb_digest_from_hex(raw_of(reader), out))
		return tkb_schema_refuse(reader, "a digest is not 64 digits",
		                         err);
	return 0;
}

static int read_choice(struct tkb_schema_reader *reader,
                       const struct tkb_schema_field *field, void *out,
                       struct tkb_error *err)
{
	const struct tkb_bytes raw = raw_of(reader);
	int rc;

	rc = expect(reader, TKB_JSON_STRING, field, "a string is missing", err);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; field->word(i) != NULL; i++) {
		if (!tkb_bytes_equal(raw, tkb_text(field->word(i))))
			continue;
		memcpy(out, &i, sizeof(i));
		return 0;
	}
	return tkb_schema_refuse(reader, field->wrong, err);
}

/*
 * The index of the field with the name just read; `count` if there is none. The
 * search starts at field `first`, the most likely one.
 */
static size_t find_field(const struct tkb_schema_reader *reader,
                         const struct tkb_schema *schema, size_t first)
{
	const struct tkb_bytes raw = raw_of(reader);

	/* Members are most often in the order of the fields. */
	if (first < schema->count &&
	    tkb_bytes_equal(raw, tkb_text(schema->fields[first].name)))
		return first;
	for (size_t i = 0; i < schema->count; i++) {
		const size_t at = (first + i) % schema->count;

		if (tkb_json_equals(raw, tkb_text(schema->fields[at].name)))
			return at;
	}
	return schema->count;
}

static int refuse_member(const struct tkb_schema_reader *reader,
                         const char *what, struct tkb_bytes name,
                         struct tkb_error *err)
{
	return tkb_fail(err, TKB_ERR_CORRUPT, "%s at byte %zu: %s: \"%.*s\"",
	                reader->document->name, reader->token.start, what,
	                (int)(name.size < 64 ? name.size : 64),
	                (const char *)name.data);
}

/* Read the member whose name was just read, most often field `*next`. */
static int read_object_member(struct tkb_schema_reader *reader,
                              const struct tkb_schema *schema, uint32_t *seen,
                              size_t *next, void *base, struct tkb_error *err)
{
	const size_t index = find_field(reader, schema, *next);
	const bool is_known = index < schema->count;
	int rc;

	if (schema->is_closed && !is_known)
		return refuse_member(reader, "a member is not known",
		                     raw_of(reader), err);
	if (schema->is_closed && (*seen >> index & 1) != 0)
		return refuse_member(reader, "a member is there twice",
		                     raw_of(reader), err);
	rc = tkb_schema_next(reader, err);
	if (rc < 0)
		return rc;
	if (!is_known)
		return tkb_schema_skip(reader, err);
	*seen |= UINT32_C(1) << index;
	*next = index + 1;
	return tkb_schema_value(reader, &schema->fields[index], base, err);
}

/* Read the members of an object, after its "{". */
static int read_members(struct tkb_schema_reader *reader,
                        const struct tkb_schema *schema, void *base,
                        struct tkb_error *err)
{
	uint32_t seen = 0;
	size_t next = 0;
	int rc;

	for (;;) {
		rc = tkb_schema_next(reader, err);
		if (rc < 0)
			return rc;
		if (reader->token.type == TKB_JSON_OBJECT_END)
			break;
		rc = read_object_member(reader, schema, &seen, &next, base,
		                        err);
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < schema->count; i++) {
		if ((seen >> i & 1) == 0 && !schema->fields[i].is_optional)
			return refuse_member(reader, "a member is missing",
			                     tkb_text(schema->fields[i].name),
			                     err);
	}
	return 0;
}

/* Read the parts of a tuple, after its "[". */
static int read_parts(struct tkb_schema_reader *reader,
                      const struct tkb_schema *schema, void *base,
                      struct tkb_error *err)
{
	int rc;

	for (size_t i = 0; i < schema->count; i++) {
		const struct tkb_schema_field *field = &schema->fields[i];

		rc = tkb_schema_next(reader, err);
		if (rc < 0)
			return rc;
		if (field->is_optional &&
		    reader->token.type == TKB_JSON_ARRAY_END)
			return 0;
		rc = tkb_schema_value(reader, field, base, err);
		if (rc < 0)
			return rc;
	}
	rc = tkb_schema_next(reader, err);
	if (rc == 0 && reader->token.type != TKB_JSON_ARRAY_END)
		return tkb_schema_refuse(reader, schema->too_many, err);
	return rc;
}

/* Read the item that begins here, and append it to the `count` earlier ones. */
static int add_list_item(struct tkb_schema_reader *reader,
                         const struct tkb_schema_list *list, size_t start,
                         size_t count, struct tkb_error *err)
{
	const char *fault = NULL;
	unsigned char *place;
	union item item;
	int rc;

	if (list->limit != 0 && count == list->limit)
		return tkb_schema_refuse(reader, list->too_many, err);
	memset(item.bytes, 0, list->item_size);
	rc = tkb_schema_value(reader, &list->item, item.bytes, err);
	if (rc < 0)
		return rc;
	if (list->fault != NULL)
		fault = list->fault(reader->items.data + start, count,
		                    item.bytes);
	if (fault == NULL && list->compare != NULL && count != 0 &&
	    list->compare(reader->items.data + reader->items.size -
	                          list->item_size,
	                  item.bytes) >= 0)
		fault = list->unsorted;
	if (fault != NULL)
		return tkb_schema_refuse(reader, fault, err);
	place = tkb_buf_reserve(&reader->items, list->item_size);
	if (place == NULL)
		return tkb_fail_nomem(err);
	memcpy(place, item.bytes, list->item_size);
	reader->items.size += list->item_size;
	return 0;
}

/* Move the items from index `start` on into the arena. */
static int keep_items(struct tkb_schema_reader *reader,
                      const struct tkb_schema_field *field, size_t start,
                      size_t count, void *base, struct tkb_error *err)
{
	const size_t size = field->list->item_size;
	void *kept = tkb_arena_alloc(reader->document->arena, count, size);

	if (kept == NULL)
		return tkb_fail_nomem(err);
	if (count != 0)
		memcpy(kept, reader->items.data + start, count * size);
	memcpy((char *)base + field->offset, &kept, sizeof(kept));
	memcpy((char *)base + field->count_offset, &count, sizeof(count));
	return 0;
}

/* Items of nested lists are kept after those of the outer list. */
static int read_list(struct tkb_schema_reader *reader,
                     const struct tkb_schema_field *field, void *base,
                     struct tkb_error *err)
{
	const size_t old_size = reader->items.size;
	const size_t start = (old_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	size_t count = 0;
	int rc;

	if (tkb_buf_reserve(&reader->items, start - old_size) == NULL)
		return tkb_fail_nomem(err);
	reader->items.size = start;
	for (;;) {
		rc = tkb_schema_next(reader, err);
		if (rc < 0)
			return rc;
		if (reader->token.type == TKB_JSON_ARRAY_END)
			break;
		rc = add_list_item(reader, field->list, start, count, err);
		if (rc < 0)
			return rc;
		count++;
	}
	if (count == 0 && field->list->none != NULL)
		return tkb_schema_refuse(reader, field->list->none, err);
	rc = keep_items(reader, field, start, count, base, err);
	reader->items.size = old_size;
	return rc;
}

int tkb_schema_value(struct tkb_schema_reader *reader,
                     const struct tkb_schema_field *field, void *base,
                     struct tkb_error *err)
{
	void *out = (char *)base + field->offset;
	const char *constant;
	int rc;

	switch (field->kind) {
	case TKB_SCHEMA_TEXT:
		return read_text_field(reader, field, out, err);
	case TKB_SCHEMA_CONSTANT:
		return read_text_field(reader, field, &constant, err);
	case TKB_SCHEMA_NUMBER:
		return read_number_field(reader, field, out, err);
	case TKB_SCHEMA_DIGEST:
		return read_digest(reader, field, out, err);
	case TKB_SCHEMA_CHOICE:
		return read_choice(reader, field, out, err);
	case TKB_SCHEMA_OBJECT:
		rc = expect(reader, TKB_JSON_OBJECT, field, NULL, err);
		return rc < 0 ? rc
		              : read_members(reader, field->schema, out, err);
	case TKB_SCHEMA_TUPLE:
		rc = expect(reader, TKB_JSON_ARRAY, field, NULL, err);
		return rc < 0 ? rc
		              : read_parts(reader, field->schema, out, err);
	case TKB_SCHEMA_LIST:
		rc = expect(reader, TKB_JSON_ARRAY, field, NULL, err);
		return rc < 0 ? rc : read_list(reader, field, base, err);
	case TKB_SCHEMA_CUSTOM:
		break;
	}
	reader->field = field;
	return field->read(reader, out, err);
}

int tkb_schema_version(struct tkb_schema_reader *reader, uint64_t first,
                       uint64_t *out, struct tkb_error *err)
{
	const struct tkb_schema_field number = {
		.kind = TKB_SCHEMA_NUMBER,
		.size = sizeof(*out),
		.least = first,
		.limit = UINT64_MAX,
		.wrong = "there is no such version",
	};

	return tkb_schema_value(reader, &number, out, err);
}

int tkb_schema_read(const struct tkb_schema_document *document,
                    const struct tkb_schema *schema, void *out,
                    struct tkb_error *err)
{
	const struct tkb_schema_field root = {
		.kind = TKB_SCHEMA_OBJECT,
		.schema = schema,
	};
	struct tkb_schema_reader reader = {
		.document = document,
		.json = tkb_json_of(document->text, document->flags),
		.items = TKB_BUF_INIT(SIZE_MAX / 2),
	};
	int rc;

	rc = tkb_schema_next(&reader, err);
	if (rc == 0 && reader.token.type != TKB_JSON_OBJECT)
		rc = tkb_fail(err, TKB_ERR_CORRUPT, "%s is not a JSON object",
		              document->name);
	if (rc == 0)
		rc = tkb_schema_value(&reader, &root, out, err);
	if (rc == 0)
		rc = tkb_schema_next(&reader, err); /* nothing may follow */
	tkb_buf_release(&reader.items);
	return rc;
}
