/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/unit_names.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/fd.h"
#include "base/path.h"
#include "tree/deepgemm.h"
#include "tree/glob.h"
#include "tree/unit.h"

enum {
	PATH_SIZE = TKB_UNIT_PATH_LIMIT + TKB_DEEPGEMM_NAME_SIZE + 1,
	CODE_LIMIT = 1024 * 1024,
	/* Stop trying all compilers and flags after this many folders
	   without a match. */
	SEARCHES_LIMIT = 16
};

#define PACKAGE "deep_gemm-package"
#define CUDA "cuda"

/* The paths in a bundle. */
static const struct tkb_deepgemm_place anywhere = {
	.package = "[REPLACE:" PACKAGE "]",
	.cuda = "[REPLACE:" CUDA "]",
};

struct pair {
	const char *name; /* its name in a bundle */
	const char *path; /* its path here */
	bool is_stale;    /* here it still has the name from a bundle */
};

struct tkb_unit_names {
	const struct tkb_tree_rules *rules; /* by reference */
	struct tkb_deepgemm_place here;
	struct tkb_arena arena; /* owns the texts */
	struct pair *pairs;     /* owned; sorted by name */
	size_t count;
	size_t capacity;
	/* The combination that fitted the last folder: most likely the next
	   one's, too. */
	atomic_size_t way;
	size_t search_count;
};

/* Format the path of `name` in the same folder as `path`. */
static void format_beside(const char *path, const char *name, char *out,
                          size_t size)
{
	(void)snprintf(out, size, "%.*s%s",
	               (int)(tkb_path_base_name(path) - path), path, name);
}

/*
 * Look at what is there
 */

static int add_name(struct tkb_unit_names *names, const char *name,
                    const char *path, struct tkb_error *err)
{
	const struct pair pair = {
		.name = tkb_arena_string(&names->arena, tkb_text(name)),
		.path = tkb_arena_string(&names->arena, tkb_text(path)),
		.is_stale = strcmp(name, path) == 0,
	};

	if (pair.name == NULL || pair.path == NULL)
		return tkb_fail_nomem(err);
	return tkb_append(&names->pairs, &names->count, &names->capacity, &pair,
	                  sizeof(pair), err);
}

/*
 * Find the name that `folder` has in a bundle; false if it has the same name
 * there as here.
 */
static bool find_bundled(struct tkb_unit_names *names, const char *folder,
                         struct tkb_bytes code,
                         char out[TKB_DEEPGEMM_NAME_SIZE])
{
	const bool is_quick = names->search_count >= SEARCHES_LIMIT;
	size_t way = atomic_load(&names->way);

	if (tkb_deepgemm_reproduce(folder, code, &names->here, is_quick,
	                           &way)) {
		atomic_store(&names->way, way);
		return tkb_deepgemm_rename(folder, code, &anywhere, way, out);
	}
	if (tkb_deepgemm_reproduce(folder, code, &anywhere, is_quick, &way)) {
		atomic_store(&names->way, way);
		(void)snprintf(out, TKB_DEEPGEMM_NAME_SIZE, "%s", folder);
		return true;
	}
	names->search_count++;
	return false;
}

/* Examine the folder `name` in `folder`, whose descriptor is `dir_fd`. */
static int add_renamed(struct tkb_unit_names *names, int dir_fd,
                       const char *folder, const char *name,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_buf_release)
	struct tkb_buf code = TKB_BUF_INIT(CODE_LIMIT);
	char own[TKB_DEEPGEMM_NAME_SIZE + sizeof("/" TKB_UNIT_CODE)];
	char bundled[TKB_DEEPGEMM_NAME_SIZE];
	char unit[PATH_SIZE];
	char path[PATH_SIZE];
	struct tkb_error fault = { 0 };
	struct stat status;
	int rc;

	if (snprintf(own, sizeof(own), "%s/%s", name, TKB_UNIT_CODE) >=
	    (int)sizeof(own))
		return 0;
	rc = tkb_fd_read_file(dir_fd, own, CODE_LIMIT, &code, &status, &fault);
	if (rc == TKB_ERR_NOMEM)
		return tkb_fail_nomem(err);
	/* If the code cannot be read, loading the unit fails later. */
	if (rc < 0 || !find_bundled(names, name, tkb_buf_bytes(&code), bundled))
		return 0;
	(void)snprintf(unit, sizeof(unit), "%s/%s", folder, bundled);
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return strlen(path) > TKB_UNIT_PATH_LIMIT
	               ? 0
	               : add_name(names, unit, path, err);
}

/*
 * The folder that contains everything that `rule` matches; false if there are
 * several.
 */
static bool folder_of(const struct tkb_tree_rule *rule,
                      char out[TKB_UNIT_PATH_LIMIT + 1])
{
	const size_t length =
		(size_t)(tkb_path_base_name(rule->path) - rule->path);

	if (length == 0 || length > TKB_UNIT_PATH_LIMIT)
		return false;
	memcpy(out, rule->path, length - 1);
	out[length - 1] = '\0';
	return strchr(out, '*') == NULL;
}

