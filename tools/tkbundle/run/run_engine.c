/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_engine.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tkbundle/emit.h>

#include "config/trees.h"

static bool fail(struct run_plan *plan, const struct tkb_error *err)
{
	(void)snprintf(plan->message, sizeof(plan->message), "%s",
	               err->message);
	return false;
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0';
}

/* Set a variable for the command; what does not fit is not set. */
static void set(struct run_plan *plan, const char *name, const char *value)
{
	char *const at = plan->variables + plan->variables_size;
	const size_t room = sizeof(plan->variables) - plan->variables_size;
	const int length = snprintf(at, room, "%s=%s", name, value);

	if (length < 0 || (size_t)length >= room) {
		*at = '\0';
		return;
	}
	plan->variables_size += (size_t)length + 1;
	(void)setenv(name, value, 1);
}

void run_engine_set(const struct run_plan *plan)
{
	char name[RUN_PATH_SIZE];

	for (size_t at = 0; at < plan->variables_size;
	     at += strlen(plan->variables + at) + 1) {
		const char *const item = plan->variables + at;
		const char *const equals = strchr(item, '=');

		if (equals == NULL || (size_t)(equals - item) >= sizeof(name))
			continue;
		(void)memcpy(name, item, (size_t)(equals - item));
		name[equals - item] = '\0';
		(void)setenv(name, equals + 1, 1);
	}
}

/*
 * The folder for caches that the user has not placed: below his own cache folder,
 * or in a temporary one where there is none that can be written.
 */
static bool make_base(char out[RUN_PATH_SIZE])
{
	const char *const cache = getenv("XDG_CACHE_HOME");
	const char *const home = getenv("HOME");
	const char *const temporary = getenv("TMPDIR");
	int length = -1;

	if (is_set("XDG_CACHE_HOME"))
		length = snprintf(out, RUN_PATH_SIZE, "%s/tkbundle/engines",
		                  cache);
	else if (is_set("HOME"))
		length = snprintf(out, RUN_PATH_SIZE,
		                  "%s/.cache/tkbundle/engines", home);
	if (length > 0 && length < RUN_PATH_SIZE &&
	    tkb_cache_root_make(out, NULL) == 0 &&
	    access(out, W_OK | X_OK) == 0)
		return true;
	length = snprintf(out, RUN_PATH_SIZE, "%s/tkbundle-%u/engines",
	                  is_set("TMPDIR") ? temporary : "/tmp",
	                  (unsigned)geteuid());
	return length > 0 && length < RUN_PATH_SIZE &&
	       tkb_cache_root_make(out, NULL) == 0 &&
	       access(out, W_OK | X_OK) == 0;
}

static void place_roots(struct run_plan *plan, const struct tkb_engine *engine,
                        const char *base, bool has_cache)
{
	for (size_t i = 0; i < tkb_engine_root_count(engine); i++) {
		const struct tkb_engine_root *root = tkb_engine_root(engine, i);
		char path[RUN_PATH_SIZE];

		if (root->variable[0] == '\0' || is_set(root->variable) ||
		    (root->is_kernels && has_cache))
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", base, root->name) <
		    (int)sizeof(path))
			set(plan, root->variable, path);
	}
}

/* Does `path` exist below the home folder? */
static bool is_at_home(const char *path)
{
	char full[RUN_PATH_SIZE];

	return path[0] != '\0' && is_set("HOME") &&
	       snprintf(full, sizeof(full), "%s/%s", getenv("HOME"), path) <
	               (int)sizeof(full) &&
	       access(full, F_OK) == 0;
}

static void make_settings(struct run_plan *plan,
                          const struct tkb_engine *engine)
{
	for (size_t i = 0; i < tkb_engine_setting_count(engine); i++) {
		const struct tkb_engine_setting *setting =
			tkb_engine_setting(engine, i);

		if (!is_set(setting->variable) && !is_at_home(setting->unless))
			set(plan, setting->variable, setting->value);
	}
}

static bool add_engine(struct run_plan *plan, const char *name)
{
	const size_t room = sizeof(plan->engines) - plan->engines_size;

	if (strlen(name) + 1 > room)
		return false;
	(void)memcpy(plan->engines + plan->engines_size, name,
	             strlen(name) + 1);
	plan->engines_size += strlen(name) + 1;
	return true;
}

/* Is `name` a profile whose command this is? */
static bool is_engine_of(const char *name, const struct arguments *args)
{
	struct tkb_engine *engine = NULL;
	bool is_it;

	if (trees_open_engine(name, &engine, NULL) != 0)
		return false;
	is_it = tkb_engine_is_command(engine, args->operands.items);
	tkb_engine_close(engine);
	return is_it;
}

/* Without --engine, the command tells. */
static void recognize(const struct arguments *args, struct run_plan *plan)
{
	TKB_AUTO(trees_names_release) struct trees_names names = { .count = 0 };

	trees_list_engines(&names);
	for (size_t i = 0; i < names.count; i++) {
		if (is_engine_of(names.items[i], args)) {
			(void)add_engine(plan, names.items[i]);
			return;
		}
	}
}

static bool prepare_engine(struct run_plan *plan, const char *name,
                           const char *base, bool has_cache)
{
	struct tkb_engine *engine = NULL;
	struct tkb_error err = { .status = 0 };

	if (trees_open_engine(name, &engine, &err) != 0)
		return fail(plan, &err);
	place_roots(plan, engine, base, has_cache);
	make_settings(plan, engine);
	tkb_engine_close(engine);
	return true;
}

/* Which folders are to be watched, as the verbs will find them. */
static bool list_trees(const struct arguments *args, struct run_plan *plan)
{
	TKB_AUTO(trees_release) struct trees trees = { .engines = NULL };
	struct arguments wanted = { .trees = args->trees };
	const char *names[RUN_ENGINES_LIMIT];
	struct tkb_error err = { .status = 0 };

	for (size_t at = 0; at < plan->engines_size &&
	                    wanted.engines.count < RUN_ENGINES_LIMIT;
	     at += strlen(plan->engines + at) + 1)
		names[wanted.engines.count++] = plan->engines + at;
	wanted.engines.items = names;
	if (trees_choose(&wanted, &trees, &err) != 0)
		return fail(plan, &err);
	for (size_t i = 0;
	     i < trees.count && plan->tree_count < RUN_TREES_LIMIT; i++)
		(void)snprintf(plan->trees[plan->tree_count++],
		               sizeof(plan->trees[0]), "%s",
		               trees.items[i].path);
	return true;
}

bool run_engine_plan(const struct arguments *args, struct run_plan *plan)
{
	char base[RUN_PATH_SIZE];

	for (size_t i = 0; i < args->engines.count; i++) {
		if (!add_engine(plan, args->engines.items[i])) {
			(void)snprintf(plan->message, sizeof(plan->message),
			               "too many engines");
			return false;
		}
	}
	if (args->engines.count == 0)
		recognize(args, plan);
	if (plan->engines_size != 0 && !make_base(base)) {
		(void)snprintf(plan->message, sizeof(plan->message),
		               "there is no folder for the caches");
		return false;
	}
	for (size_t at = 0; at < plan->engines_size;
	     at += strlen(plan->engines + at) + 1) {
		if (!prepare_engine(plan, plan->engines + at, base,
		                    args->cache != NULL))
			return false;
	}
	return list_trees(args, plan);
}
