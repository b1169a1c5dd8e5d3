/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_scan.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <tkbundle/engine.h>

#include "cli/auto.h"
#include "cli/fd.h"
#include "cli/text.h"
#include "report/source.h"

static bool is_number(const char *name)
{
	return name[0] != '\0' && strspn(name, "0123456789") == strlen(name);
}

static void count_root(void *self, const char *path)
{
	bool *const has_any = self;

	(void)path;
	*has_any = true;
}

bool run_scan_is_inductor(const char *root)
{
	bool has_any = false;

	run_scan_roots(root, true, count_root, &has_any);
	return has_any;
}

void run_scan_roots(const char *root, bool is_inductor,
                    void (*visit)(void *self, const char *path), void *self)
{
	TKB_AUTO(folder_close) DIR *folder = NULL;
	char path[4096];

	if (!is_inductor) {
		visit(self, root);
		return;
	}

	(void)snprintf(path, sizeof(path), "%s/triton", root);
	folder = folder_open(AT_FDCWD, path, 0);
	for (const struct dirent *item = folder != NULL ? readdir(folder)
	                                                : NULL;
	     item != NULL; item = readdir(folder)) {
		const int length = snprintf(path, sizeof(path), "%s/triton/%s",
		                            root, item->d_name);

		if (is_number(item->d_name) && length < (int)sizeof(path))
			visit(self, path);
	}
}

void run_scan_keys(const char *path,
                   void (*visit)(void *self, int root_fd, const char *path,
                                 const char *key),
                   void *self)
{
	TKB_AUTO(folder_close) DIR *folder = folder_open(AT_FDCWD, path, 0);

	if (folder == NULL)
		return;
	for (const struct dirent *item = readdir(folder); item != NULL;
	     item = readdir(folder)) {
		/*
		 * Other names are tkbundle's, Triton's, or the folder itself.
		 */
		if (item->d_name[0] != '.' &&
		    (item->d_type == DT_DIR || item->d_type == DT_UNKNOWN))
			visit(self, dirfd(folder), path, item->d_name);
	}
}

bool run_scan_stamp(int root_fd, const char *key, struct stat *out)
{
	TKB_AUTO(folder_close)
	DIR *folder = folder_open(root_fd, key, O_NOFOLLOW);
	bool has_any = false;

	if (folder == NULL)
		return false;
	for (const struct dirent *item = readdir(folder); item != NULL;
	     item = readdir(folder)) {
		const bool is_group = source_is_group(item->d_name);

		if (!is_group && !text_ends_with(item->d_name, ".so") &&
		    !text_ends_with(item->d_name, ".autotune.json"))
			continue;
		if (fstatat(dirfd(folder), item->d_name, out, 0) < 0)
			continue;
		has_any = true;
		if (is_group)
			break;
	}

	return has_any;
}

/* A folder of a tree. */
struct tree_walk {
	const struct tkb_tree *tree;
	void (*visit)(void *self, const char *path);
	void *self;
};

static void scan_folder(const struct tree_walk *walk, const char *path)
{
	TKB_AUTO(folder_close)
	DIR *folder = folder_open(AT_FDCWD, path, O_NOFOLLOW);
	const size_t root = strlen(walk->tree->path) + 1;
	char below[4096];

	for (const struct dirent *item = folder != NULL ? readdir(folder)
	                                                : NULL;
	     item != NULL; item = readdir(folder)) {
		const int length = snprintf(below, sizeof(below), "%s/%s", path,
		                            item->d_name);

		if (strcmp(item->d_name, ".") == 0 ||
		    strcmp(item->d_name, "..") == 0 ||
		    length >= (int)sizeof(below) ||
		    tkb_tree_leaves(walk->tree->rules, below + root))
			continue;
		if (item->d_type == DT_DIR)
			scan_folder(walk, below);
		else if (item->d_type == DT_REG)
			walk->visit(walk->self, below);
	}
}

void run_scan_tree(const struct tkb_tree *tree,
                   void (*visit)(void *self, const char *path), void *self)
{
	const struct tree_walk walk = { tree, visit, self };

	scan_folder(&walk, tree->path);
}
