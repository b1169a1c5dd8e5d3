/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/archive_walk.h"
#include "cli/cli.h"
#include "cli/text.h"
#include "config/profiles.h"

enum {
	ENGINES_LIMIT = 64,
	KERNELS_LIMIT = 256,
	TREES_LIMIT = 64, /* of a bundle */
	TEXTS_LIMIT = 4 * TREES_LIMIT
};

/* A tree that an engine has, and the folder where it was found. */
struct wanted {
	const char *name;
	const struct tkb_tree_rules *rules;
	enum archive_look look; /* or NULL: it is recognized by its place */
	const char *suffix;     /* then by this place */
	const char *path;       /* where it was found, or NULL */
	bool is_given;          /* given by --tree: no other folder is used */
};

struct finder {
	const char *folder;
	const struct arguments *args;
	struct archive_found *out;
	struct archive_places places;
	struct wanted wanted[TREES_LIMIT];
	size_t wanted_count;
	bool wants_kernels;
	const char *kernels[ENGINES_LIMIT]; /* suffixes of engines' kernels */
	size_t kernels_count;
};

void archive_found_release(struct archive_found *found)
{
	for (size_t i = 0; i < found->kernel_count; i++)
		free(found->kernels[i]);
	free(found->kernels);
	trees_release(&found->trees);
}

static int alloc_lists(struct archive_found *out, struct tkb_error *err)
{
	out->kernels = calloc(KERNELS_LIMIT, sizeof(*out->kernels));
	out->trees.engines = calloc(ENGINES_LIMIT + TREES_LIMIT,
	                            sizeof(*out->trees.engines));
	out->trees.items = calloc(TREES_LIMIT, sizeof(*out->trees.items));
	out->trees.texts = calloc(TEXTS_LIMIT, sizeof(*out->trees.texts));
	return out->kernels != NULL && out->trees.engines != NULL &&
	                       out->trees.items != NULL &&
	                       out->trees.texts != NULL
	               ? 0
	               : cli_error_nomem(err);
}

/*
 * Keep `text` as long as the results; NULL if out of memory.
 */
static char *own_text(struct finder *finder, char *text)
{
	struct trees *const trees = &finder->out->trees;

	if (text == NULL || trees->text_count == TEXTS_LIMIT) {
		free(text);
		return NULL;
	}
	trees->texts[trees->text_count++] = text;
	return text;
}

/*
 * What to look for
 */

static enum archive_look look_of(const char *name)
{
	static const struct {
		const char *name;
		enum archive_look look;
	} looks[] = { { "vllm", ARCHIVE_LOOK_VLLM },
		      { "inductor", ARCHIVE_LOOK_INDUCTOR },
		      { "flashinfer", ARCHIVE_LOOK_FLASHINFER } };

	for (size_t i = 0; i < TKB_COUNT_OF(looks); i++) {
		if (strcmp(looks[i].name, name) == 0)
			return looks[i].look;
	}
	return ARCHIVE_LOOK_NONE;
}

static struct wanted *find_wanted(struct finder *finder, const char *name)
{
	for (size_t i = 0; i < finder->wanted_count; i++) {
		if (strcmp(finder->wanted[i].name, name) == 0)
			return &finder->wanted[i];
	}
	return NULL;
}

static void add_wanted(struct finder *finder, const char *name,
                       const struct tkb_tree_rules *rules, const char *suffix)
{
	if (find_wanted(finder, name) != NULL ||
	    finder->wanted_count == TREES_LIMIT)
		return;
	finder->wanted[finder->wanted_count++] = (struct wanted){
		.name = name,
		.rules = rules,
		.look = look_of(name),
		.suffix = suffix,
	};
}

/* For tkb_engine_locate(): the top stands for the home folder, of root. */
static const char *only_home(void *self, const char *name)
{
	(void)self;
	if (strcmp(name, "USER") == 0)
		return "root";
	return strcmp(name, "HOME") == 0 ? "/" : NULL;
}

/* Where the engine looks for a root, as the end of a path; NULL: unknown. */
static int find_suffix(struct finder *finder, const struct tkb_engine *engine,
                       size_t index, const char **out, struct tkb_error *err)
{
	char *path = NULL;
	const char *suffix = NULL;
	int rc;

	rc = tkb_engine_locate(engine, index, only_home, NULL, &path, err);
	if (rc == 0) {
		suffix = own_text(finder, path);
		if (suffix == NULL)
			return cli_error_nomem(err);
		suffix += strspn(suffix, "/");
	}
	*out = suffix;
	return rc < 0 ? rc : 0;
}

static int want_root(struct finder *finder, const struct tkb_engine *engine,
                     size_t index, struct tkb_error *err)
{
	const struct tkb_engine_root *root = tkb_engine_root(engine, index);
	const char *suffix = NULL;
	int rc;

	rc = find_suffix(finder, engine, index, &suffix, err);
	if (rc < 0)
		return rc;
	if (!root->is_kernels) {
		add_wanted(finder, root->name, root->rules, suffix);
		return 0;
	}
	finder->wants_kernels = true;
	if (finder->kernels_count < ENGINES_LIMIT)
		finder->kernels[finder->kernels_count++] = suffix;
	return 0;
}

