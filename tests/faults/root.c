/* SPDX-License-Identifier: Apache-2.0 */
#include "root.h"

#include <string.h>

void fault_root_prepare(const struct fault_root *root)
{
	if (root->before.count == 0)
		tree_remove("root");
	else
		tree_write(&root->before, "root");
}

void fault_root_release(struct fault_root *root)
{
	tree_release(&root->before);
	tree_release(&root->after);
}

static bool is_stage(const char *path)
{
	return strstr(path, ".tkbundle/stage-") != NULL;
}

/* A kernel without its group file is hidden. */
static bool is_hidden(const struct tree *now, const char *place)
{
	const size_t length = strlen(place);

	for (size_t i = 0; i < now->count; i++) {
		const char *path = now->items[i].path;

		if (strncmp(path, place, length) == 0 &&
		    strstr(path, "/__grp__") != NULL)
			return false;
	}
	return true;
}

static bool is_kernel(const struct fault_root *root, const char *place)
{
	return !is_hidden(&root->before, place) ||
	       !is_hidden(&root->after, place);
}

/* Each entry is as it was, as it should be, or (a kernel) hidden. */
static const char *check_entries(const struct fault_root *root,
                                 const struct tree *now, bool is_done)
{
	for (size_t i = 0; root->places[i] != NULL; i++) {
		const char *place = root->places[i];

		if (tree_equal_below(now, &root->after, place))
			continue;
		if (is_done)
			return wrong("'%s' is not as it should be", place);
		if (!tree_equal_below(now, &root->before, place) &&
		    (!is_kernel(root, place) || !is_hidden(now, place)))
			return wrong("'%s' is torn", place);
	}
	return NULL;
}

/* Nothing is there but what was, what should be, and what may be for now. */
static const char *check_strays(const struct fault_root *root,
                                const struct tree *now,
                                enum fault_moment moment)
{
	for (size_t i = 0; i < now->count; i++) {
		const char *path = now->items[i].path;
		const bool was_there = tree_find(&root->before, path) != NULL;
		bool is_allowed =
			was_there || tree_find(&root->after, path) != NULL;

		/* Where memory lacks, the next emit removes it. */
		if (is_stage(path))
			is_allowed = moment == FAULT_REFUSED
			                     ? was_there
			                     : moment != FAULT_DONE;
		if (!is_allowed)
			return wrong("'%s' is left over", path);
	}
	return NULL;
}

const char *fault_root_look(const struct fault_root *root,
                            enum fault_moment moment)
{
	struct tree now = tree_read("root");
	const char *problem = check_entries(root, &now, fault_is_done(moment));

	if (problem == NULL)
		problem = check_strays(root, &now, moment);
	tree_release(&now);
	return problem;
}
