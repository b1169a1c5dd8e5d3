/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive_walk.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fd.h"
#include "cli/text.h"

#define VLLM "io.vllm.cache"    /* MCV's name for it */
#define AOT "torch_aot_compile" /* vLLM's own folders, in or beside graphs */
#define PLACES_LIMIT 256        /* an archive has only a few caches */

void archive_places_release(struct archive_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free(places->items[i].path);
	free(places->items);
}

static int add_walked_place(struct archive_places *places, const char *path,
                            enum archive_look look, size_t suffix,
                            struct tkb_error *err)
{
	char *copy;

	if (places->items == NULL)
		places->items = calloc(PLACES_LIMIT, sizeof(*places->items));
	if (places->count == PLACES_LIMIT)
		return cli_error(err, TKB_ERR_TOO_LARGE,
		                 "the archive holds more than %d caches",
		                 PLACES_LIMIT);
	copy = places->items == NULL ? NULL : strdup(path);
	if (copy == NULL)
		return cli_error_nomem(err);
	places->items[places->count++] =
		(struct archive_place){ copy, look, suffix };
	return 0;
}

/*
 * Recognize a folder by the names in it
 */

static bool is_all(const char *name, int (*is_such)(int))
{
	for (; *name != '\0'; name++) {
		if (!is_such((unsigned char)*name))
			return false;
	}
	return true;
}

static int is_base32(int c)
{
	return (c >= 'A' && c <= 'Z') || (c >= '2' && c <= '7');
}

static int is_base64(int c)
{
	return isalnum(c) || c == '-' || c == '_';
}

static int is_hex(int c)
{
	return isdigit(c) || (c >= 'a' && c <= 'f');
}

/* As in docs/format.md. */
static bool is_key(const char *name)
{
	switch (strlen(name)) {
	case 32:
	case 64:
		return is_all(name, is_hex);
	case 43:
		return is_all(name, is_base64);
	case 52:
		return is_all(name, is_base32);
	default:
		return false;
	}
}

static bool is_folder_at(int at, const char *name)
{
	struct stat status;

	return fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(status.st_mode);
}

/* Does the folder `name` in `at` contain a folder with such a name? */
static bool has_folder(int at, const char *name,
                       bool (*is_such)(const char *name))
{
	TKB_AUTO(folder_close) DIR *folder = folder_open(at, name, O_NOFOLLOW);
	const struct dirent *item;

	while (folder != NULL && (item = readdir(folder)) != NULL) {
		if (is_such(item->d_name) &&
		    is_folder_at(dirfd(folder), item->d_name))
			return true;
	}
	return false;
}

static bool is_device(const char *name)
{
	return name[0] != '\0' && strlen(name) <= 4 && is_all(name, isdigit);
}

static bool is_rank(const char *name)
{
	return strncmp(name, "rank_", strlen("rank_")) == 0;
}

/* A graph's folder in vLLM's torch_compile_cache. */
static bool is_graph(int at, const char *name)
{
	return name[0] != '.' && has_folder(at, name, is_rank);
}

/* Does the folder `at` contain an item that is such? */
static bool has_item(int at, bool (*is_such)(int at, const char *name))
{
	TKB_AUTO(folder_close) DIR *folder = folder_open(at, ".", 0);
	const struct dirent *item;

	while (folder != NULL && (item = readdir(folder)) != NULL) {
		if (is_such(dirfd(folder), item->d_name))
			return true;
	}
	return false;
}

/*
 * Is it a key's folder that holds what Triton puts there: a group file, an autotune
 * file, or shared objects alone? Other caches have digests as names, too.
 */
static bool is_entry(int at, const char *name)
{
	TKB_AUTO(folder_close)
	DIR *folder = is_key(name) ? folder_open(at, name, O_NOFOLLOW) : NULL;
	const struct dirent *item;
	bool has_modules = false;
	bool has_others = false;

	while (folder != NULL && (item = readdir(folder)) != NULL) {
		const char *const file = item->d_name;

		if (strncmp(file, "__grp__", strlen("__grp__")) == 0 ||
		    text_ends_with(file, ".autotune.json"))
			return true;
		if (text_ends_with(file, ".so"))
			has_modules = true;
		else if (file[0] != '.')
			has_others = true;
	}
	return has_modules && !has_others;
}

/* Names in Inductor's folder, except those that mark kernels. */
static bool is_inductors(const char *name)
{
	return name[0] != '.' && strcmp(name, "triton") != 0;
}

static enum archive_look recognize_layout(int at)
{
	const bool has_devices = has_folder(at, "triton", is_device);

