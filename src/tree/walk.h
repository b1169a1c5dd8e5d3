/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_WALK_H
#define TKB_TREE_WALK_H

/* List what is in a tree, or in a unit of it. No link is followed. */

#include "base/base.h"
#include "tree/rules.h"

/* What a walk finds. */
enum tkb_tree_thing {
	TKB_TREE_THING_FILE, /* a unit, or a file of the unit walked through */
	TKB_TREE_THING_FOLDER,  /* a unit */
	TKB_TREE_THING_KERNELS, /* a cache root of kernels */
	TKB_TREE_THING_REFUSED  /* left out, for the reason given */
};

struct tkb_tree_item {
	const char *path; /* below the tree's root */
	enum tkb_tree_thing thing;
	const struct tkb_tree_rule *rule; /* of the path; refused: NULL */
	const struct tkb_error *why;      /* why it is refused; else NULL */
};

struct tkb_tree_visitor {
	void *self;
	/* Asked once for each thing; a failure ends the walk. NULL: nobody is. */
	int (*check)(void *self, struct tkb_error *err);
	/* Called with each thing; a failure ends the walk. */
	int (*visit)(void *self, const struct tkb_tree_item *item,
	             struct tkb_error *err);
};

/*
 * Walk through the tree at `root_fd`; if `unit` is not NULL, only through that
 * folder of it. Anything but files and folders, such as sockets, is skipped.
 *
 * Returns 0, what the visitor returned, TKB_ERR_IO (the first folder cannot be
 * read) or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_tree_walk(int root_fd, const char *unit,
                                const struct tkb_tree_rules *rules,
                                const struct tkb_tree_visitor *visitor,
                                struct tkb_error *err);

#endif
