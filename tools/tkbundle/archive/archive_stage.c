/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive_stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/text.h"
#include "config/root.h"

enum {
	PATH_SIZE = 4096,
	TREES_LIMIT = 64 /* of a bundle */
};

#define KERNELS "triton"
#define VLLM "vllm"

void archive_stage_release(struct archive_stage *stage)
{
	for (size_t i = 0; i < stage->tree_count; i++)
		free((char *)(uintptr_t)stage->trees[i].path);
	free(stage->trees);
	free(stage->place);
	free(stage->root);
	free(stage->kernels);
}

static int default_place(bool has_trees, char **out, struct tkb_error *err)
{
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	char folder[PATH_SIZE];
	int rc;

	if (has_trees) {
		if (!trees_placed_folder(folder, sizeof(folder)))
			return cli_error(err, TKB_ERR_INVALID,
			                 "there is no home folder: say by "
			                 "--root where the archive will be "
			                 "unpacked");
		*out = strdup(folder);
		return *out == NULL ? cli_error_nomem(err) : 0;
	}
	rc = root_choose(NULL, &root, err);
	if (rc < 0)
		return rc;
	*out = root.path;
	root.path = NULL;
	return 0;
}

/* Is the path written as engines write it in texts, and not like "/./a//b/"? */
static bool is_plain_path(const char *path)
{
	return path[0] == '/' && strstr(path, "//") == NULL &&
	       strstr(path, "/./") == NULL && strstr(path, "/../") == NULL &&
	       !text_ends_with(path, "/.") && !text_ends_with(path, "/..");
}

static int choose_place(struct archive_stage *stage, const char *given,
                        bool has_trees, const struct archive_folder *folder,
                        struct tkb_error *err)
{
	TKB_AUTO(root_release) struct root named = { .path = NULL };
	size_t length;
	int rc = 0;

	if (given == NULL)
		rc = default_place(has_trees, &stage->place, err);
	else
		stage->place = strdup(given);
	if (rc < 0)
		return rc;
	if (stage->place == NULL)
		return cli_error_nomem(err);
	length = strlen(stage->place);
	while (length > 1 && stage->place[length - 1] == '/')
		stage->place[--length] = '\0';
	if (!is_plain_path(stage->place))
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%s' is no plain absolute path: say by "
		                 "--root where the archive will be unpacked",
		                 stage->place);
	rc = root_choose(stage->place, &named, err);
	stage->is_inductor = named.is_inductor;
	if (rc != 0)
		return rc;
	stage->root = text_format("%s%s", folder->files,
	                          length == 1 ? "" : stage->place);
	return stage->root == NULL ? cli_error_nomem(err) : 0;
}

static bool has_tree(const struct tkb_tree *trees, size_t count,
                     const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(trees[i].name, name) == 0)
			return true;
	}
	return false;
}

/* Units come last. */
static int find_trees(const struct tkb_bundle *bundle,
                      struct archive_stage *stage, bool *has_kernels,
                      struct tkb_error *err)
{
	struct tkb_tree *trees = calloc(TREES_LIMIT, sizeof(*trees));
	size_t count = 0;

	*has_kernels = false;
	stage->trees = trees;
	if (trees == NULL)
		return cli_error_nomem(err);
	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		const struct tkb_entry *entry = tkb_bundle_entry(bundle, i);

		if (entry->kind != TKB_KIND_UNIT)
			*has_kernels = true;
		else if (count < TREES_LIMIT &&
		         !has_tree(trees, count, entry->tree))
			trees[count++].name = entry->tree;
	}
	stage->tree_count = count;
	if (has_tree(trees, count, KERNELS))
		return cli_error(err, TKB_ERR_INVALID,
		                 "the bundle has a tree '" KERNELS
		                 "', which is where kernels would be");
	return 0;
}

/* The folder for the root of this name, in the place. */
static char *join_root(const struct archive_stage *stage,
                       enum archive_stage_shape shape, const char *name)
{
	const bool has_vllm = has_tree(stage->trees, stage->tree_count, VLLM);

	if (shape == ARCHIVE_STAGE_ROOTS)
		return text_format("%s/%s", stage->root, name);
	if (!has_vllm || strcmp(name, VLLM) == 0)
		return text_format("%s/io.%s.cache", stage->root, name);
	return text_format("%s/io." VLLM ".cache/%s", stage->root, name);
}

int archive_stage_plan(const struct tkb_bundle *bundle, const char *place,
                       enum archive_stage_shape shape,
                       const struct archive_folder *folder,
                       struct archive_stage *out, struct tkb_error *err)
{
	bool has_kernels;
	bool is_root;
	int rc;

	*out = (struct archive_stage){ .place = NULL };
	rc = find_trees(bundle, out, &has_kernels, err);
	if (rc == 0)
		rc = choose_place(out, place, out->tree_count != 0, folder,
		                  err);
	if (rc != 0)
		return rc;
	is_root = shape == ARCHIVE_STAGE_ROOTS && out->tree_count == 0;
	if (is_root)
		out->kernels = strdup(out->root);
	else if (has_kernels)
		out->kernels = join_root(out, shape, KERNELS);
	if (out->kernels == NULL && (has_kernels || is_root))
		return cli_error_nomem(err);
	for (size_t i = 0; i < out->tree_count; i++) {
		out->trees[i].path = join_root(out, shape, out->trees[i].name);
		if (out->trees[i].path == NULL)
			return cli_error_nomem(err);
	}
	return 0;
}
