/* SPDX-License-Identifier: Apache-2.0 */
#include "ninja/build.h"

#include <stdlib.h>

#include "ninja/parser.h"

void tkb_ninja_build_release(struct tkb_ninja_build *build)
{
	tkb_arena_release(&build->arena);
}

static void release_parser(struct tkb_ninja_parser *parser)
{
	tkb_ninja_lexer_release(&parser->lexer);
	free(parser->bindings);
	free(parser->rules);
	free(parser->statements);
	free(parser->inputs.items);
	free(parser->outputs.items);
	free(parser->phonies.items);
}

static int add_path(struct tkb_ninja_paths *paths, const char *path,
                    struct tkb_error *err)
{
	return tkb_append(&paths->items, &paths->count, &paths->capacity, &path,
	                  sizeof(path), err);
}

/* Read paths until something else follows. */
static int read_paths(struct tkb_ninja_parser *parser,
                      struct tkb_ninja_paths *paths, struct tkb_error *err)
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

/* Take an indented "name =". TKB_MISS if the line is not indented. */
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

static int add_binding(struct tkb_ninja_parser *parser, struct tkb_bytes name,
                       struct tkb_error *err)
{
	struct tkb_ninja_lexer *lexer = &parser->lexer;
	struct tkb_ninja_binding binding = { .name = name };

	if (!tkb_ninja_lexer_take(lexer, "="))
		return tkb_ninja_lexer_fail(lexer, "no \"=\" after a word",
		                            err);
	binding.at = lexer->at;
	tkb_ninja_lexer_skip_line(lexer);
	return tkb_append(&parser->bindings, &parser->binding_count,
	                  &parser->binding_capacity, &binding, sizeof(binding),
	                  err);
}

/* Read the variables of a rule; they are expanded later, for each statement. */
static int read_bindings(struct tkb_ninja_parser *parser, struct tkb_error *err)
{
	struct tkb_ninja_lexer *lexer = &parser->lexer;
	struct tkb_bytes name;
	bool has_depfile = false;
	bool has_deps = false;
	int rc;

	tkb_ninja_lexer_skip_line(lexer);
	for (rc = read_indented(lexer, &name, err); rc == 0;
	     rc = read_indented(lexer, &name, err)) {
		has_depfile =
			has_depfile || tkb_bytes_equal_text(name, "depfile");
		has_deps = has_deps || tkb_bytes_equal_text(name, "deps");
		if (tkb_bytes_equal_text(name, "dyndep"))
			return tkb_ninja_lexer_fail(lexer, "a dyndep", err);
		rc = add_binding(parser, name, err);
		if (rc < 0)
			return rc;
	}
	if (rc < 0)
		return rc;
	if (has_depfile && !has_deps)
		return tkb_ninja_lexer_fail(
			lexer, "a rule with \"depfile\" and without \"deps\"",
			err);
	return 0;
}

/* Read a rule. */
static int read_rule(struct tkb_ninja_parser *parser, struct tkb_error *err)
{
	struct tkb_ninja_rule rule = { .first = parser->binding_count };
	int rc;

	rc = tkb_ninja_lexer_word(&parser->lexer, &rule.name, err);
	if (rc == 0)
		rc = read_bindings(parser, err);
	if (rc < 0)
		return rc;
	rule.end = parser->binding_count;
	return tkb_append(&parser->rules, &parser->rule_count,
	                  &parser->rule_capacity, &rule, sizeof(rule), err);
}

static int read_pool(struct tkb_ninja_parser *parser, struct tkb_error *err)
{
	struct tkb_bytes name;

	tkb_ninja_lexer_skip_line(&parser->lexer);
	for (;;) {
		const int rc = read_indented(&parser->lexer, &name, err);

		if (rc != 0)
			return rc < 0 ? rc : 0;
		tkb_ninja_lexer_skip_line(&parser->lexer);
	}
}

/* A variable that changes the inputs; only rules may set it here. */
static bool is_for_rules(struct tkb_bytes name)
{
	return tkb_bytes_equal_text(name, "depfile") ||
	       tkb_bytes_equal_text(name, "deps") ||
	       tkb_bytes_equal_text(name, "dyndep");
}

static int set_variable(struct tkb_ninja_lexer *lexer, struct tkb_bytes name,
                        struct tkb_ninja_scope *scope, struct tkb_error *err)
{
	if (is_for_rules(name))
		return tkb_ninja_lexer_fail(
			lexer, "a variable that only a rule may set", err);
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
		rc = set_variable(lexer, name, &lexer->statement, err);
		if (rc < 0)
			return rc;
	}
	return rc < 0 ? rc : 0;
}

