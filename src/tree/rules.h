/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_RULES_H
#define TKB_TREE_RULES_H

/*
 * The rules of a tree say which of its folders are units, which files are not
 * packed, and which texts have paths or secrets. All rules whose pattern
 * matches a path are combined.
 */

#include <tkbundle/entry.h>

#include "base/base.h"

enum {
	TKB_TREE_PATTERN_LIMIT = 1024 /* of the part of a pattern before the
	                                 last slash */
};

/* What to do with a file or a folder. */
enum tkb_tree_action {
	TKB_TREE_ACTION_DEFAULT, /* look into a folder; a file is a unit */
	TKB_TREE_ACTION_UNIT, /* the folder is a unit, with everything in it */
	/* The same; but if there is a build.ninja, ninja has built the unit:
	   see ninja/record.h. */
	TKB_TREE_ACTION_NINJA,
	TKB_TREE_ACTION_FOLDER,  /* look into the folder; it is not a unit */
	TKB_TREE_ACTION_KERNELS, /* the folder is a cache root of kernels */
	TKB_TREE_ACTION_LEAVE    /* never pack it */
};

/* What the name of a unit's folder depends on. */
enum tkb_tree_naming {
	TKB_TREE_NAMING_FIXED,    /* it is the same on each machine */
	TKB_TREE_NAMING_DEEPGEMM, /* the path of DeepGEMM: see unit_names.h */
	TKB_TREE_NAMING_CONTENT   /* fixed, too: digests of its files' bytes */
};

/* What a path shows about its root, if it is there. */
enum tkb_tree_evidence {
	TKB_TREE_EVIDENCE_DEFAULT, /* nothing if it is left, else a cache */
	TKB_TREE_EVIDENCE_CACHE,   /* that a cache is kept there */
	TKB_TREE_EVIDENCE_NOTHING  /* it is also written if there is none */
};

struct tkb_tree_rule {
	const char *path; /* see tree/glob.h */
	enum tkb_tree_action action;
	enum tkb_path_style style; /* of the paths in the file */
	enum tkb_tree_naming naming;
	enum tkb_tree_evidence evidence;
	uint32_t is_last;     /* the file names other files of its unit */
	uint32_t has_secrets; /* secrets in the file are hidden */
	uint32_t is_tuned;    /* the unit fits one GPU and driver: tree/gpu.h */
};

struct tkb_tree_rules {
	const struct tkb_tree_rule *items;
	size_t count;
};

/* Combine all rules that match `path`. `rules` may be NULL. */
struct tkb_tree_rule tkb_tree_judge(const struct tkb_tree_rules *rules,
                                    const char *path);

/*
 * If a rule says that a file in the unit `folder` names the others, return that
 * file's name, or a pattern of it: the unit must have such a file. Otherwise
 * return NULL.
 */
const char *tkb_tree_index(const struct tkb_tree_rules *rules,
                           const char *folder);

/*
 * The style in which secrets are written in the file that `rule` was found for,
 * as far as its name tells: its style of paths, or the one that its suffix
 * suggests. NONE if the name does not say that it is a text.
 */
enum tkb_path_style tkb_tree_named_style(const struct tkb_tree_rule *rule);

/*
 * The same; if the name says nothing, `bytes`, which are the file's or its first
 * ones, tell: JSON or TEXT if they look like a text. NONE means that the file is
 * binary, or code.
 */
enum tkb_path_style tkb_tree_secret_style(const struct tkb_tree_rule *rule,
                                          struct tkb_bytes bytes);

/*
 * Was a text, which `rule` of `rules` was found for, written to its end? An
 * index and JSON are checked, the latter if there are rules: an engine wrote it.
 */
bool tkb_tree_text_is_whole(const struct tkb_tree_rules *rules,
                            const struct tkb_tree_rule *rule,
                            struct tkb_bytes text);

#endif
