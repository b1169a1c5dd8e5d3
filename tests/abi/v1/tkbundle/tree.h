/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_TREE_H
#define TKBUNDLE_TREE_H

#include <tkbundle/entry.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file tkbundle/tree.h
 * Trees: what engines cache beside Triton's kernels.
 *
 * A tree has a name, and lies below a root, which is another one on each machine.
 * It is cut into units. A unit is what must appear whole: a folder, or a file that
 * lies in none of those. Where texts of a tree name the root of one, its name
 * stands in the bundle, and the path that the root has is written when it is
 * emitted. Rules say what a unit is, which texts those are, and what stays where
 * it is. They come from an engine's profile: see engine.h.
 *
 * What is binary is never rewritten, and nothing is unpickled: who can write a
 * tree runs code in the engine that reads it.
 */

/** The rules of a tree. They belong to the engine that gave them. */
struct tkb_tree_rules;

/** A tree, and where it lies here. */
struct tkb_tree {
	const char *name; /**< 1 to 32 letters, digits, dashes, underscores */
	const char *path; /**< its root; nothing there is an empty tree */
	/** Only asked by who reads the tree; NULL: each file is a unit. */
	const struct tkb_tree_rules *rules;
	/**
	 * It is none, and nothing of it is packed: `path` is that of a folder
	 * outside, as of a package, which texts of the trees name.
	 */
	bool is_outside;
	/** Such a folder, which names of units hold, and no text does. */
	bool is_in_names;
};

/**
 * Is `name`, of a variable or an option, such that its value is a secret, as
 * VLLM_API_KEY and --hf-token? Those are hidden in bundles.
 */
TKB_API bool tkb_secret_name(const char *name);

#ifdef __cplusplus
}
#endif

#endif