static int want_engine(struct finder *finder, const char *name,
                       struct tkb_error *err)
{
	struct trees *const trees = &finder->out->trees;
	struct tkb_engine *engine = NULL;
	int rc;

	if (trees->engine_count == ENGINES_LIMIT)
		return cli_error(err, TKB_ERR_INVALID,
		                 "there are more than %d engines",
		                 ENGINES_LIMIT);
	rc = profile_open(name, NULL, &engine, err);
	if (rc < 0)
		return rc;
	trees->engines[trees->engine_count++] = engine;
	for (size_t i = 0; i < tkb_engine_root_count(engine) && rc == 0; i++)
		rc = want_root(finder, engine, i, err);
	return rc;
}

/*
 * Look for the trees of all profiles, and always for FlashInfer's folder.
 */
static int want_all(struct finder *finder, struct tkb_error *err)
{
	TKB_AUTO(profile_names_release)
	struct profile_names names = { .count = 0 };
	int rc = 0;

	profiles_list(&names);
	for (size_t i = 0; i < names.count && rc == 0; i++)
		rc = want_engine(finder, names.items[i], err);
	if (rc == 0)
		add_wanted(finder, "flashinfer", NULL, NULL);
	finder->wants_kernels = true;
	return rc;
}

static int want_what_is_asked(struct finder *finder, struct tkb_error *err)
{
	const struct arguments *args = finder->args;
	int rc = 0;

	if (args->engines.count == 0 && args->trees.count == 0)
		return want_all(finder, err);
	for (size_t i = 0; i < args->engines.count && rc == 0; i++)
		rc = want_engine(finder, args->engines.items[i], err);
	return rc;
}

/*
 * What was found
 */

/* The path in the archive, for messages. */
static const char *path_inside(const struct finder *finder, const char *path)
{
	const size_t length = strlen(finder->folder);

	return path[length] == '/' ? path + length + 1 : ".";
}

/* Set the place of a tree; `path` lives as long as the results. */
static int set_path(struct finder *finder, struct wanted *wanted,
                    const char *path, struct tkb_error *err)
{
	if (wanted->path != NULL && strcmp(wanted->path, path) != 0)
		return cli_error(err, TKB_ERR_INVALID,
		                 "the archive holds '%s' in '%.200s' and in "
		                 "'%.200s': name one by --engine and --tree",
		                 wanted->name,
		                 path_inside(finder, wanted->path),
		                 path_inside(finder, path));
	wanted->path = path;
	return 0;
}

static int add_kernels(struct finder *finder, const char *path,
                       struct tkb_error *err)
{
	struct archive_found *const out = finder->out;
	char *copy;

	if (!finder->wants_kernels)
		return 0;
	copy = out->kernel_count < KERNELS_LIMIT ? strdup(path) : NULL;
	if (copy == NULL)
		return cli_error_nomem(err);
	out->kernels[out->kernel_count++] = copy;
	return 0;
}

/*
 * The archive has only the content of vLLM's torch_compile_cache: make the
 * folder around it.
 */
static int wrap_vllm(const char *path, struct tkb_error *err)
{
	TKB_AUTO(text_free) char *aside = text_format("%s.inside", path);
	TKB_AUTO(text_free)
	char *inside = text_format("%s/torch_compile_cache", path);

	if (aside == NULL || inside == NULL)
		return cli_error_nomem(err);
	if (rename(path, aside) < 0 || mkdir(path, 0700) < 0 ||
	    rename(aside, inside) < 0)
		return cli_error(err, TKB_ERR_IO, "cannot move '%s'", path);
	return 0;
}

/*
 * FlashInfer's root contains the folders of versions and GPUs: cut those off
 * the path.
 */
static void cut_flashinfer(const struct finder *finder, char *path)
{
	for (int i = 0; i < 2; i++) {
		char *const slash = strrchr(path, '/');

		if ((size_t)(slash - path) >= strlen(finder->folder))
			*slash = '\0';
	}
}

static int take_tree(struct finder *finder, struct archive_place *found,
                     struct tkb_error *err)
{
	enum archive_look look = found->look;
	const char *path;
	int rc = 0;

	if (look == ARCHIVE_LOOK_FLASHINFER)
		cut_flashinfer(finder, found->path);
	if (look == ARCHIVE_LOOK_VLLM_INSIDE)
		look = ARCHIVE_LOOK_VLLM;
	if (look == ARCHIVE_LOOK_INDUCTOR_KERNELS)
		look = ARCHIVE_LOOK_INDUCTOR;
	for (size_t i = 0; i < finder->wanted_count && rc == 0; i++) {
		struct wanted *const wanted = &finder->wanted[i];

		if (wanted->is_given || wanted->look != look ||
		    (look == ARCHIVE_LOOK_NONE && found->suffix != i))
			continue;
		path = own_text(finder, strdup(found->path));
		rc = path != NULL ? set_path(finder, wanted, path, err)
		                  : cli_error_nomem(err);
		if (rc == 0 && found->look == ARCHIVE_LOOK_VLLM_INSIDE)
			rc = wrap_vllm(found->path, err);
	}
	return rc;
}

