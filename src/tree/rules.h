/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_RULES_H
#define TKB_TREE_RULES_H

/*
 * The rules of a tree: which of its folders are units, what is left where it is,
 * and which texts hold paths or secrets. Every rule whose pattern matches a path
 * counts.
 */

#include <tkbundle/entry.h>

#include "base/base.h"

enum {
	TKB_TREE_PATTERN_LIMIT = 1024 /* bytes of the folder in a pattern */
};

/* What is done with a file or a folder. */
enum tkb_tree_action {
	TKB_TREE_ACTION_DEFAULT, /* look into a folder; a file becomes a unit */
	TKB_TREE_ACTION_UNIT, /* a folder is a unit, with all that is in it */
	/* Likewise; if it has a build.ninja, ninja has built it: see
	   ninja/record.h. */
	TKB_TREE_ACTION_NINJA,
	TKB_TREE_ACTION_FOLDER,  /* a folder is looked into, and no unit */
	TKB_TREE_ACTION_KERNELS, /* a folder is a cache root of kernels */
	TKB_TREE_ACTION_LEAVE    /* it is never packed */
};

/* What a unit's folder is named after. */
enum tkb_tree_naming {
	TKB_TREE_NAMING_FIXED,   /* the same on each machine */
	TKB_TREE_NAMING_DEEPGEMM /* where DeepGEMM lies: see unit_names.h */
};

struct tkb_tree_rule {
	const char *path; /* see tree/glob.h */
	enum tkb_tree_action action;
	enum tkb_path_style style; /* of paths in such a file */
	enum tkb_tree_naming naming;
	uint32_t is_last;     /* the file names others of its unit */
	uint32_t has_secrets; /* they are hidden */
	uint32_t is_tuned;    /* a unit for one GPU and driver: tree/gpu.h */
};

struct tkb_tree_rules {
	const struct tkb_tree_rule *items;
	size_t count;
};

/* Combine all rules that match `path`; `rules` may be NULL. */
struct tkb_tree_rule tkb_tree_judge(const struct tkb_tree_rules *rules,
                                    const char *path);

/*
 * Does a rule say that a file right below the unit `folder` names the others?
 * Then the unit must have that file: its name, or a pattern of it. Else NULL.
 */
const char *tkb_tree_index(const struct tkb_tree_rules *rules,
                           const char *folder);

/*
 * How secrets are written in the file that `rule` was found for: in its style
 * of paths, or in the one that its name suggests. NONE: it is not a text into
 * which an engine or a person could have put a secret.
 */
enum tkb_path_style tkb_tree_secret_style(const struct tkb_tree_rule *rule);

#endif
