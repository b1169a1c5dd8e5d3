/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TREE_WALK_H
#define TKB_TREE_WALK_H

/* List the contents of a tree or of one of its units. No link is followed. */

#include "base/base.h"
#include "tree/rules.h"

/* What a walk finds. */
enum tkb_tree_thing {
	TKB_TREE_THING_FILE, /* a unit, or a file of the unit that is listed */
	TKB_TREE_THING_FOLDER,  /* a unit */
	TKB_TREE_THING_KERNELS, /* a cache root of kernels */
	TKB_TREE_THING_REFUSED  /* to be left out, for the reason in `why` */
};

struct tkb_tree_item {
	const char *path; /* relative to the tree's root */
	enum tkb_tree_thing thing;
	const struct tkb_tree_rule *rule; /* for the path; NULL if refused */
	const struct tkb_error *why;      /* why it is refused, or NULL */
};

struct tkb_tree_visitor {
	void *self;
	/* Called once for each item; a failure ends the walk. May be NULL. */
	int (*check)(void *self, struct tkb_error *err);
	/* Called with each item; a failure ends the walk. */
	int (*visit)(void *self, const struct tkb_tree_item *item,
	             struct tkb_error *err);
};

/*
 * Walk through the tree at `root_fd` or, if `unit` is not NULL, only through
 * that folder in it. Anything but files and folders, such as sockets, is
 * skipped.
 *
 * Returns 0, what the visitor returned, TKB_ERR_IO (the first folder cannot be
 * read) or TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_tree_walk(int root_fd, const char *unit,
                                const struct tkb_tree_rules *rules,
                                const struct tkb_tree_visitor *visitor,
                                struct tkb_error *err);

#endif