static int take_places(struct finder *finder, struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < finder->places.count && rc == 0; i++) {
		struct archive_place *const found = &finder->places.items[i];

		if (found->look == ARCHIVE_LOOK_KERNELS ||
		    found->look == ARCHIVE_LOOK_INDUCTOR_KERNELS)
			rc = add_kernels(finder, found->path, err);
		if (rc == 0 && found->look != ARCHIVE_LOOK_KERNELS)
			rc = take_tree(finder, found, err);
	}
	return rc;
}

static int look_for_all(struct finder *finder, struct tkb_error *err)
{
	const char *trees[TREES_LIMIT];
	const struct archive_suffixes suffixes = {
		.trees = trees,
		.tree_count = finder->wanted_count,
		.kernels = finder->kernels,
		.kernels_count = finder->kernels_count,
	};
	int rc;

	if (finder->args->engines.count == 0 && finder->args->trees.count != 0)
		return 0; /* only the folders that --tree names */
	for (size_t i = 0; i < finder->wanted_count; i++)
		trees[i] = finder->wanted[i].look == ARCHIVE_LOOK_NONE
		                   ? finder->wanted[i].suffix
		                   : NULL;
	rc = archive_walk(finder->folder, &suffixes, &finder->places, err);
	if (rc == 0)
		rc = take_places(finder, err);
	archive_places_release(&finder->places);
	return rc;
}

/*
 * --tree NAME=PATH or NAME:KIND=PATH
 */

/* Is the path relative, and without ".."? */
static bool is_below(const char *path)
{
	return path[0] != '/' && strcmp(path, "..") != 0 &&
	       strncmp(path, "../", 3) != 0 && strstr(path, "/../") == NULL &&
	       !text_ends_with(path, "/..");
}

/*
 * Look for the tree NAME or NAME:KIND in `path`, with the rules of KIND, or of
 * an engine that has such a tree, or without rules.
 */
static int want_given(struct finder *finder, char *text, const char *path,
                      struct tkb_error *err)
{
	const struct tkb_tree_rules *rules = NULL;
	const bool has_kind = strchr(text, ':') != NULL;
	struct wanted *wanted;
	int rc;

	rc = trees_split_kind(&finder->out->trees, text, &rules, err);
	if (rc != 0)
		return rc;
	add_wanted(finder, text, rules, NULL);
	wanted = find_wanted(finder, text);
	if (wanted == NULL)
		return cli_error(err, TKB_ERR_INVALID,
		                 "there are more than %d trees", TREES_LIMIT);
	if (wanted->is_given)
		return cli_error(err, TKB_ERR_INVALID,
		                 "there are two trees '%.200s'", text);
	if (has_kind)
		wanted->rules = rules;
	wanted->is_given = true;
	wanted->path = path;
	return 0;
}

/* Both parts of the option's text live as long as the results. */
static int add_given(struct finder *finder, const char *text,
                     struct tkb_error *err)
{
	const char *equals = strchr(text, '=');
	struct stat status;
	char *path;
	char *name;

	if (equals == NULL || equals == text || equals[1] == '\0' ||
	    !is_below(equals + 1))
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%.200s' is not NAME=PATH or "
		                 "NAME:KIND=PATH, with a path in the archive",
		                 text);
	name = own_text(finder, strndup(text, (size_t)(equals - text)));
	path = own_text(finder,
	                text_format("%s/%s", finder->folder, equals + 1));
	if (name == NULL || path == NULL)
		return cli_error_nomem(err);
	if (lstat(path, &status) < 0 || !S_ISDIR(status.st_mode))
		return cli_error(err, TKB_MISS,
		                 "the archive holds no folder '%.200s'",
		                 equals + 1);
	return want_given(finder, name, path, err);
}

/*
 * Find the caches
 */

static void take_wanted(struct finder *finder)
{
	struct trees *const trees = &finder->out->trees;

	for (size_t i = 0; i < finder->wanted_count; i++) {
		const struct wanted *const wanted = &finder->wanted[i];

		if (wanted->path == NULL)
			continue;
		trees->items[trees->count++] =
			(struct tkb_tree){ .name = wanted->name,
			                   .path = wanted->path,
			                   .rules = wanted->rules };
	}
}

int archive_find(const char *folder, const struct arguments *args,
                 struct archive_found *out, struct tkb_error *err)
{
	struct finder finder = { .folder = folder, .args = args, .out = out };
	int rc;

	rc = alloc_lists(out, err);
	if (rc == 0 && args->trees.count == 0)
		rc = archive_walk_split(folder, err);
	if (rc == 0)
		rc = want_what_is_asked(&finder, err);
	for (size_t i = 0; i < args->trees.count && rc == 0; i++)
		rc = add_given(&finder, args->trees.items[i], err);
	if (rc == 0)
		rc = look_for_all(&finder, err);
	if (rc == 0)
		take_wanted(&finder);
	return rc;
}
