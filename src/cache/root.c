/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/root.h"

#include <tkbundle/emit.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fd.h"
#include "text/json.h"
#include "base/path.h"
#include "cache/key.h"
#include "cache/names.h"
#include "tree/unit.h"

enum {
	PATH_LIMIT = 64 * 1024
};

void tkb_roots_release(struct tkb_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		free(roots->items[i].path);
		tkb_unit_names_close(roots->items[i].names);
		tkb_fd_close_at(&roots->items[i].fd);
	}
	free(roots->items);
	*roots = (struct tkb_roots){ 0 };
}

bool tkb_roots_exist(const struct tkb_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		if (roots->items[i].fd >= 0)
			return true;
	}
	return false;
}

/* The device number that `name` is, or -1. */
static int32_t device_number(const char *name)
{
	const size_t length = strlen(name);
	long device;

	if (length == 0 || length > 4 || strspn(name, "0123456789") != length ||
	    (name[0] == '0' && length > 1))
		return -1;
	device = strtol(name, NULL, 10);
	return device < TKB_DEVICE_LIMIT ? (int32_t)device : -1;
}

/* The device number that folder `name` of `dir` has, or -1. */
static int32_t device_of(DIR *dir, const char *name)
{
	struct stat status;

	if (fstatat(dirfd(dir), name, &status, 0) == 0 &&
	    !S_ISDIR(status.st_mode))
		return -1;
	return device_number(name);
}

static int append_root(struct tkb_roots *roots, char *path, int fd,
                       uint32_t device, struct tkb_error *err)
{
	const struct tkb_root root = { .path = path,
		                       .fd = fd,
		                       .device = device };
	int rc;

	rc = tkb_append(&roots->items, &roots->count, &roots->capacity, &root,
	                sizeof(root), err);
	if (rc < 0) {
		free(path);
		tkb_fd_close_at(&fd);
	}
	return rc;
}

/* "<path>/triton/<device>", or just "<path>"; the caller owns it. */
static int join_absolute(const char *path, const char *below, char **out,
                         struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release) struct tkb_buf buf = TKB_BUF_INIT(PATH_LIMIT);
	int rc;

	rc = tkb_path_absolute(path, &buf, err);
	if (rc < 0)
		return rc;
	tkb_print(&buf, "%s%s", below[0] != '\0' && buf.size > 1 ? "/" : "",
	          below);
	rc = tkb_buf_check(&buf, err);
	if (rc == 0)
		*out = (char *)tkb_take(buf.data);
	return rc;
}

static int open_root(const char *path, const char *below, uint32_t device,
                     struct tkb_roots *roots, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) char *full = NULL;
	int fd;
	int rc;

	rc = join_absolute(path, below, &full, err);
	if (rc < 0)
		return rc;
	fd = tkb_fd_open(AT_FDCWD, full, O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0) {
		rc = tkb_fail_errno(err, "cannot open cache root '%s'", full);
		return errno == ENOTDIR ? tkb_fail(err, TKB_ERR_INVALID,
		                                   "'%s' is not a folder", full)
		                        : rc;
	}
	return append_root(roots, tkb_take(full), fd, device, err);
}

/* Open the folder "triton" in `path`; TKB_MISS if there is none. */
static int open_triton(const char *path, DIR **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) char *full = NULL;
	int rc;

	rc = join_absolute(path, "triton", &full, err);
	if (rc < 0)
		return rc;
	*out = opendir(full);
	if (*out != NULL)
		return 0;
	if (errno == ENOENT || errno == ENOTDIR)
		return TKB_MISS;
	return tkb_fail_errno(err, "cannot list folder '%s'", full);
}

static int compare_roots(const void *a, const void *b)
{
	const struct tkb_root *left = a;
	const struct tkb_root *right = b;

	return (left->device > right->device) - (left->device < right->device);
}

static void format_below(char out[32], uint32_t device)
{
	(void)snprintf(out, 32, "triton/%u", (unsigned)device);
}