/* Take "|", "||" or "|@", if the text continues with exactly that one. */
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

/* The index of the rule, or the number of rules if it is not found. */
static size_t find_rule(const struct tkb_ninja_parser *parser,
                        struct tkb_bytes name)
{
	size_t i = 0;

	while (i < parser->rule_count &&
	       !tkb_bytes_equal(parser->rules[i].name, name))
		i++;
	return i;
}

/* Keep the statement, with the variables that the lexer has read. */
static int add_statement(struct tkb_ninja_parser *parser,
                         struct tkb_ninja_statement *statement,
                         struct tkb_error *err)
{
	const struct tkb_ninja_scope *scope = &parser->lexer.statement;
	struct tkb_ninja_variable *kept = tkb_arena_alloc(
		&parser->lexer.arena, scope->count, sizeof(*kept));

	if (kept == NULL)
		return tkb_fail_nomem(err);
	if (scope->count != 0)
		memcpy(kept, scope->items, scope->count * sizeof(*kept));
	statement->variables = kept;
	statement->variable_count = scope->count;
	return tkb_append(&parser->statements, &parser->statement_count,
	                  &parser->statement_capacity, statement,
	                  sizeof(*statement), err);
}

/* What follows the outputs: "rule in | implicit || order-only |@ validation" */
static int read_inputs(struct tkb_ninja_parser *parser,
                       struct tkb_ninja_statement *statement,
                       struct tkb_error *err)
{
	static const char *const bars[] = { "||", "|@" };
	struct tkb_ninja_lexer *lexer = &parser->lexer;
	int rc;

	statement->first_input = parser->inputs.count;
	rc = read_paths(parser, &parser->inputs, err);
	statement->explicit_inputs_end = parser->inputs.count;
	if (rc == 0 && take_bar(lexer, "|"))
		rc = read_paths(parser, &parser->inputs, err);
	statement->inputs_end = parser->inputs.count;
	for (size_t i = 0; i < TKB_COUNT_OF(bars) && rc == 0; i++) {
		if (take_bar(lexer, bars[i]))
			rc = read_paths(parser, &parser->inputs, err);
	}
	if (rc < 0)
		return rc;
	if (!tkb_ninja_lexer_take_end(lexer))
		return tkb_ninja_lexer_fail(
			lexer, "something follows the inputs", err);
	return 0;
}

/* Read "out | implicit: rule in...". */
static int read_files(struct tkb_ninja_parser *parser, struct tkb_error *err)
{
	struct tkb_ninja_lexer *lexer = &parser->lexer;
	const size_t before = parser->outputs.count;
	struct tkb_ninja_statement statement = { .first_output = before };
	struct tkb_bytes rule;
	int rc;

	rc = read_paths(parser, &parser->outputs, err);
	statement.explicit_outputs_end = parser->outputs.count;
	if (rc == 0 && take_bar(lexer, "|"))
		rc = read_paths(parser, &parser->outputs, err);
	statement.outputs_end = parser->outputs.count;
	if (rc < 0)
		return rc;
	if (parser->outputs.count == before ||
	    !tkb_ninja_lexer_take(lexer, ":"))
		return tkb_ninja_lexer_fail(
			lexer, "outputs or a colon are missing", err);
	rc = tkb_ninja_lexer_word(lexer, &rule, err);
	if (rc == 0)
		rc = read_inputs(parser, &statement, err);
	if (rc < 0)
		return rc;
	if (!tkb_bytes_equal_text(rule, "phony")) {
		statement.rule = find_rule(parser, rule);
		return add_statement(parser, &statement, err);
	}
	while (parser->outputs.count > before && rc == 0)
		rc = add_path(&parser->phonies,
		              parser->outputs.items[--parser->outputs.count],
		              err);
	return rc;
}

/* Paths may use variables that are set after them, so read those first. */
static int read_build(struct tkb_ninja_parser *parser, struct tkb_error *err)
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

static int read_statement(struct tkb_ninja_parser *parser,
                          struct tkb_error *err)
{
	struct tkb_ninja_lexer *lexer = &parser->lexer;
	struct tkb_bytes word;
	int rc;

