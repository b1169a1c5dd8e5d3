/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FORMAT_PARSER_H
#define TKB_FORMAT_PARSER_H

/*
 * What reads a manifest: values in the one order that canonical JSON allows,
 * each checked as it is read. A failure tells the byte.
 */

#include "text/json.h"
#include "format/manifest.h"
#include "format/launcher_payload.h"

struct tkb_parser {
	struct tkb_json json;
	struct tkb_manifest *manifest;
	struct tkb_json_token token; /* the one just read */
	size_t entry_capacity;
	struct tkb_entry entry;    /* the one being read */
	struct tkb_entry *entries; /* owned until the end */
	struct tkb_file *files;    /* of the entry being read; owned */
	size_t file_capacity;
	uint32_t *devices; /* likewise */
	size_t device_capacity;
	struct tkb_saved_launcher launcher;   /* the one being read */
	struct tkb_saved_launcher *launchers; /* owned until the end */
	size_t launcher_capacity;
	const char **needs; /* of the launcher being read; owned */
	size_t need_capacity;
};

/* A member of an object, and what reads its value. */
struct tkb_member_reader {
	const char *name;
	int (*read)(struct tkb_parser *parser, struct tkb_error *err);
};

void tkb_parser_release(struct tkb_parser *parser);

int tkb_parser_refuse(const struct tkb_parser *parser, const char *what,
                      struct tkb_error *err);

/* The next token, into parser->token. */
TKB_NODISCARD int tkb_parser_advance(struct tkb_parser *parser,
                                     struct tkb_error *err);

/* The next token, which must be of `type`; else `what` is wrong. */
TKB_NODISCARD int tkb_parser_expect(struct tkb_parser *parser,
                                    enum tkb_json_type type, const char *what,
                                    struct tkb_error *err);

/* Is the string just read `text`? */
bool tkb_parser_token_is(const struct tkb_parser *parser, const char *text);

/* The string just read, kept in the manifest's arena; or the next one. */
TKB_NODISCARD int tkb_parser_keep_text(struct tkb_parser *parser,
                                       const char **out, struct tkb_error *err);
TKB_NODISCARD int tkb_parser_text(struct tkb_parser *parser, const char **out,
                                  struct tkb_error *err);

/* The number just read, at most `limit`; or the next one. */
TKB_NODISCARD int tkb_parser_number_of(const struct tkb_parser *parser,
                                       uint64_t limit, uint64_t *out,
                                       struct tkb_error *err);
TKB_NODISCARD int tkb_parser_number(struct tkb_parser *parser, uint64_t limit,
                                    uint64_t *out, struct tkb_error *err);

/* The next token, a digest. */
TKB_NODISCARD int tkb_parser_digest(struct tkb_parser *parser,
                                    struct tkb_digest *out,
                                    struct tkb_error *err);

/* Go over the next value. */
TKB_NODISCARD int tkb_parser_skip(struct tkb_parser *parser,
                                  struct tkb_error *err);

/*
 * Behind the "{" of an object: every one of `members` must be there; others are
 * ignored.
 */
TKB_NODISCARD int tkb_parser_object(struct tkb_parser *parser,
                                    const struct tkb_member_reader *members,
                                    size_t count, struct tkb_error *err);

/* How a list of objects is read, and what to say of one that is wrong. */
struct tkb_list_reader {
	size_t limit;
	/* Called behind the "{" of each object. */
	int (*read_object)(struct tkb_parser *parser, struct tkb_error *err);
	const char *no_list;
	const char *no_object;
	const char *too_many;
};

/* The next value, a list of objects. */
TKB_NODISCARD int tkb_parser_objects(struct tkb_parser *parser,
                                     const struct tkb_list_reader *list,
                                     struct tkb_error *err);

/* Behind the "{" of an entry: read it into parser->entry, and check it. */
TKB_NODISCARD int tkb_parser_entry(struct tkb_parser *parser,
                                   struct tkb_error *err);

/* Likewise of a launcher, into parser->launcher. */
TKB_NODISCARD int tkb_parser_launcher(struct tkb_parser *parser,
                                      struct tkb_error *err);

#endif