static int open_device(const char *path, DIR *triton, const char *name,
                       struct tkb_roots *roots, struct tkb_error *err)
{
	const int32_t device = device_of(triton, name);
	char below[32];

	if (device < 0)
		return 0;
	format_below(below, (uint32_t)device);
	return open_root(path, below, (uint32_t)device, roots, err);
}

static int open_devices(const char *path, DIR *triton, struct tkb_roots *roots,
                        struct tkb_error *err)
{
	const struct dirent *item = NULL;
	int rc = 0;

	while (rc == 0) {
		rc = tkb_dir_next(triton, &item, err);
		if (rc == 0)
			rc = open_device(path, triton, item->d_name, roots,
			                 err);
	}
	if (rc < 0)
		return rc;
	tkb_sort(roots->items, roots->count, sizeof(*roots->items),
	         compare_roots);
	return 0;
}

static int probe_triton(const char *path, struct tkb_probe *probe,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_dir_close_at) DIR *triton = NULL;
	const struct dirent *item = NULL;
	int rc;

	rc = open_triton(path, &triton, err);
	while (rc == 0 && !probe->is_inductor) {
		rc = tkb_dir_next(triton, &item, err);
		if (rc == 0)
			probe->is_inductor =
				device_of(triton, item->d_name) >= 0;
	}
	return rc < 0 ? rc : 0;
}

static int probe_keys(const char *path, struct tkb_probe *probe,
                      struct tkb_error *err)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = opendir(path);
	const struct dirent *item = NULL;
	int rc = 0;

	if (dir == NULL && (errno == ENOENT || errno == ENOTDIR))
		return 0; /* opening it will report the reason */
	if (dir == NULL)
		return tkb_fail_errno(err, "cannot list folder '%s'", path);
	while (rc == 0 && !probe->has_keys) {
		rc = tkb_dir_next(dir, &item, err);
		if (rc == 0)
			probe->has_keys = tkb_key_is_valid(item->d_name);
	}
	return rc < 0 ? rc : 0;
}

int tkb_roots_probe(const char *path, struct tkb_probe *out,
                    struct tkb_error *err)
{
	struct tkb_probe probe = { 0 };
	int rc;

	rc = probe_triton(path, &probe, err);
	if (rc < 0)
		return rc;
	rc = probe_keys(path, &probe, err);
	if (rc < 0)
		return rc;
	*out = probe;
	return 0;
}

int tkb_roots_open(const char *path, struct tkb_roots *out,
                   struct tkb_error *err)
{
	TKB_AUTO(tkb_roots_release) struct tkb_roots roots = { 0 };
	TKB_AUTO(tkb_dir_close_at) DIR *triton = NULL;
	struct stat status;
	int rc;

	if (path[0] == '\0')
		return tkb_fail(err, TKB_ERR_INVALID, "the path is empty");
	if (stat(path, &status) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return TKB_MISS;

	rc = open_triton(path, &triton, err);
	if (rc == 0)
		rc = open_devices(path, triton, &roots, err);
	if (rc < 0)
		return rc;
	roots.is_inductor = roots.count != 0;
	if (roots.count == 0) {
		rc = open_root(path, "", 0, &roots, err);
		if (rc < 0)
			return rc;
	}
	*out = roots;
	roots = (struct tkb_roots){ 0 };
	return 0;
}

/*
 * Open the folder `*full`, and take ownership of that path. If the folder is
 * missing and `make` is set, make it.
 */
static int open_or_make(char **full, uint32_t device, bool make,
                        struct tkb_roots *roots, struct tkb_error *err)
{
	struct stat status;
	int rc;

	if (stat(*full, &status) < 0 && errno == ENOENT) {
		if (!make)
			return append_root(roots, tkb_take(*full), -1, device,
			                   err);
		rc = tkb_path_make_folders(*full, err);
		if (rc < 0)
			return rc;
	}
	return open_root(*full, "", device, roots, err);
}

static int add_tree_root(const struct tkb_tree *tree, bool make,
                         struct tkb_roots *roots, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) char *full = NULL;
	int rc;

