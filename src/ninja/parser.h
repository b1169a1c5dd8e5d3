/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NINJA_PARSER_H
#define TKB_NINJA_PARSER_H

/* A build.ninja while it is read; for build.c and command.c. */

#include "ninja/lexer.h"

struct tkb_ninja_edge;

struct tkb_ninja_paths {
	const char **items; /* owned; the texts are in the lexer's arena */
	size_t count;
	size_t capacity;
};

/* A variable of a rule, and where its value begins. */
struct tkb_ninja_binding {
	struct tkb_bytes name;
	size_t at;
};

struct tkb_ninja_rule {
	struct tkb_bytes name;
	size_t first; /* of its bindings */
	size_t end;
};

/* A statement that is not phony. The indices are into the parser's paths. */
struct tkb_ninja_statement {
	const struct tkb_ninja_variable *variables; /* in the lexer's arena */
	size_t variable_count;
	size_t rule;
	size_t first_output;
	size_t explicit_outputs_end;
	size_t outputs_end;
	size_t first_input;
	size_t explicit_inputs_end;
	size_t inputs_end; /* after the implicit ones */
};

struct tkb_ninja_parser {
	struct tkb_ninja_lexer lexer;
	struct tkb_ninja_binding *bindings; /* owned */
	size_t binding_count;
	size_t binding_capacity;
	struct tkb_ninja_rule *rules; /* owned */
	size_t rule_count;
	size_t rule_capacity;
	struct tkb_ninja_statement *statements; /* owned */
	size_t statement_count;
	size_t statement_capacity;
	struct tkb_ninja_paths inputs;
	struct tkb_ninja_paths outputs; /* of statements that are not phony */
	struct tkb_ninja_paths phonies; /* outputs of phony statements */
};

/*
 * Fill in what ninja hashes of a statement (its command, and the contents of
 * its response file), when the whole file was read. The rest of `edge` is not
 * changed.
 */
TKB_NODISCARD int tkb_ninja_command_expand(
	struct tkb_ninja_parser *parser,
	const struct tkb_ninja_statement *statement, struct tkb_arena *arena,
	struct tkb_ninja_edge *edge, struct tkb_error *err);

#endif
