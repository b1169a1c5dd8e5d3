/* SPDX-License-Identifier: Apache-2.0 */
#include "config/trees.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fd.h"
#include "cli/text.h"
#include "config/engine_version.h"
#include "config/profiles.h"
#include "config/python.h"

enum {
	PATH_SIZE = 4096,
	TREES_LIMIT = 64
};

void trees_release(struct trees *trees)
{
	for (size_t i = 0; i < trees->engine_count; i++)
		tkb_engine_close(trees->engines[i]);
	for (size_t i = 0; i < trees->text_count; i++)
		free(trees->texts[i]);
	free(trees->engines);
	free(trees->items);
	free(trees->texts);
	free(trees->kernels);
	free(trees->other_kernels);
}

/*
 * Trees
 */

static int fail_many(struct tkb_error *err)
{
	return cli_error(err, TKB_ERR_INVALID, "there are more than %d trees",
	                 TREES_LIMIT);
}

/*
 * Take ownership of `text`, which is freed with the trees. It is NULL if out of
 * memory.
 */
static int own_text(struct trees *trees, char *text, struct tkb_error *err)
{
	if (text == NULL)
		return cli_error_nomem(err);
	if (trees->text_count == TREES_LIMIT) {
		free(text);
		return fail_many(err);
	}
	trees->texts[trees->text_count++] = text;
	return 0;
}

static bool has_tree_named(const struct trees *trees, const char *name)
{
	for (size_t i = 0; i < trees->count; i++) {
		if (strcmp(trees->items[i].name, name) == 0)
			return true;
	}
	return false;
}

static int add_tree(struct trees *trees, const char *name, const char *path,
                    const struct tkb_tree_rules *rules, struct tkb_error *err)
{
	if (has_tree_named(trees, name))
		return cli_error(err, TKB_ERR_INVALID,
		                 "there are two trees '%.200s'", name);
	if (trees->count == TREES_LIMIT)
		return fail_many(err);
	trees->items[trees->count++] =
		(struct tkb_tree){ .name = name, .path = path, .rules = rules };
	return 0;
}

const char *trees_variable(void *self, const char *name)
{
	static const char *const names[] = { "LOGNAME", "USER", "LNAME",
		                             "USERNAME" };
	const struct passwd *user;

	(void)self;
	if (strcmp(name, "USER") != 0)
		return getenv(name);
	for (size_t i = 0; i < TKB_COUNT_OF(names); i++) {
		if (cli_variable(names[i]) != NULL)
			return cli_variable(names[i]);
	}
	user = getpwuid(getuid());
	return user != NULL ? user->pw_name : NULL;
}

bool trees_placed_folder(char *out, size_t size)
{
	const char *const cache = cli_variable("XDG_CACHE_HOME");
	const char *const home = cli_variable("HOME");
	int length = -1;

	if (cache != NULL)
		length = snprintf(out, size, "%s/tkbundle/engines", cache);
	else if (home != NULL)
		length =
			snprintf(out, size, "%s/.cache/tkbundle/engines", home);
	return length > 0 && (size_t)length < size;
}

bool trees_temporary_folder(char *out, size_t size)
{
	const char *const temporary = cli_variable("TMPDIR");
	const int length = snprintf(out, size, "%s/tkbundle-%u",
	                            temporary != NULL ? temporary : "/tmp",
	                            (unsigned)geteuid());

	return length > 0 && (size_t)length < size;
}

/* Does the engine keep its root of this index at `path`? */
static bool is_located(const struct tkb_engine *engine, size_t index,
                       const char *path)
{
	TKB_AUTO(text_free) char *place = NULL;

	return tkb_engine_locate(engine, index, trees_variable, NULL, &place,
	                         NULL) == 0 &&
	       strcmp(place, path) == 0;
}

/* Does `name` in the folder `path` show that `engine` keeps a cache there? */
static bool shows_cache(const struct tkb_engine *engine, const char *path,
                        const char *name)
{
	for (size_t i = 0; i < tkb_engine_root_count(engine); i++) {
		const struct tkb_engine_root *root = tkb_engine_root(engine, i);

		if (!root->is_kernels && is_located(engine, i, path) &&
		    !tkb_tree_shows_cache(root->rules, name))
			return false;
	}
	return true;
}

/* Find the root where `run` has placed it; false if it is not there. */
static bool find_placed(const struct tkb_engine_root *root,
                        char out[2 * PATH_SIZE])
{
	char folder[PATH_SIZE];

	if (trees_placed_folder(folder, sizeof(folder)) &&
	    snprintf(out, 2 * PATH_SIZE, "%s/%s%s", folder, root->name,
	             root->below) < 2 * PATH_SIZE &&
	    access(out, F_OK) == 0)
		return true;
	return trees_temporary_folder(folder, sizeof(folder)) &&
	       folder_is_own(folder) &&
	       snprintf(out, 2 * PATH_SIZE, "%s/engines/%s%s", folder,
	                root->name, root->below) < 2 * PATH_SIZE &&
	       access(out, F_OK) == 0;
}

