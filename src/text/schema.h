/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TEXT_SCHEMA_H
#define TKB_TEXT_SCHEMA_H

/*
 * Reads a JSON document into structs, as tables of fields describe it. A field
 * says where its value goes, which kind it must have, and the error message if
 * it has another.
 *
 *     static const struct tkb_schema_field point_fields[] = {
 *             TKB_FIELD_NUMBER("x", struct point, x, 100),
 *             TKB_FIELD_NUMBER("y", struct point, y, 100),
 *     };
 *     static const struct tkb_schema point = TKB_SCHEMA_OF(point_fields);
 *
 *     rc = tkb_schema_read(&document, &point, &here, err);
 *
 * A failure is TKB_ERR_CORRUPT, and its message names the byte: "the map at
 * byte 5: a number is too large". Texts and lists are kept in the document's
 * arena.
 */

#include "base/arena.h"
#include "text/json.h"

struct tkb_schema_reader;

enum tkb_schema_kind {
	TKB_SCHEMA_TEXT,     /* const char *: no control characters */
	TKB_SCHEMA_CONSTANT, /* the text `only`; it is not stored */
	TKB_SCHEMA_NUMBER,   /* uint64_t or uint32_t, from `least` to `limit` */
	TKB_SCHEMA_DIGEST,   /* struct tkb_digest */
	TKB_SCHEMA_CHOICE,   /* an enum: one of the texts of `word` */
	TKB_SCHEMA_OBJECT,   /* the struct that `schema` describes */
	TKB_SCHEMA_TUPLE,    /* the same, written as an array of the fields */
	TKB_SCHEMA_LIST,     /* a pointer, and a size_t at `count_offset` */
	TKB_SCHEMA_CUSTOM    /* a value that `read` reads */
};

/* The fields of one object or tuple. */
struct tkb_schema {
	const struct tkb_schema_field *fields;
	size_t count;         /* at most 32 */
	bool is_closed;       /* refuse unknown and repeated members */
	const char *too_many; /* of a tuple: message if it has more parts */
};

/*
 * One value: a member of an object; without a name, a part of a tuple or an
 * item of a list.
 */
struct tkb_schema_field {
	const char *name;
	enum tkb_schema_kind kind;
	size_t offset;
	size_t size; /* of a number: the size of the variable */
	size_t count_offset;
	uint64_t least; /* of a number; `wrong` is the message below it */
	uint64_t limit;
	bool is_optional;    /* in a tuple, only the last parts may be */
	const char *missing; /* the message for another kind of value; NULL:
	                        the common one for texts, numbers and digests */
	const char *wrong;   /* the message for a value that is not allowed */
	bool (*is_valid)(const char *text); /* NULL: any text */
	const char *only;                   /* the only valid text; NULL: any */
	const char *(*word)(unsigned number); /* of an enum; NULL: no more */
	const struct tkb_schema *schema;
	const struct tkb_schema_list *list;
	/* Called after the value's first token; reads up to its last. */
	int (*read)(struct tkb_schema_reader *reader, void *out,
	            struct tkb_error *err);
};

#define TKB_FIELD_TEXT(name_, type_, member_, is_valid_, wrong_)               \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_TEXT,                      \
		.offset = offsetof(type_, member_), .is_valid = (is_valid_),   \
		.wrong = (wrong_)                                              \
	}
#define TKB_FIELD_CONSTANT(name_, only_, wrong_)                               \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_CONSTANT, .only = (only_), \
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
#define TKB_FIELD_OBJECT(name_, offset_, schema_, missing_)                    \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_OBJECT,                    \
		.offset = (offset_), .schema = (schema_),                      \
		.missing = (missing_)                                          \
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
#define TKB_FIELD_CUSTOM(name_, offset_, read_)                                \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_CUSTOM,                    \
		.offset = (offset_), .read = (read_)                           \
	}

/* A list that may be missing. */
#define TKB_OPTIONAL_LIST(name_, type_, member_, count_, list_, missing_)      \
	{                                                                      \
		.name = (name_), .kind = TKB_SCHEMA_LIST,                      \
		.offset = offsetof(type_, member_),                            \
		.count_offset = offsetof(type_, count_), .is_optional = true,  \
		.list = (list_), .missing = (missing_)                         \
	}

