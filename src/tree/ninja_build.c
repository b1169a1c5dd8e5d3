/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/ninja_build.h"

#include <stdlib.h>

#include "tree/ninja_lexer.h"

void tkb_ninja_build_release(struct tkb_ninja_build *build)
{
	tkb_arena_release(&build->arena);
}

struct paths {
	const char **items; /* owned; each in the lexer's arena */
	size_t count;
	size_t capacity;
};

struct parser {
	struct tkb_ninja_lexer lexer;
	struct paths inputs;
	struct paths outputs; /* of statements that are not phony */
	struct paths phonies; /* outputs of those that are */
};

static void release_parser(struct parser *parser)
{
	tkb_ninja_lexer_release(&parser->lexer);
	free(parser->inputs.items);
	free(parser->outputs.items);
	free(parser->phonies.items);
}

static int add_path(struct paths *paths, const char *path,
                    struct tkb_error *err)
{
	const int rc = tkb_grow(&paths->items, &paths->capacity, paths->count,
	                        sizeof(*paths->items), err);

	if (rc == 0)
		paths->items[paths->count++] = path;
	return rc;
}

/* Read paths up to what is none. */
static int read_paths(struct parser *parser, struct paths *paths,
                      struct tkb_error *err)
{
	const char *path;
	int rc;

	for (;;) {
		rc = tkb_ninja_lexer_path(&parser->lexer, &path, err);
		if (rc < 0 || *path == '\0')
			return rc;
		rc = add_path(paths, path, err);
		if (rc < 0)
			return rc;
	}
}

static bool is_word(struct tkb_bytes word, const char *wanted)
{
	return tkb_bytes_equal(word, tkb_text(wanted));
}

/*
 * Take an indented "name =" of a rule, pool or statement. TKB_MISS: the line is
 * not indented.
 */
static int read_indented(struct tkb_ninja_lexer *lexer, struct tkb_bytes *name,
                         struct tkb_error *err)
{
	while (lexer->at < lexer->text.size) {
		const size_t start = lexer->at;

		tkb_ninja_lexer_skip_space(lexer);
		if (tkb_ninja_lexer_take_comment(lexer))
			continue;
		if (lexer->at == start)
			return TKB_MISS;
		if (!tkb_ninja_lexer_take_end(lexer))
			return tkb_ninja_lexer_word(lexer, name, err);
	}
	return TKB_MISS;
}

/* A rule's commands make no paths; what they read does. */
static int read_rule(struct tkb_ninja_lexer *lexer, struct tkb_error *err)
{
	struct tkb_bytes name;
	bool has_depfile = false;
	bool has_deps = false;
	int rc;

	tkb_ninja_lexer_skip_line(lexer);
	for (rc = read_indented(lexer, &name, err); rc == 0;
	     rc = read_indented(lexer, &name, err)) {
		has_depfile = has_depfile || is_word(name, "depfile");
		has_deps = has_deps || is_word(name, "deps");
		if (is_word(name, "dyndep"))
			return tkb_ninja_lexer_fail(lexer, "a dyndep", err);
		tkb_ninja_lexer_skip_line(lexer);
	}
	if (rc < 0)
		return rc;
	if (has_depfile && !has_deps)
		return tkb_ninja_lexer_fail(
			lexer, "a rule with a depfile that ninja does not keep",
			err);
	return 0;
}

/* A variable that a rule alone may set, since it changes what inputs there are. */
static bool is_for_rules(struct tkb_bytes name)
{
	return is_word(name, "depfile") || is_word(name, "deps") ||
	       is_word(name, "dyndep");
}

static int set(struct tkb_ninja_lexer *lexer, struct tkb_bytes name,
               struct tkb_ninja_scope *scope, struct tkb_error *err)
{
	if (is_for_rules(name))
		return tkb_ninja_lexer_fail(
			lexer, "inputs that only a rule may speak of", err);
	return tkb_ninja_lexer_set(lexer, name, scope, err);
}

/* Read the variables below a statement. */
static int read_variables(struct tkb_ninja_lexer *lexer, struct tkb_error *err)
{
	struct tkb_bytes name;
	int rc;

	lexer->statement.count = 0;
	tkb_ninja_lexer_skip_line(lexer);
	for (rc = read_indented(lexer, &name, err); rc == 0;
	     rc = read_indented(lexer, &name, err)) {
		rc = set(lexer, name, &lexer->statement, err);
		if (rc < 0)
			return rc;
	}
	return rc < 0 ? rc : 0;
}

/* Take "|", "||" or "|@" if it, and no other of them, is next. */
static bool take_bar(struct tkb_ninja_lexer *lexer, const char *bar)
{
	const size_t start = lexer->at;

	if (!tkb_ninja_lexer_take(lexer, bar))
		return false;
	if (bar[1] == '\0' && lexer->at == start + 1 &&
	    (tkb_ninja_lexer_peek(lexer) == '|' ||
	     tkb_ninja_lexer_peek(lexer) == '@')) {
		lexer->at = start;
		return false;
	}
	return true;
}