bool trees_is_shared(const struct tkb_engine *engine, size_t index,
                     const char *path)
{
	if (!tkb_engine_root(engine, index)->is_kernels)
		return false;
	for (size_t i = 0; i < tkb_engine_root_count(engine); i++) {
		if (i != index && is_located(engine, i, path))
			return true;
	}
	return false;
}

/*
 * Is there anything in the folder that the engine does not always write there,
 * as Inductor writes headers? An empty folder was made for a cache, unless it
 * holds tkbundle's own folder, and `run` has placed the root elsewhere.
 */
static bool has_cache(const struct tkb_engine *engine, size_t index,
                      const char *path)
{
	TKB_AUTO(folder_close) DIR *folder = opendir(path);
	const struct dirent *item;
	char placed[2 * PATH_SIZE];
	bool has_rest = false;
	bool has_own = false;

	if (folder == NULL)
		return errno != ENOENT;
	while ((item = readdir(folder)) != NULL) {
		if (strcmp(item->d_name, ".") == 0 ||
		    strcmp(item->d_name, "..") == 0)
			continue;
		if (strcmp(item->d_name, ".tkbundle") == 0)
			has_own = true;
		else if (shows_cache(engine, path, item->d_name))
			return true;
		else
			has_rest = true;
	}
	return !has_rest &&
	       (!has_own ||
	        !find_placed(tkb_engine_root(engine, index), placed));
}

bool trees_is_default_used(const struct tkb_engine *engine, size_t index,
                           const char *path)
{
	char kernels[PATH_SIZE];

	if (!trees_is_shared(engine, index, path))
		return has_cache(engine, index, path);
	return snprintf(kernels, sizeof(kernels), "%s/triton", path) <
	               (int)sizeof(kernels) &&
	       access(kernels, F_OK) == 0;
}

/*
 * If the engine's own place has no cache, and `run` has placed one elsewhere,
 * use that: `*path` is replaced.
 */
static int prefer_placed(const struct tkb_engine *engine, size_t index,
                         char **path, bool *is_placed_out,
                         struct tkb_error *err)
{
	const struct tkb_engine_root *root = tkb_engine_root(engine, index);
	char placed[2 * PATH_SIZE];
	char *copy;

	if (cli_variable(root->variable) != NULL ||
	    cli_variable(root->base) != NULL ||
	    trees_is_default_used(engine, index, *path) ||
	    !find_placed(root, placed))
		return 0;
	copy = strdup(placed);
	if (copy == NULL)
		return cli_error_nomem(err);
	free(*path);
	*path = copy;
	*is_placed_out = true;
	return 0;
}

int trees_locate(const struct tkb_engine *engine, size_t index, char **out,
                 bool *is_placed_out, struct tkb_error *err)
{
	char *path = NULL;
	int rc;

	*is_placed_out = false;
	rc = tkb_engine_locate(engine, index, trees_variable, NULL, &path, err);
	if (rc == 0)
		rc = prefer_placed(engine, index, &path, is_placed_out, err);
	if (rc == 0)
		*out = path;
	else
		free(path);
	return rc;
}

void trees_describe_origin(const struct tkb_engine *engine, size_t index,
                           bool is_placed, char out[TREES_ORIGIN_SIZE])
{
	const struct tkb_engine_root *const root =
		tkb_engine_root(engine, index);
	const char *const name =
		tkb_engine_located_by(engine, index, trees_variable, NULL);

	if (is_placed)
		(void)snprintf(out, TREES_ORIGIN_SIZE, "placed by run");
	else if (name == NULL)
		(void)snprintf(out, TREES_ORIGIN_SIZE, "nothing says where");
	else if (name[0] != '\0' && strcmp(name, root->variable) == 0)
		(void)snprintf(out, TREES_ORIGIN_SIZE, "%s", name);
	else
		(void)snprintf(out, TREES_ORIGIN_SIZE, "default%s%s",
		               name[0] != '\0' ? ", by " : "", name);
}

/* Two engines may have their kernels in two roots: the first one counts. */
static int note_other_kernels(struct trees *trees,
                              const struct tkb_engine *engine, size_t index,
                              struct tkb_error *err)
{
	TKB_AUTO(text_free) char *path = NULL;
	bool is_placed;
	const int rc = trees_locate(engine, index, &path, &is_placed, err);