	rc = tkb_ninja_lexer_word(lexer, &word, err);
	if (rc < 0)
		return rc;
	if (tkb_ninja_lexer_peek(lexer) == '=')
		return set_variable(lexer, word, &lexer->file, err);
	if (tkb_bytes_equal_text(word, "build"))
		return read_build(parser, err);
	if (tkb_bytes_equal_text(word, "rule"))
		return read_rule(parser, err);
	if (tkb_bytes_equal_text(word, "pool"))
		return read_pool(parser, err);
	if (tkb_bytes_equal_text(word, "default")) {
		tkb_ninja_lexer_skip_line(lexer);
		return 0;
	}
	if (tkb_bytes_equal_text(word, "include") ||
	    tkb_bytes_equal_text(word, "subninja"))
		return tkb_ninja_lexer_fail(lexer, "it reads another file",
		                            err);
	return tkb_ninja_lexer_fail(lexer, "not a statement", err);
}

static int read_all(struct tkb_ninja_parser *parser, struct tkb_error *err)
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
				lexer, "an indented line without a statement",
				err);
		else
			rc = read_statement(parser, err);
	}
	return rc;
}

/* Copy the paths from `first` up to `end`. */
static int copy_paths(struct tkb_arena *arena,
                      const struct tkb_ninja_paths *paths, size_t first,
                      size_t end, const char ***items, size_t *count,
                      struct tkb_error *err)
{
	const char **kept = tkb_arena_alloc(arena, end - first, sizeof(*kept));
	int rc = 0;

	if (kept == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = first; i < end && rc == 0; i++)
		rc = tkb_arena_copy(arena, tkb_text(paths->items[i]),
		                    &kept[i - first], err);
	*items = kept;
	*count = end - first;
	return rc;
}

static int keep_edges(struct tkb_ninja_parser *parser,
                      struct tkb_ninja_build *build, struct tkb_error *err)
{
	int rc = 0;

	build->edges = tkb_arena_alloc(&build->arena, parser->statement_count,
	                               sizeof(*build->edges));
	if (build->edges == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < parser->statement_count && rc == 0; i++) {
		const struct tkb_ninja_statement *from = &parser->statements[i];
		struct tkb_ninja_edge *edge = &build->edges[i];

		rc = copy_paths(&build->arena, &parser->outputs,
		                from->first_output, from->outputs_end,
		                &edge->outputs, &edge->output_count, err);
		if (rc == 0)
			rc = copy_paths(&build->arena, &parser->inputs,
			                from->first_input, from->inputs_end,
			                &edge->inputs, &edge->input_count, err);
		if (rc == 0)
			rc = tkb_ninja_command_expand(parser, from,
			                              &build->arena, edge, err);
	}
	build->edge_count = parser->statement_count;
	return rc;
}

/* Remove the paths that are in `others`; both lists are sorted. */
static void subtract(struct tkb_ninja_paths *paths,
                     const struct tkb_ninja_paths *others)
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

int tkb_ninja_build_read(struct tkb_bytes text, struct tkb_ninja_build *out,
                         struct tkb_error *err)
{
	TKB_AUTO(release_parser)
	struct tkb_ninja_parser parser = { .lexer.text = text };
	TKB_AUTO(tkb_ninja_build_release) struct tkb_ninja_build build = { 0 };
	int rc;

	rc = read_all(&parser, err);
	if (rc == 0)
		rc = keep_edges(&parser, &build, err);
	if (rc < 0)
		return rc;
	parser.inputs.count =
		tkb_sort_texts(parser.inputs.items, parser.inputs.count);
	parser.outputs.count =
		tkb_sort_texts(parser.outputs.items, parser.outputs.count);
	parser.phonies.count =
		tkb_sort_texts(parser.phonies.items, parser.phonies.count);
	subtract(&parser.inputs, &parser.outputs);
	subtract(&parser.inputs, &parser.phonies);
	rc = copy_paths(&build.arena, &parser.inputs, 0, parser.inputs.count,
	                &build.inputs, &build.input_count, err);
	if (rc == 0)
		rc = copy_paths(&build.arena, &parser.outputs, 0,
		                parser.outputs.count, &build.outputs,
		                &build.output_count, err);
	if (rc < 0)
		return rc;
	*out = build;
	build = (struct tkb_ninja_build){ 0 };
	return 0;
}

int tkb_ninja_build_of(const struct tkb_ninja_place *place,
                       struct tkb_ninja_build *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf text = TKB_BUF_INIT(TKB_NINJA_FILE_LIMIT);
	int rc;

	rc = tkb_ninja_read_file(place, TKB_NINJA_BUILD, &text, err);
	return rc < 0 ? rc
	              : tkb_ninja_build_read(tkb_buf_bytes(&text), out, err);
}