	if (!tkb_tree_name_is_valid(tree->name))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.200s' cannot be the name of a tree",
		                tree->name);
	for (size_t i = 0; i < roots->count; i++) {
		if (roots->items[i].tree != NULL &&
		    strcmp(roots->items[i].tree->name, tree->name) == 0)
			return tkb_fail(err, TKB_ERR_INVALID,
			                "there are two trees '%s'", tree->name);
	}
	if (tree->path == NULL || tree->path[0] == '\0')
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the path of tree '%s' is empty", tree->name);
	rc = join_absolute(tree->path, "", &full, err);
	if (rc == 0 && tree->is_external)
		rc = append_root(roots, tkb_take(full), -1, 0, err);
	else if (rc == 0)
		rc = open_or_make(&full, 0, make, roots, err);
	if (rc == 0)
		roots->items[roots->count - 1].tree = tree;
	return rc;
}

int tkb_roots_add_trees(const struct tkb_tree *trees, size_t count, bool make,
                        struct tkb_roots *roots,
                        struct tkb_named_root **named_out,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at)
	struct tkb_named_root *named = tkb_alloc_array(count, sizeof(*named));
	int rc;

	if (named == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		rc = add_tree_root(&trees[i], make, roots, err);
		if (rc < 0)
			return rc;
		named[i] = (struct tkb_named_root){
			.name = trees[i].name,
			.path = roots->items[roots->count - 1].path,
			.is_in_names = trees[i].is_in_names,
		};
	}
	rc = 0;
	for (size_t i = roots->count - count; i < roots->count && rc == 0; i++)
		rc = tkb_unit_names_open(roots->items[i].fd,
		                         roots->items[i].tree->rules, named,
		                         count, &roots->items[i].names, err);
	if (rc == 0)
		*named_out = tkb_take(named);
	return rc;
}

const char *tkb_root_folder(const struct tkb_root *root,
                            const struct tkb_entry *entry)
{
	return entry->kind == TKB_KIND_UNIT
	               ? tkb_unit_names_here(root->names, entry->folder, NULL)
	               : entry->key;
}

int tkb_root_add_nested(struct tkb_roots *roots, size_t index,
                        const char *below, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) char *full = NULL;
	const char *slash = strrchr(below, '/');
	const int32_t device = device_number(slash == NULL ? below : slash + 1);
	int fd;
	int rc;

	rc = join_absolute(roots->items[index].path, below, &full, err);
	if (rc < 0)
		return rc;
	fd = tkb_fd_open_folder(roots->items[index].fd, below);
	if (fd < 0)
		return tkb_fail_errno(err, "cannot open cache root '%s'", full);
	return append_root(roots, tkb_take(full), fd,
	                   device < 0 ? 0 : (uint32_t)device, err);
}

const struct tkb_root *tkb_roots_tree(const struct tkb_roots *roots,
                                      const char *name)
{
	for (size_t i = 0; i < roots->count; i++) {
		const struct tkb_tree *tree = roots->items[i].tree;

		if (tree != NULL && !tree->is_external &&
		    strcmp(tree->name, name) == 0)
			return &roots->items[i];
	}
	return NULL;
}

int tkb_root_make(const char *path, bool is_inductor, uint32_t device,
                  bool make, struct tkb_roots *roots, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) char *full = NULL;
	char below[32] = "";
	int rc;

	if (is_inductor)
		format_below(below, device);
	rc = join_absolute(path, below, &full, err);
	return rc == 0 ? open_or_make(&full, device, make, roots, err) : rc;
}

int tkb_cache_root_make(const char *path, struct tkb_error *err)
{
	return tkb_path_make_folders(path, err);
}

int tkb_root_place(const struct tkb_root *root, const char *key,
                   struct tkb_buf *out, struct tkb_error *err)
{
	tkb_json_escape_python(tkb_text(root->path), out);
	if (strcmp(root->path, "/") != 0)
		tkb_buf_add_byte(out, '/');
	tkb_buf_add_text(out, key);
	return tkb_buf_check(out, err);
}
