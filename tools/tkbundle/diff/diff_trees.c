/* SPDX-License-Identifier: Apache-2.0 */
#include "diff/diff_trees.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "report/source.h"

static bool same_name(const char *a, const char *b)
{
	const size_t length = strcspn(a, ":=");

	return strcspn(b, ":=") == length && strncmp(a, b, length) == 0;
}

/* For each name, use the first tree for A, and the second for B. */
static int pick(const struct texts *trees, size_t side, struct texts *out,
                struct tkb_error *err)
{
	for (size_t i = 0; i < trees->count; i++) {
		size_t before = 0;
		size_t count = 0;

		for (size_t j = 0; j < trees->count; j++) {
			const bool is_same =
				same_name(trees->items[i], trees->items[j]);

			before += is_same && j < i;
			count += is_same;
		}
		if (count != 2)
			return cli_error(err, TKB_ERR_INVALID,
			                 "A and B are caches: name the tree of "
			                 "'--tree %.200s' twice, for A and "
			                 "then for B",
			                 trees->items[i]);
		if (before == side)
			out->items[out->count++] = trees->items[i];
	}
	return 0;
}

int diff_trees_choose(const struct arguments *args, size_t side,
                      struct root *out, struct tkb_error *err)
{
	TKB_AUTO(auto_free) const char **items = NULL;
	const char *const path = args_operand(args, side);
	const bool is_cache = source_is_cache(path);
	const bool is_other = source_is_cache(args_operand(args, 1 - side));
	struct arguments own = *args;
	int rc;

	if (!is_cache && !is_other &&
	    args->engines.count + args->trees.count > 0)
		return cli_error(err, TKB_ERR_INVALID,
		                 "'--engine' and '--tree' are for a cache, and "
		                 "neither A nor B is a folder");
	if (!is_cache)
		return root_choose(path, out, err);
	if (!is_other)
		return root_choose_all(args, path, out, err);
	if (args->engines.count > 0)
		return cli_error(err, TKB_ERR_INVALID,
		                 "A and B are caches, and '--engine' knows the "
		                 "trees of one: name those of both by "
		                 "'--tree'");
	items = calloc(args->trees.count + 1, sizeof(*items));
	if (items == NULL)
		return cli_error_nomem(err);
	own.trees = (struct texts){ .items = items };
	rc = pick(&args->trees, side, &own.trees, err);
	return rc != 0 ? rc : root_choose_all(&own, path, out, err);
}
