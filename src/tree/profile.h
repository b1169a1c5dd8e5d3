/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_PROFILE_H
#define TKB_TREE_PROFILE_H

/* A profile in memory, and the schema that reads it. */

#include <tkbundle/engine.h>

#include "base/arena.h"
#include "text/schema.h"
#include "tree/rules.h"

/* A variable's value and a suffix; without a variable, an absolute path. */
struct tkb_profile_fallback {
	const char *variable;
	const char *suffix;
};

struct tkb_profile_root {
	struct tkb_engine_root root;
	uint32_t is_kernels;
	uint32_t is_based;  /* run may set the variable of the first place */
	uint32_t has_tilde; /* the engine expands one at the path's start */
	struct tkb_profile_fallback
		*fallbacks; /* the first one whose variable is set is used */
	size_t fallback_count;
	struct tkb_tree_rules rules;
	struct tkb_tree_rule *rule_items;
	struct tkb_engine_rule *shown; /* the rules in a profile's words */
};

/* A folder outside the cache that texts in the cache name. */
struct tkb_profile_external {
	struct tkb_engine_external external;
	const char **folders;
	size_t folder_count;
	struct tkb_profile_fallback *fallbacks;
	size_t fallback_count;
};

struct tkb_engine {
	struct tkb_arena arena; /* owns what the other members point to */
	const char *name;
	const char *package;
	const char **versions;
	size_t version_count;
	const char **commands; /* patterns of a command's words, with spaces */
	size_t command_count;
	const char **models; /* options before the name of a model */
	size_t model_count;
	const char **keys; /* what a cache's keys depend on, as prose */
	size_t key_count;
	struct tkb_engine_variable *variables; /* that the keys depend on */
	size_t variable_count;
	struct tkb_profile_root *roots;
	size_t root_count;
	struct tkb_engine_setting *settings;
	size_t setting_count;
	struct tkb_profile_external *externals;
	size_t external_count;
	uint32_t needs_ptxas;
};

extern const struct tkb_schema tkb_profile_schema;

/* The profile's word for such a value of a rule; NULL if there is none. */
const char *tkb_profile_action_word(unsigned number);
const char *tkb_profile_style_word(unsigned number);
const char *tkb_profile_naming_word(unsigned number);
const char *tkb_profile_evidence_word(unsigned number);

#endif