/* An optional member that is stored in `member_`. */
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

/*
 * Pointers to a schema of `fields_`: of an object that may have other members, of
 * one that may not, and of a tuple.
 */
#define TKB_OBJECT_OF(fields_)                                                 \
	(&(const struct tkb_schema)TKB_SCHEMA_OF(fields_))
#define TKB_CLOSED_OF(fields_)                                                 \
	(&(const struct tkb_schema){ .fields = (fields_),                      \
	                             .count = TKB_COUNT_OF(fields_),           \
	                             .is_closed = true })
#define TKB_TUPLE_OF(fields_, too_many_)                                       \
	(&(const struct tkb_schema){ .fields = (fields_),                      \
	                             .count = TKB_COUNT_OF(fields_),           \
	                             .too_many = (too_many_) })

/* A list of items of one type. */
struct tkb_schema_list {
	struct tkb_schema_field item;
	size_t item_size;     /* at most TKB_SCHEMA_ITEM_SIZE */
	size_t limit;         /* number of items; 0: unlimited */
	const char *none;     /* the message for an empty list; NULL: allowed */
	const char *too_many; /* the message for more items than the limit */
	/* The order of items, without duplicates, and the message for another
	   order; NULL: any. */
	int (*compare)(const void *a, const void *b);
	const char *unsorted;
	/* What is wrong with `item` after `count` `earlier` ones, or NULL. */
	const char *(*fault)(const void *earlier, size_t count,
	                     const void *item);
};

/* The items of a list: structs of `type_`, which `schema_` describes. */
#define TKB_ITEMS_OBJECT(type_, schema_, missing_)                             \
	.item = TKB_FIELD_OBJECT(NULL, 0, schema_, missing_),                  \
	.item_size = sizeof(type_)
#define TKB_ITEMS_TUPLE(type_, schema_, missing_)                              \
	.item = TKB_FIELD_TUPLE(NULL, 0, schema_, missing_),                   \
	.item_size = sizeof(type_)

enum {
	TKB_SCHEMA_TEXT_LIMIT = 4096, /* bytes of a text, with its escapes */
	TKB_SCHEMA_ITEM_SIZE = 256
};

/* The document to read. */
struct tkb_schema_document {
	struct tkb_bytes text;   /* kept by reference */
	unsigned flags;          /* of enum tkb_json_flags */
	const char *name;        /* for messages: "the manifest" */
	struct tkb_arena *arena; /* by reference; texts and lists go there */
};

/*
 * Fill `out`, a struct that `schema` describes. Returns 0, TKB_ERR_CORRUPT,
 * TKB_ERR_NOMEM, or the result of a `read` function.
 */
TKB_NODISCARD int tkb_schema_read(const struct tkb_schema_document *document,
                                  const struct tkb_schema *schema, void *out,
                                  struct tkb_error *err);

/* A document while it is read, for `read` functions. */
struct tkb_schema_reader {
	const struct tkb_schema_document *document;
	struct tkb_json json;
	struct tkb_json_token token;          /* the last token read */
	const struct tkb_schema_field *field; /* whose `read` is called */
	struct tkb_buf items; /* owned; items of unfinished lists */
};

int tkb_schema_refuse(const struct tkb_schema_reader *reader, const char *what,
                      struct tkb_error *err);

/* Read the next token. */
TKB_NODISCARD int tkb_schema_next(struct tkb_schema_reader *reader,
                                  struct tkb_error *err);

/* Read the value that begins with the last token into the struct at `base`. */
TKB_NODISCARD int tkb_schema_value(struct tkb_schema_reader *reader,
                                   const struct tkb_schema_field *field,
                                   void *base, struct tkb_error *err);

/*
 * Read the value that begins with the last token as a version number, of which
 * `first` is the lowest.
 */
TKB_NODISCARD int tkb_schema_version(struct tkb_schema_reader *reader,
                                     uint64_t first, uint64_t *out,
                                     struct tkb_error *err);

/* Skip the rest of the value that begins with the last token. */
TKB_NODISCARD int tkb_schema_skip(struct tkb_schema_reader *reader,
                                  struct tkb_error *err);

#endif