/* "out | implicit: rule in | implicit || order-only |@ validation" */
static int read_files(struct parser *parser, struct tkb_error *err)
{
	static const char *const bars[] = { "|", "||", "|@" };
	struct tkb_ninja_lexer *lexer = &parser->lexer;
	const size_t before = parser->outputs.count;
	struct tkb_bytes rule;
	int rc;

	rc = read_paths(parser, &parser->outputs, err);
	if (rc == 0 && take_bar(lexer, "|"))
		rc = read_paths(parser, &parser->outputs, err);
	if (rc < 0)
		return rc;
	if (parser->outputs.count == before ||
	    !tkb_ninja_lexer_take(lexer, ":"))
		return tkb_ninja_lexer_fail(lexer, "no outputs and a colon",
		                            err);
	rc = tkb_ninja_lexer_word(lexer, &rule, err);
	if (rc == 0)
		rc = read_paths(parser, &parser->inputs, err);
	for (size_t i = 0; i < TKB_COUNT_OF(bars) && rc == 0; i++) {
		if (take_bar(lexer, bars[i]))
			rc = read_paths(parser, &parser->inputs, err);
	}
	if (rc < 0)
		return rc;
	if (!tkb_ninja_lexer_take_end(lexer))
		return tkb_ninja_lexer_fail(lexer,
		                            "something behind the inputs", err);
	while (is_word(rule, "phony") && parser->outputs.count > before &&
	       rc == 0)
		rc = add_path(&parser->phonies,
		              parser->outputs.items[--parser->outputs.count],
		              err);
	return rc;
}

/* Paths are expanded with variables that stand below them. */
static int read_build(struct parser *parser, struct tkb_error *err)
{
	struct tkb_ninja_lexer *lexer = &parser->lexer;
	const size_t start = lexer->at;
	size_t end;
	int rc;

	rc = read_variables(lexer, err);
	if (rc < 0)
		return rc;
	end = lexer->at;
	lexer->at = start;
	rc = read_files(parser, err);
	lexer->at = end;
	return rc;
}

static int read_statement(struct parser *parser, struct tkb_error *err)
{
	struct tkb_ninja_lexer *lexer = &parser->lexer;
	struct tkb_bytes word;
	int rc;

	rc = tkb_ninja_lexer_word(lexer, &word, err);
	if (rc < 0)
		return rc;
	if (tkb_ninja_lexer_peek(lexer) == '=')
		return set(lexer, word, &lexer->file, err);
	if (is_word(word, "build"))
		return read_build(parser, err);
	if (is_word(word, "rule") || is_word(word, "pool"))
		return read_rule(lexer, err);
	if (is_word(word, "default")) {
		tkb_ninja_lexer_skip_line(lexer);
		return 0;
	}
	if (is_word(word, "include") || is_word(word, "subninja"))
		return tkb_ninja_lexer_fail(lexer, "it reads another file",
		                            err);
	return tkb_ninja_lexer_fail(lexer, "no statement", err);
}

static int read_all(struct parser *parser, struct tkb_error *err)
{
	struct tkb_ninja_lexer *lexer = &parser->lexer;
	int rc = 0;

	while (rc == 0 && lexer->at < lexer->text.size) {
		const size_t start = lexer->at;

		tkb_ninja_lexer_skip_space(lexer);
		if (tkb_ninja_lexer_take_comment(lexer) ||
		    tkb_ninja_lexer_take_end(lexer))
			continue;
		if (lexer->at != start)
			rc = tkb_ninja_lexer_fail(
				lexer, "an indent that belongs to nothing",
				err);
		else
			rc = read_statement(parser, err);
	}
	return rc;
}

static void sort(struct paths *paths)
{
	size_t kept = 0;

	if (paths->count == 0)
		return;
	qsort(paths->items, paths->count, sizeof(*paths->items),
	      tkb_compare_texts);
	for (size_t i = 0; i < paths->count; i++) {
		if (kept == 0 ||
		    strcmp(paths->items[i], paths->items[kept - 1]) != 0)
			paths->items[kept++] = paths->items[i];
	}
	paths->count = kept;
}

/* Drop what is in `others`; both are sorted. */
static void subtract(struct paths *paths, const struct paths *others)
{
	size_t kept = 0;
	size_t other = 0;

	for (size_t i = 0; i < paths->count; i++) {
		while (other < others->count &&
		       strcmp(others->items[other], paths->items[i]) < 0)
			other++;
		if (other == others->count ||
		    strcmp(others->items[other], paths->items[i]) != 0)
			paths->items[kept++] = paths->items[i];
	}
	paths->count = kept;
}

static int keep(struct tkb_arena *arena, const struct paths *paths,
                const char ***items, size_t *count, struct tkb_error *err)
{
	const char **kept = tkb_arena_alloc(arena, paths->count, sizeof(*kept));
	int rc = 0;

	if (kept == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < paths->count && rc == 0; i++)
		rc = tkb_arena_copy(arena, tkb_text(paths->items[i]), &kept[i],
		                    err);
	*items = kept;
	*count = paths->count;
	return rc;
}

int tkb_ninja_build_read(struct tkb_bytes text, struct tkb_ninja_build *out,
                         struct tkb_error *err)
{
	TKB_AUTO(release_parser) struct parser parser = { .lexer.text = text };
	TKB_AUTO(tkb_ninja_build_release) struct tkb_ninja_build build = { 0 };
	int rc;

	rc = read_all(&parser, err);
	if (rc < 0)
		return rc;
	sort(&parser.inputs);
	sort(&parser.outputs);
	sort(&parser.phonies);
	subtract(&parser.inputs, &parser.outputs);
	subtract(&parser.inputs, &parser.phonies);
	rc = keep(&build.arena, &parser.inputs, &build.inputs,
	          &build.input_count, err);
	if (rc == 0)
		rc = keep(&build.arena, &parser.outputs, &build.outputs,
		          &build.output_count, err);
	if (rc < 0)
		return rc;
	*out = build;
	build = (struct tkb_ninja_build){ 0 };
	return 0;
}