	if (rc == 0 && trees->other_kernels == NULL &&
	    strcmp(path, trees->kernels) != 0 && access(path, F_OK) == 0) {
		trees->other_kernels = path;
		path = NULL;
	}
	return rc < 0 ? rc : 0;
}

static int add_engine_root(struct trees *trees, const struct tkb_engine *engine,
                           size_t index, struct tkb_error *err)
{
	const struct tkb_engine_root *root = tkb_engine_root(engine, index);
	char *path = NULL;
	bool is_placed;
	int rc;

	if (root->is_kernels && trees->kernels != NULL)
		return note_other_kernels(trees, engine, index, err);
	/* Two engines may share a tree: use the first profile. */
	if (!root->is_kernels && has_tree_named(trees, root->name))
		return 0;
	rc = trees_locate(engine, index, &path, &is_placed, err);
	if (rc == TKB_MISS)
		return cli_error(err, TKB_ERR_INVALID,
		                 "nothing says where '%s' of engine '%s' is: "
		                 "set %s",
		                 root->name, tkb_engine_name(engine),
		                 cli_variable(root->variable) != NULL
		                         ? "HOME" /* for its tilde */
		                         : root->variable);
	if (rc < 0)
		return rc;
	if (root->is_kernels) {
		trees->kernels = path;
		return 0;
	}
	rc = own_text(trees, path, err);
	return rc < 0 ? rc
	              : add_tree(trees, root->name, path, root->rules, err);
}

/*
 * Folders outside
 */

static int add_external(struct trees *trees, const char *name, const char *path,
                        bool is_in_names, struct tkb_error *err)
{
	char *copy;
	int rc;

	if (has_tree_named(trees, name))
		return 0;
	copy = strdup(path);
	rc = own_text(trees, copy, err);
	if (rc == 0)
		rc = add_tree(trees, name, copy, NULL, err);
	if (rc == 0) {
		trees->items[trees->count - 1].is_external = true;
		trees->items[trees->count - 1].is_in_names = is_in_names;
	}
	return rc;
}

/*
 * If a package is not installed, or Python does not answer, its path is
 * unknown. The current folder, which Python searches first for -c, may have the
 * package's sources.
 */
static int add_packages(struct trees *trees, const struct tkb_engine *engine,
                        struct tkb_error *err)
{
	static const char question[] =
		"import importlib.util, os, sys\n"
		"if sys.path[:1] == ['']: del sys.path[0]\n"
		"for name in sys.argv[1:]:\n"
		"    try: print(os.path.realpath(importlib.util.find_spec("
		"name).submodule_search_locations[0]))\n"
		"    except Exception: print()\n";
	const char *names[TREES_LIMIT + 1] = { NULL };
	const struct tkb_engine_external *items[TREES_LIMIT];
	char answer[TREES_LIMIT * 256];
	char python[PYTHON_PATH_SIZE];
	char *line = answer;
	size_t count = 0;
	int rc = 0;

	for (size_t i = 0;
	     i < tkb_engine_external_count(engine) && count < TREES_LIMIT;
	     i++) {
		items[count] = tkb_engine_external(engine, i);
		names[count] = items[count]->package;
		count += names[count][0] != '\0';
	}
	names[count] = NULL;
	if (count == 0 || !python_find(NULL, tkb_engine_name(engine), python) ||
	    !python_ask(python, question, names, answer, sizeof(answer)))
		return 0;
	for (size_t i = 0; i < count && rc == 0; i++) {
		char *const end = strchr(line, '\n');

		if (end == NULL)
			break;
		*end = '\0';
		if (line[0] == '/')
			rc = add_external(trees, items[i]->name, line, false,
			                  err);
		line = end + 1;
	}
	return rc;
}

/*
 * Find the folder as Python would: links are not resolved, and nothing is
 * imported.
 */
static int add_external_folder(struct trees *trees,
                               const struct tkb_engine *engine, size_t index,
                               struct tkb_error *err)
{
	char path[PATH_SIZE] = "";

	for (size_t i = 0;
	     i < tkb_engine_external_folder_count(engine, index) &&
	     path[0] == '\0';
	     i++)
		engine_file_find(tkb_engine_external_folder(engine, index, i),
		                 NULL, tkb_engine_name(engine), path,
		                 sizeof(path));
	return path[0] != '/'
	               ? 0
	               : add_external(trees,
	                              tkb_engine_external(engine, index)->name,
	                              path, true, err);
}

static int add_externals(struct trees *trees, const struct tkb_engine *engine,
                         struct tkb_error *err)
{
	int rc;

