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

enum {
	DEPTH_LIMIT = 64 /* depth of folders, as in a collect */
};

static bool is_device_number(const char *name)
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
	const struct dirent *item;
	char path[4096];

	if (!is_inductor) {
		visit(self, root);
		return;
	}

	(void)snprintf(path, sizeof(path), "%s/triton", root);
	folder = folder_open(AT_FDCWD, path, 0);
	while (folder != NULL && (item = readdir(folder)) != NULL) {
		const int length = snprintf(path, sizeof(path), "%s/triton/%s",
		                            root, item->d_name);

		if (is_device_number(item->d_name) &&
		    length < (int)sizeof(path))
			visit(self, path);
	}
}

void run_scan_keys(const char *path,
                   void (*visit)(void *self, int root_fd, const char *path,
                                 const char *key),
                   void *self)
{
	TKB_AUTO(folder_close) DIR *folder = folder_open(AT_FDCWD, path, 0);
	const struct dirent *item;

	while (folder != NULL && (item = readdir(folder)) != NULL) {
		/*
		 * Other names belong to tkbundle or Triton, or are "." and
		 * "..".
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
	const struct dirent *item;
	bool has_any = false;

	while (folder != NULL && (item = readdir(folder)) != NULL) {
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

/* The visitor of a walk, and the length of the root's path. */
struct tree_walk {
	const struct tkb_tree *tree;
	const struct run_tree_visitor *visitor;
	size_t root;  /* length of its path, with the slash */
	size_t depth; /* of the current folder */
};

/* Visit a folder. A unit of size 0: the folder is in no unit. */
static void scan_folder(struct tree_walk *walk, const char *path,
                        struct run_scan_unit unit);

static void scan_item(struct tree_walk *walk, const char *path,
                      struct run_scan_unit unit, const struct stat *status)
{
	const struct run_tree_visitor *const visitor = walk->visitor;
	const struct tkb_tree_rules *const rules = walk->tree->rules;
	const char *const name = path + walk->root;
	const enum tkb_tree_part part = tkb_tree_part(rules, name);
	const bool is_file = S_ISREG(status->st_mode);

	if (part == TKB_TREE_PART_LEFT)
		return;
	/* A program may write its own notes at each start, as they were. */
	if (unit.size == 0 && (is_file || part == TKB_TREE_PART_UNIT))
		unit = (struct run_scan_unit){
			.size = strlen(path),
			.is_tuned = tkb_tree_is_tuned(rules, name),
			.is_named_by_content =
				rules == NULL ||
				tkb_tree_is_named_by_content(rules, name),
		};
	if (is_file)
		visitor->file(visitor->self, path, &unit, status);
	else if (S_ISDIR(status->st_mode) && unit.size == 0 &&
	         part == TKB_TREE_PART_KERNELS)
		visitor->kernels(visitor->self, path);
	else if (S_ISDIR(status->st_mode) && walk->depth < DEPTH_LIMIT) {
		walk->depth++;
		scan_folder(walk, path, unit);
		walk->depth--;
	}
}

static void scan_folder(struct tree_walk *walk, const char *path,
                        struct run_scan_unit unit)
{
	/* As for other verbs, the tree itself may be a link. */
	const int flags = walk->depth == 0 ? 0 : O_NOFOLLOW;
	TKB_AUTO(folder_close)
	DIR *folder = folder_open(AT_FDCWD, path, flags);
	const struct dirent *item;
	char below[4096];

	while (folder != NULL && (item = readdir(folder)) != NULL) {
		struct stat status;

		if (strcmp(item->d_name, ".") != 0 &&
		    strcmp(item->d_name, "..") != 0 &&
		    folder_join(below, sizeof(below), path, item->d_name) &&
		    fstatat(dirfd(folder), item->d_name, &status,
		            AT_SYMLINK_NOFOLLOW) == 0)
			scan_item(walk, below, unit, &status);
	}
}

void run_scan_tree(const struct tkb_tree *tree,
                   const struct run_tree_visitor *visitor)
{
	struct tree_walk walk = { tree, visitor, strlen(tree->path) + 1, 0 };

	scan_folder(&walk, tree->path, (struct run_scan_unit){ .size = 0 });
}

int64_t run_scan_file_stamp(const struct run_scan_unit *unit,
                            const struct stat *status)
{
	uint64_t mixed = (uint64_t)status->st_size + 1;

	if (!unit->is_named_by_content) {
		mixed = mixed * 31 +
		        (uint64_t)run_scan_time_ns(&status->st_mtim);
		mixed = mixed * 31 + (uint64_t)status->st_ino;
	}
	mixed &= INT64_MAX;
	return mixed != 0 ? (int64_t)mixed : 1;
}

int64_t run_scan_key_stamp(const struct stat *status)
{
	return run_scan_file_stamp(&(struct run_scan_unit){ .size = 0 },
	                           status);
}

void run_scan_keep(struct run_shared *shared, const struct run_name *name)
{
	const size_t size = strlen(name->path) + 1;
	char *const end = shared->names + shared->name_size;

	if (sizeof(shared->names) - shared->name_size <
	    sizeof(name->stamp) + size) {
		shared->is_full = true;
		return;
	}
	(void)memcpy(end, &name->stamp, sizeof(name->stamp));
	(void)memcpy(end + sizeof(name->stamp), name->path, size);
	shared->name_size += sizeof(name->stamp) + size;
}

bool run_scan_next(const struct run_shared *shared, size_t *at,
                   struct run_name *out)
{
	if (*at >= shared->name_size)
		return false;
	(void)memcpy(&out->stamp, shared->names + *at, sizeof(out->stamp));
	out->path = shared->names + *at + sizeof(out->stamp);
	*at += sizeof(out->stamp) + strlen(out->path) + 1;
	return true;
}

int64_t run_scan_time_ns(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}
