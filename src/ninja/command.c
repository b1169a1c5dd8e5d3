/* SPDX-License-Identifier: Apache-2.0 */
#include "ninja/build.h"
#include "ninja/parser.h"

enum {
	DEPTH_LIMIT = 16 /* of nested variables */
};

/* The statement whose variables are looked up, and the depth of nesting. */
struct edge_names {
	struct tkb_ninja_parser *parser;
	const struct tkb_ninja_statement *statement;
	size_t depth;
};

static bool is_safe_in_shell(const char *path)
{
	static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz"
				   "0123456789_+-./";

	return path[strspn(path, safe)] == '\0';
}

/* Append a path with ninja's quoting for commands. */
static void add_quoted(const char *path, struct tkb_buf *out)
{
	if (is_safe_in_shell(path)) {
		tkb_buf_add_text(out, path);
		return;
	}
	tkb_buf_add_byte(out, '\'');
	for (; *path != '\0'; path++) {
		if (*path == '\'')
			tkb_buf_add_text(out, "'\\''");
		else
			tkb_buf_add_byte(out, *path);
	}
	tkb_buf_add_byte(out, '\'');
}

static void add_paths(const struct tkb_ninja_paths *paths, size_t first,
                      size_t end, char separator, struct tkb_buf *out)
{
	for (size_t i = first; i < end; i++) {
		if (i != first)
			tkb_buf_add_byte(out, separator);
		add_quoted(paths->items[i], out);
	}
}

/* Find a variable of a rule, or NULL. ninja refuses an unknown rule. */
static const struct tkb_ninja_binding *find_binding(
	const struct tkb_ninja_parser *parser, size_t index,
	struct tkb_bytes name)
{
	const struct tkb_ninja_rule *rule;

	if (index == parser->rule_count)
		return NULL;
	rule = &parser->rules[index];
	for (size_t i = rule->end; i > rule->first; i--) {
		if (tkb_bytes_equal(parser->bindings[i - 1].name, name))
			return &parser->bindings[i - 1];
	}
	return NULL;
}

/*
 * Find a variable of the statement or of the file. If the statement has no
 * variables, those of the file come before those of the rule.
 */
static const char *find_value(const struct edge_names *names,
                              struct tkb_bytes name, bool has_binding)
{
	const struct tkb_ninja_statement *statement = names->statement;
	const struct tkb_ninja_scope *file = &names->parser->lexer.file;

	for (size_t i = statement->variable_count; i > 0; i--) {
		if (tkb_bytes_equal(statement->variables[i - 1].name, name))
			return statement->variables[i - 1].value;
	}
	if (has_binding && statement->variable_count != 0)
		return NULL;
	return tkb_ninja_scope_value(file, name);
}

static int look_up(void *self, struct tkb_bytes name, struct tkb_buf *out,
                   struct tkb_error *err)
{
	struct edge_names *names = self;
	struct tkb_ninja_parser *parser = names->parser;
	const struct tkb_ninja_statement *edge = names->statement;
	const struct tkb_ninja_names inner = { look_up, names };
	const struct tkb_ninja_binding *binding =
		find_binding(parser, edge->rule, name);
	const char *value;
	int rc;

	if (tkb_bytes_equal_text(name, "in") ||
	    tkb_bytes_equal_text(name, "in_newline")) {
		add_paths(&parser->inputs, edge->first_input,
		          edge->explicit_inputs_end,
		          name.size == 2 ? ' ' : '\n', out);
		return 0;
	}
	if (tkb_bytes_equal_text(name, "out")) {
		add_paths(&parser->outputs, edge->first_output,
		          edge->explicit_outputs_end, ' ', out);
		return 0;
	}
	value = find_value(names, name, binding != NULL);
	if (value != NULL)
		tkb_buf_add_text(out, value);
	if (value != NULL || binding == NULL)
		return 0;
	if (names->depth == DEPTH_LIMIT)
		return tkb_ninja_lexer_fail(&parser->lexer,
		                            "variables of a rule that refer to "
		                            "each other",
		                            err);
	names->depth++;
	rc = tkb_ninja_lexer_expand(&parser->lexer, binding->at, &inner, out,
	                            err);
	names->depth--;
	return rc;
}

int tkb_ninja_command_expand(struct tkb_ninja_parser *parser,
                             const struct tkb_ninja_statement *statement,
                             struct tkb_arena *arena,
                             struct tkb_ninja_edge *edge, struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf command = TKB_BUF_INIT(TKB_NINJA_VALUE_LIMIT);
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf other = TKB_BUF_INIT(TKB_NINJA_VALUE_LIMIT);
	struct edge_names names = { .parser = parser, .statement = statement };
	int rc;

	rc = look_up(&names, tkb_text("restat"), &other, err);
	edge->is_restat = other.size != 0;
	tkb_buf_reset(&other);
	if (rc == 0)
		rc = look_up(&names, tkb_text("deps"), &other, err);
	edge->has_deps = other.size != 0;
	tkb_buf_reset(&other);
	if (rc == 0)
		rc = look_up(&names, tkb_text("command"), &command, err);
	if (rc == 0)
		rc = look_up(&names, tkb_text("rspfile_content"), &other, err);
	if (rc == 0)
		rc = tkb_buf_check(&other, err);
	if (rc < 0)
		return rc;
	if (other.size != 0) {
		tkb_buf_add_text(&command, ";rspfile=");
		tkb_buf_add(&command, tkb_buf_bytes(&other));
	}
	return tkb_arena_copy_buf(arena, &command, &edge->command, err);
}