	rc = add_packages(trees, engine, err);
	for (size_t i = 0; i < tkb_engine_external_count(engine) && rc == 0;
	     i++) {
		TKB_AUTO(text_free) char *path = NULL;

		rc = add_external_folder(trees, engine, i, err);
		if (rc == 0)
			rc = tkb_engine_locate_external(
				engine, i, trees_variable, NULL, &path, err);
		if (rc == 0)
			rc = add_external(trees,
			                  tkb_engine_external(engine, i)->name,
			                  path, false, err);
		else if (rc == TKB_MISS)
			rc = 0;
	}
	return rc;
}

static int add_engine(struct trees *trees, const char *name,
                      struct tkb_error *err)
{
	struct tkb_engine *engine = NULL;
	int rc;

	rc = profile_open(name, NULL, &engine, err);
	if (rc < 0)
		return rc;
	trees->engines[trees->engine_count++] = engine;
	for (size_t i = 0; i < tkb_engine_root_count(engine) && rc == 0; i++)
		rc = add_engine_root(trees, engine, i, err);
	if (rc == 0)
		rc = add_externals(trees, engine, err);
	return rc;
}

/*
 * The root of `engine` with the rules for trees called `kind`; NULL if it has
 * none.
 */
static const struct tkb_engine_root *find_root(const struct tkb_engine *engine,
                                               const char *kind)
{
	for (size_t i = 0; i < tkb_engine_root_count(engine); i++) {
		const struct tkb_engine_root *root = tkb_engine_root(engine, i);

		if (!root->is_kernels && strcmp(root->name, kind) == 0)
			return root;
	}
	return NULL;
}

/*
 * Find the rules in the profile of this name, or else in the first one that has
 * such a root.
 */
static int find_rules(struct trees *trees, const char *kind,
                      const struct tkb_tree_rules **out, struct tkb_error *err)
{
	TKB_AUTO(profile_names_release)
	struct profile_names names = { .count = 0 };

	*out = NULL;
	if (strcmp(kind, "plain") == 0)
		return 0;
	profile_names_add(&names, kind, strlen(kind));
	profiles_list(&names);
	if (names.count > 2)
		qsort(names.items + 1, names.count - 1, sizeof(*names.items),
		      profile_names_compare);
	for (size_t i = 0; i < names.count; i++) {
		const struct tkb_engine_root *root = NULL;
		struct tkb_engine *engine = NULL;

		/*
		 * Ignore a profile that cannot be read: it may not have this
		 * kind.
		 */
		if (profile_open(names.items[i], NULL, &engine, NULL) == 0)
			root = find_root(engine, kind);
		if (root != NULL) {
			trees->engines[trees->engine_count++] = engine;
			*out = root->rules;
			return 0;
		}
		tkb_engine_close(engine);
	}
	return cli_error(err, TKB_ERR_INVALID,
	                 "no profile of an engine has trees of kind '%.200s'",
	                 kind);
}

int trees_split_kind(struct trees *trees, char *text,
                     const struct tkb_tree_rules **rules_out,
                     struct tkb_error *err)
{
	char *const colon = strchr(text, ':');

	if (colon == NULL)
		return 0;
	*colon = '\0';
	return find_rules(trees, colon + 1, rules_out, err);
}

/* NAME=PATH, or NAME:KIND=PATH */
static int add_given(struct trees *trees, const char *text,
                     struct tkb_error *err)
{
	const char *equals = strchr(text, '=');
	const struct tkb_tree_rules *rules = NULL;
	char *name;
	int rc;

	if (equals == NULL || equals == text || equals[1] == '\0')
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%.200s' is not NAME=PATH or "
		                 "NAME:KIND=PATH",
		                 text);
	name = strndup(text, (size_t)(equals - text));
	rc = own_text(trees, name, err);
	if (rc == 0)
		rc = trees_split_kind(trees, name, &rules, err);
	return rc != 0 ? rc : add_tree(trees, name, equals + 1, rules, err);
}

int trees_choose(const struct arguments *args, struct trees *out,
                 struct tkb_error *err)
{
	int rc = 0;

	*out = (struct trees){
		.engines = calloc(args->engines.count + args->trees.count + 1,
		                  sizeof(*out->engines)),
		.items = calloc(TREES_LIMIT, sizeof(*out->items)),
		.texts = calloc(TREES_LIMIT, sizeof(*out->texts)),
	};
	if (out->engines == NULL || out->items == NULL || out->texts == NULL)
		return cli_error_nomem(err);
	for (size_t i = 0; i < args->engines.count && rc == 0; i++)
		rc = add_engine(out, args->engines.items[i], err);
	for (size_t i = 0; i < args->trees.count && rc == 0; i++)
		rc = add_given(out, args->trees.items[i], err);
	out->has_no_kernels = args->trees.count + args->engines.count != 0 &&
	                      out->kernels == NULL;
	return rc;
}
