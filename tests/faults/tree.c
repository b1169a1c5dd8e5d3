/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

enum {
	PATH_SIZE = 4096
};

static void add(struct tree *tree, const char *path, void *data, size_t size)
{
	char *copy = strdup(path);

	tree->items =
		realloc(tree->items, (tree->count + 1) * sizeof(*tree->items));
	CHECK(tree->items != NULL && copy != NULL);
	tree->items[tree->count++] =
		(struct tree_item){ .path = copy, .data = data, .size = size };
}

static void add_file(struct tree *tree, const char *full, const char *path)
{
	const int fd = open(full, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *data;

	CHECK(fd >= 0);
	SYS(fstat(fd, &status));
	data = malloc((size_t)status.st_size + 1);
	CHECK(data != NULL);
	CHECK_INT(read(fd, data, (size_t)status.st_size), status.st_size);
	(void)close(fd);
	add(tree, path, data, (size_t)status.st_size);
}

static void add_folder(struct tree *tree, const char *folder, const char *below)
{
	DIR *dir = opendir(folder);
	const struct dirent *item;

	if (dir == NULL)
		return;
	for (item = readdir(dir); item != NULL; item = readdir(dir)) {
		char full[PATH_SIZE];
		char path[PATH_SIZE];
		struct stat status;

		if (strcmp(item->d_name, ".") == 0 ||
		    strcmp(item->d_name, "..") == 0)
			continue;
		(void)snprintf(full, sizeof(full), "%s/%s", folder,
		               item->d_name);
		(void)snprintf(path, sizeof(path), "%s%s%s", below,
		               below[0] == '\0' ? "" : "/", item->d_name);
		SYS(lstat(full, &status));
		if (S_ISDIR(status.st_mode)) {
			add(tree, path, NULL, 0);
			add_folder(tree, full, path);
		} else {
			add_file(tree, full, path);
		}
	}
	(void)closedir(dir);
}

static int compare_items(const void *a, const void *b)
{
	const struct tree_item *left = a;
	const struct tree_item *right = b;

	return strcmp(left->path, right->path);
}

struct tree tree_read(const char *folder)
{
	struct tree tree = { .items = NULL };

	add_folder(&tree, folder, "");
	if (tree.count > 1)
		qsort(tree.items, tree.count, sizeof(*tree.items),
		      compare_items);
	return tree;
}

void tree_release(struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		free(tree->items[i].path);
		free(tree->items[i].data);
	}
	free(tree->items);
	*tree = (struct tree){ .items = NULL };
}

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

void tree_remove(const char *path)
{
	if (exists(path))
		SYS(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS));
}

void tree_make_folder(const char *path)
{
	tree_remove(path);
	SYS(mkdir(path, 0777));
}

void tree_write(const struct tree *tree, const char *folder)
{
	tree_make_folder(folder);
	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_item *item = &tree->items[i];
		char full[PATH_SIZE];

		(void)snprintf(full, sizeof(full), "%s/%s", folder, item->path);
		if (item->data == NULL)
			tree_make_folder(full);
		else
			write_file(full, (struct tkb_bytes){ item->data,
			                                     item->size });
	}
}

/* The next item of `below`, from `*at` on; NULL behind the last. */
static const struct tree_item *next_below(const struct tree *tree, size_t *at,
                                          const char *below)
{
	const size_t length = strlen(below);

	while (*at < tree->count) {
		const struct tree_item *item = &tree->items[(*at)++];

		if (length == 0 ||
		    (strncmp(item->path, below, length) == 0 &&
		     (item->path[length] == '/' || item->path[length] == '\0')))
			return item;
	}
	return NULL;
}

static bool same_item(const struct tree_item *a, const struct tree_item *b)
{
	return strcmp(a->path, b->path) == 0 && a->size == b->size &&
	       (a->data == NULL) == (b->data == NULL) &&
	       (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

bool tree_equal_below(const struct tree *a, const struct tree *b,
                      const char *below)
{
	const struct tree_item *left;
	const struct tree_item *right;
	size_t left_at = 0;
	size_t right_at = 0;

	do {
		left = next_below(a, &left_at, below);
		right = next_below(b, &right_at, below);
		if ((left == NULL) != (right == NULL) ||
		    (left != NULL && !same_item(left, right)))
			return false;
	} while (left != NULL);
	return true;
}

const struct tree_item *tree_find(const struct tree *tree, const char *path)
{
	for (size_t i = 0; i < tree->count; i++) {
		if (strcmp(tree->items[i].path, path) == 0)
			return &tree->items[i];
	}
	return NULL;
}
