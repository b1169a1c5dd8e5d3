/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TEXT_SCHEMA_H
#define TKB_TEXT_SCHEMA_H

/*
 * Reads a JSON document into structs by tables of fields: each says where a
 * value goes, of which kind it must be, and what is said of one that is not.
 *
 *     static const struct tkb_schema_field point_fields[] = {
 *             TKB_FIELD_NUMBER("x", struct point, x, 100),
 *             TKB_FIELD_NUMBER("y", struct point, y, 100),
 *     };
 *     static const struct tkb_schema point = TKB_SCHEMA_OF(point_fields);
 *
 *     rc = tkb_schema_read(&document, &point, &here, err);
 *
 * A failure is TKB_ERR_CORRUPT and tells the byte: "the map at byte 5: a number
 * is too large". Texts and lists are kept in the document's arena.
 */

#include "base/arena.h"
#include "text/json.h"

struct tkb_schema_reader;

enum tkb_schema_kind {
	TKB_SCHEMA_TEXT,   /* const char *: no control characters */
	TKB_SCHEMA_NUMBER, /* uint64_t or uint32_t, from `least` to `limit` */
	TKB_SCHEMA_DIGEST, /* struct tkb_digest */
	TKB_SCHEMA_CHOICE, /* an enum: a text that `word` has */
	TKB_SCHEMA_OBJECT, /* the struct that `schema` is of */
	TKB_SCHEMA_TUPLE,  /* likewise, an array of the fields in order */
	TKB_SCHEMA_LIST,   /* a pointer, and a size_t at `count_offset` */
	TKB_SCHEMA_CUSTOM  /* what `read` makes of it */
};

/* Fields that belong together. */
struct tkb_schema {
	const struct tkb_schema_field *fields;
	size_t count;         /* at most 32 */
	bool is_closed;       /* refuse unknown and repeated members */
	const char *too_many; /* of a tuple: the message for a further part */
};

/* One value. Of an object, or, without a name, of a tuple or a list. */
struct tkb_schema_field {
	const char *name;
	enum tkb_schema_kind kind;
	size_t offset;
	size_t size; /* of a number: of what it is kept in */
	size_t count_offset;
	uint64_t least; /* of a number; `wrong` is said below it */
	uint64_t limit;
	bool is_optional;    /* of a tuple, only the last ones may be */
	const char *missing; /* what to say of another kind of value; NULL for
	                        the common sentence of texts, numbers, digests */
	const char *wrong;   /* what to say of a value that is not allowed */
	bool (*is_valid)(const char *text);   /* NULL: any text */
	const char *(*word)(unsigned number); /* of an enum; NULL: no more */
	const struct tkb_schema *schema;
	const struct tkb_schema_list *list;
	/* Called behind the value's first token, to go behind its last. */
	int (*read)(struct tkb_schema_reader *reader, void *out,
	            struct tkb_error *err);
};

#define TKB_FIELD_TEXT(name_, type_, member_, is_valid_, wrong_)               \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_TEXT,                      \
		.offset = offsetof(type_, member_), .is_valid = (is_valid_),   \
		.wrong = (wrong_)                                              \
	}
#define TKB_FIELD_NUMBER(name_, type_, member_, limit_)                        \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_NUMBER,                    \
		.offset = offsetof(type_, member_),                            \
		.size = sizeof(((type_ *)0)->member_), .limit = (limit_)       \
	}
#define TKB_FIELD_DIGEST(name_, type_, member_)                                \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_DIGEST,                    \
		.offset = offsetof(type_, member_)                             \
	}
#define TKB_FIELD_CHOICE(name_, type_, member_, word_, missing_, wrong_)       \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_CHOICE,                    \
		.offset = offsetof(type_, member_), .word = (word_),           \
		.missing = (missing_), .wrong = (wrong_)                       \
	}
#define TKB_FIELD_TUPLE(name_, offset_, schema_, missing_)                     \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_TUPLE,                     \
		.offset = (offset_), .schema = (schema_),                      \
		.missing = (missing_)                                          \
	}
#define TKB_FIELD_LIST(name_, type_, member_, count_, list_, missing_)         \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_LIST,                      \
		.offset = offsetof(type_, member_),                            \
		.count_offset = offsetof(type_, count_), .list = (list_),      \
		.missing = (missing_)                                          \
	}
#define TKB_FIELD_CUSTOM(name_, read_)                                         \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_CUSTOM, .read = (read_)    \
	}

/* An optional member, which goes where `member_` is. */
#define TKB_FIELD_CUSTOM_AT(name_, type_, member_, read_)                      \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_CUSTOM,                    \
		.offset = offsetof(type_, member_), .is_optional = true,       \
		.read = (read_)                                                \
	}

#define TKB_SCHEMA_OF(fields_)                                                 \
	{                                                                      \
		.fields = (fields_), .count = TKB_COUNT_OF(fields_)            \
	}

/* A list of equal items. */
struct tkb_schema_list {
	struct tkb_schema_field item;
	size_t item_size; /* at most TKB_SCHEMA_ITEM_SIZE */
	size_t limit;     /* of items; 0: none */
	const char *none; /* what to say of an empty list; NULL: it may be */
	const char *too_many; /* what to say beyond the limit */
	/* What is wrong with `item`, behind `count` `earlier` ones; or NULL. */
	const char *(*fault)(const void *earlier, size_t count,
	                     const void *item);
};

enum {
	TKB_SCHEMA_TEXT_LIMIT = 4096, /* bytes of a text, with its escapes */
	TKB_SCHEMA_ITEM_SIZE = 256
};

/* What is read. */
struct tkb_schema_document {
	struct tkb_bytes text;   /* kept by reference */
	unsigned flags;          /* of enum tkb_json_flags */
	const char *name;        /* "the manifest" */
	struct tkb_arena *arena; /* likewise */
};

/* Fill `out`, a struct of `schema`. 0, TKB_ERR_CORRUPT, _NOMEM, or a hook's. */
TKB_NODISCARD int tkb_schema_read(const struct tkb_schema_document *document,
                                  const struct tkb_schema *schema, void *out,
                                  struct tkb_error *err);

/* For hooks: a document while it is read. */
struct tkb_schema_reader {
	const struct tkb_schema_document *document;
	struct tkb_json json;
	struct tkb_json_token token;          /* the last one read */
	const struct tkb_schema_field *field; /* the one whose hook is called */
	struct tkb_buf items; /* owned; of lists that are not whole */
};

int tkb_schema_refuse(const struct tkb_schema_reader *reader, const char *what,
                      struct tkb_error *err);

/* Read the next token. */
TKB_NODISCARD int tkb_schema_next(struct tkb_schema_reader *reader,
                                  struct tkb_error *err);

/* The value that begins with the last token, into the struct at `base`. */
TKB_NODISCARD int tkb_schema_value(struct tkb_schema_reader *reader,
                                   const struct tkb_schema_field *field,
                                   void *base, struct tkb_error *err);

/*
 * The value that begins with the last token, as the number of a version, of
 * which `first` is the lowest.
 */
TKB_NODISCARD int tkb_schema_version(struct tkb_schema_reader *reader,
                                     uint64_t first, uint64_t *out,
                                     struct tkb_error *err);

/* Go behind the value that begins with the last token. */
TKB_NODISCARD int tkb_schema_skip(struct tkb_schema_reader *reader,
                                  struct tkb_error *err);

#endif