static int look_below(struct tkb_unit_names *names, int root_fd,
                      const struct tkb_tree_rule *rule, struct tkb_error *err)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	char folder[TKB_UNIT_PATH_LIMIT + 1];
	const struct dirent *item = NULL;
	struct tkb_error fault = { 0 };
	int rc;

	if (root_fd < 0 || !folder_of(rule, folder))
		return 0;
	/* If the folder cannot be listed, the walk will refuse it. */
	rc = tkb_dir_open(root_fd, folder, &dir, &fault);
	if (rc < 0)
		return rc == TKB_ERR_NOMEM ? tkb_fail_nomem(err) : 0;
	while (rc == 0) {
		rc = tkb_dir_next(dir, &item, err);
		if (rc == 0 && tkb_deepgemm_is_name(item->d_name))
			rc = add_renamed(names, dirfd(dir), folder,
			                 item->d_name, err);
	}
	return rc < 0 ? rc : 0;
}

static int compare_name_pairs(const void *a, const void *b)
{
	const struct pair *left = a;
	const struct pair *right = b;
	const int order = strcmp(left->name, right->name);

	return order != 0 ? order : (int)left->is_stale - (int)right->is_stale;
}

static const char *path_of_root(const struct tkb_named_root *named,
                                size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(named[i].name, name) == 0)
			return named[i].path;
	}
	return NULL;
}

TKB_AUTO_POINTER(close_at, struct tkb_unit_names, tkb_unit_names_close)

int tkb_unit_names_open(int root_fd, const struct tkb_tree_rules *rules,
                        const struct tkb_named_root *named, size_t named_count,
                        struct tkb_unit_names **out, struct tkb_error *err)
{
	const char *package = path_of_root(named, named_count, PACKAGE);
	TKB_AUTO(close_at) struct tkb_unit_names *names = NULL;
	bool is_asked = false;
	int rc = 0;

	*out = NULL;
	for (size_t i = 0; rules != NULL && i < rules->count; i++)
		is_asked |= rules->items[i].naming == TKB_TREE_NAMING_DEEPGEMM;
	if (!is_asked || package == NULL)
		return 0;
	names = tkb_alloc_array(1, sizeof(*names));
	if (names == NULL)
		return tkb_fail_nomem(err);
	names->rules = rules;
	names->here = (struct tkb_deepgemm_place){
		.package = package,
		.cuda = path_of_root(named, named_count, CUDA),
	};
	for (size_t i = 0; i < rules->count && rc == 0; i++) {
		if (rules->items[i].naming == TKB_TREE_NAMING_DEEPGEMM)
			rc = look_below(names, root_fd, &rules->items[i], err);
	}
	if (rc < 0)
		return rc;
	tkb_sort(names->pairs, names->count, sizeof(*names->pairs),
	         compare_name_pairs);
	*out = tkb_take(names);
	return 0;
}

void tkb_unit_names_close(struct tkb_unit_names *names)
{
	if (names == NULL)
		return;
	tkb_arena_release(&names->arena);
	free(names->pairs);
	free(names);
}

/*
 * Ask
 */

static int compare_name(const void *key, const void *item)
{
	const struct pair *pair = item;

	return strcmp(key, pair->name);
}

/* The first pair of a unit, which is the one to use; or NULL. */
static const struct pair *find_pair(const struct tkb_unit_names *names,
                                    const char *name)
{
	const size_t at =
		names == NULL
			? 0
			: tkb_lower_bound(name, names->pairs, names->count,
	                                  sizeof(*names->pairs), compare_name);

	return names != NULL && at < names->count &&
	                       strcmp(names->pairs[at].name, name) == 0
	               ? &names->pairs[at]
	               : NULL;
}

const char *tkb_unit_names_here(const struct tkb_unit_names *names,
                                const char *name, bool *is_stale_out)
{
	const struct pair *pair = find_pair(names, name);

	if (is_stale_out != NULL)
		*is_stale_out = pair != NULL && pair->is_stale;
	return pair == NULL ? name : pair->path;
}

const char *tkb_unit_names_bundled(const struct tkb_unit_names *names,
                                   const char *path)
{
	const struct pair *twin = find_pair(names, path);

	for (size_t i = 0; names != NULL && i < names->count; i++) {
		if (strcmp(names->pairs[i].path, path) == 0 &&
		    !names->pairs[i].is_stale)
			return names->pairs[i].name;
	}
	return twin == NULL || twin->is_stale ? path : NULL;
}

bool tkb_unit_names_concern(const struct tkb_unit_names *names,
                            const char *name)
{
	return names != NULL &&
	       tkb_deepgemm_is_name(tkb_path_base_name(name)) &&
	       tkb_tree_judge(names->rules, name).naming ==
	               TKB_TREE_NAMING_DEEPGEMM;
}

void tkb_unit_names_find(struct tkb_unit_names *names, const char *name,
                         struct tkb_bytes code, char *out, size_t size)
{
	const char *folder = tkb_path_base_name(name);
	char here[TKB_DEEPGEMM_NAME_SIZE];
	size_t way = atomic_load(&names->way);

	(void)snprintf(out, size, "%s", name);
	if (!tkb_deepgemm_reproduce(folder, code, &anywhere, false, &way) ||
	    !tkb_deepgemm_rename(folder, code, &names->here, way, here))
		return;
	atomic_store(&names->way, way);
	format_beside(name, here, out, size);
}
