/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NINJA_LEXER_H
#define TKB_NINJA_LEXER_H

/* Reads the words, variables and values of a build.ninja; for build.c. */

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"

struct tkb_ninja_variable {
	struct tkb_bytes name; /* a part of the text */
	const char *value;     /* in the arena */
};

/* Variables. If one is set again, the last value is used. */
struct tkb_ninja_scope {
	struct tkb_ninja_variable *items; /* owned */
	size_t count;
	size_t capacity;
};

enum {
	TKB_NINJA_VALUE_LIMIT = 1024 * 1024 /* bytes */
};

struct tkb_ninja_names;

struct tkb_ninja_lexer {
	struct tkb_bytes text;  /* kept by reference */
	struct tkb_arena arena; /* owns values and paths */
	size_t at;
	size_t expanded;                     /* bytes of all values so far */
	const struct tkb_ninja_names *names; /* while a command is expanded */
	struct tkb_ninja_scope file;
	struct tkb_ninja_scope statement; /* of the statement being read */
};

/*
 * Looks up the variables of a command. If it is not set, only the file's
 * variables are used.
 */
struct tkb_ninja_names {
	/* Append the value of `name`; nothing if it is not set. */
	int (*lookup)(void *self, struct tkb_bytes name, struct tkb_buf *out,
	              struct tkb_error *err);
	void *self;
};

void tkb_ninja_lexer_release(struct tkb_ninja_lexer *lexer);

/* Fail with "line 7 of build.ninja: <what>". */
int tkb_ninja_lexer_fail(const struct tkb_ninja_lexer *lexer, const char *what,
                         struct tkb_error *err);

/* The next byte; 0 at the end. */
unsigned char tkb_ninja_lexer_peek(const struct tkb_ninja_lexer *lexer);

/* Skip spaces and escaped line ends. */
void tkb_ninja_lexer_skip_space(struct tkb_ninja_lexer *lexer);

/* Take the end of the line, or of the text, if it is next. */
bool tkb_ninja_lexer_take_end(struct tkb_ninja_lexer *lexer);

/* Take a comment if it is next. A "$" does not continue a comment. */
bool tkb_ninja_lexer_take_comment(struct tkb_ninja_lexer *lexer);

/* Skip the rest of the line and of the lines that continue it. */
void tkb_ninja_lexer_skip_line(struct tkb_ninja_lexer *lexer);

/* Take `word` and the white space after it, if `word` is next. */
bool tkb_ninja_lexer_take(struct tkb_ninja_lexer *lexer, const char *word);

/* Take a word of letters, digits and "_.-", and the white space after it. */
TKB_NODISCARD int tkb_ninja_lexer_word(struct tkb_ninja_lexer *lexer,
                                       struct tkb_bytes *out,
                                       struct tkb_error *err);

/* Take "= value" and the end of its line, and set the variable in `scope`. */
TKB_NODISCARD int tkb_ninja_lexer_set(struct tkb_ninja_lexer *lexer,
                                      struct tkb_bytes name,
                                      struct tkb_ninja_scope *scope,
                                      struct tkb_error *err);

/* The value of `name` in `scope`, or NULL. */
const char *tkb_ninja_scope_value(const struct tkb_ninja_scope *scope,
                                  struct tkb_bytes name);

/* Append the value that begins at `at` in the text. */
TKB_NODISCARD int tkb_ninja_lexer_expand(struct tkb_ninja_lexer *lexer,
                                         size_t at,
                                         const struct tkb_ninja_names *names,
                                         struct tkb_buf *out,
                                         struct tkb_error *err);

/*
 * Take a path in ninja's canonical form, and the white space after it. Without a
 * path, `*out` is "".
 */
TKB_NODISCARD int tkb_ninja_lexer_path(struct tkb_ninja_lexer *lexer,
                                       const char **out, struct tkb_error *err);

#endif