	if (is_folder_at(at, "torch_compile_cache") ||
	    is_folder_at(at, "modelinfos"))
		return ARCHIVE_LOOK_VLLM;
	if (is_folder_at(at, AOT))
		return ARCHIVE_LOOK_VLLM_INSIDE;
	if (is_folder_at(at, "fxgraph") || is_folder_at(at, "aotautograd") ||
	    (has_devices && has_folder(at, ".", is_inductors)))
		return has_devices ? ARCHIVE_LOOK_INDUCTOR_KERNELS
		                   : ARCHIVE_LOOK_INDUCTOR;
	if (is_folder_at(at, "cached_ops"))
		return ARCHIVE_LOOK_FLASHINFER;
	if (has_devices || has_item(at, is_entry))
		return ARCHIVE_LOOK_KERNELS;
	return has_item(at, is_graph) ? ARCHIVE_LOOK_VLLM_INSIDE
	                              : ARCHIVE_LOOK_NONE;
}

/*
 * The walk
 */

static bool find_suffix(const char *path, const char *const *suffixes,
                        size_t count, size_t *out)
{
	const size_t length = strlen(path);

	for (size_t i = 0; i < count; i++) {
		const size_t size =
			suffixes[i] == NULL ? 0 : strlen(suffixes[i]);

		if (size == 0 || size >= length ||
		    strcmp(path + length - size, suffixes[i]) != 0 ||
		    path[length - size - 1] != '/')
			continue;
		*out = i;
		return true;
	}
	return false;
}

static int compare_fts_names(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

FTS *archive_walk_open(const char *folder, struct tkb_error *err)
{
	char *const paths[] = { (char *)(uintptr_t)folder, NULL };
	FTS *const walk =
		fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, compare_fts_names);

	if (walk == NULL)
		(void)cli_error_nomem(err);
	return walk;
}

/* How the walk goes on below a folder. */
enum walk_into {
	WALK_NOT,   /* it is a cache */
	WALK_TREE,  /* it is an engine's: only suffixes count */
	WALK_FOLDER /* as before */
};

/* @return an enum walk_into */
static int visit_folder(const char *path,
                        const struct archive_suffixes *suffixes, bool is_inside,
                        struct archive_places *out, struct tkb_error *err)
{
	TKB_AUTO(fd_close) int fd = -1;
	enum archive_look look;
	size_t suffix = 0;
	int rc;

	if (find_suffix(path, suffixes->trees, suffixes->tree_count, &suffix)) {
		rc = add_walked_place(out, path, ARCHIVE_LOOK_NONE, suffix,
		                      err);
		return rc < 0 ? rc : WALK_TREE;
	}
	if (is_inside && !find_suffix(path, suffixes->kernels,
	                              suffixes->kernels_count, &suffix))
		return WALK_FOLDER;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return cli_error_errno(err, "open", path);
	look = recognize_layout(fd);
	if (look == ARCHIVE_LOOK_NONE)
		return WALK_FOLDER;
	rc = add_walked_place(out, path, look, 0, err);
	return rc < 0 ? rc : WALK_NOT;
}

/*
 * Does the folder look like a cache other than vLLM's own? vLLM's folder of
 * code compiled ahead of time contains digests as names, like keys of kernels.
 */
static bool is_of_others(int at, const char *name)
{
	TKB_AUTO(fd_close) int fd = -1;
	enum archive_look look;

	if (strcmp(name, AOT) == 0)
		return false;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	look = recognize_layout(fd);
	return look == ARCHIVE_LOOK_KERNELS || look == ARCHIVE_LOOK_INDUCTOR ||
	       look == ARCHIVE_LOOK_INDUCTOR_KERNELS;
}

int archive_walk_split(const char *folder, struct tkb_error *err)
{
	TKB_AUTO(fd_close)
	int top = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	TKB_AUTO(folder_close)
	DIR *inside = folder_open(top, VLLM, O_NOFOLLOW);
	const struct dirent *item;

	while (inside != NULL && (item = readdir(inside)) != NULL) {
		char beside[512];

		if (item->d_name[0] == '.' ||
		    !is_of_others(dirfd(inside), item->d_name))
			continue;
		(void)snprintf(beside, sizeof(beside), VLLM ".%s",
		               item->d_name);
		if (renameat(dirfd(inside), item->d_name, top, beside) < 0)
			return cli_error(err, TKB_ERR_IO,
			                 "cannot move '" VLLM "/%s': %s",
			                 item->d_name, strerror(errno));
		rewinddir(inside);
	}
	return 0;
}

int archive_walk(const char *folder, const struct archive_suffixes *suffixes,
                 struct archive_places *out, struct tkb_error *err)
{
	FTS *const walk = archive_walk_open(folder, err);
	int tree = INT_MAX; /* level of the outermost tree around the folder */
	FTSENT *item;
	int rc = 0;

	if (walk == NULL)
		return TKB_ERR_NOMEM;
	while (rc >= 0 && (item = fts_read(walk)) != NULL) {
		if (item->fts_info != FTS_D)
			continue;
		if (item->fts_level <= tree)
			tree = INT_MAX;
		rc = visit_folder(item->fts_path, suffixes, tree != INT_MAX,
		                  out, err);
		if (rc == WALK_NOT)
			(void)fts_set(walk, item, FTS_SKIP);
		if (rc == WALK_TREE && tree == INT_MAX)
			tree = item->fts_level;
	}
	(void)fts_close(walk);
	return rc < 0 ? rc : 0;
}
