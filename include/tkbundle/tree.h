/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_TREE_H
#define TKBUNDLE_TREE_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/tree.h
 * Trees: what engines cache besides Triton's kernels.
 *
 * A tree has a name and a root folder, which may differ on each machine. It
 * consists of units. A unit always appears whole: it is a folder, or a file
 * outside such folders. If a file of a tree has the path of a tree's root, the
 * bundle has the tree's name in place of the path, and an emit writes the path
 * that the root has on that machine. Rules say what is a unit, which files have
 * paths of roots, and what is not packed. They come from an engine's profile:
 * see engine.h.
 *
 * Binary files are never rewritten, and nothing is unpickled. Trust: whoever
 * can write to a tree can run code in the engine that reads it.
 */

/** The rules of a tree. They belong to the engine that gave them. */
struct tkb_tree_rules;

/** A tree, and where it is on this machine. */
struct tkb_tree {
	const char *name; /**< 1 to 32 letters, digits, dashes, underscores */
	const char *path; /**< its root; an empty tree if that does not exist */
	/** Only used when the tree is read; NULL: each file is a unit. */
	const struct tkb_tree_rules *rules;
	/**
	 * Not a tree: nothing in it is packed. `path` is a folder outside, such
	 * as a Python package, whose path is in files of the trees.
	 */
	bool is_external;
	/** Such a folder, whose path is in names of units, not in files. */
	bool is_in_names;
};

/**
 * Is the value of the variable or option `name` a secret, as those of
 * VLLM_API_KEY and --hf-token are? Such values are hidden in bundles.
 */
TKB_API bool tkb_name_is_secret(const char *name);

/**
 * Can a unit of `tree` have this name, its path in the tree? Others are left out
 * of a bundle.
 */
TKB_API bool tkb_unit_name_is_valid(const char *tree, const char *name);

#ifdef __cplusplus
}
#endif

#endif
