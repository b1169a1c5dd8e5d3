/* SPDX-License-Identifier: Apache-2.0 */
#include "config/engine_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tkbundle/emit.h>

#include "cli/cli.h"
#include "cli/fd.h"
#include "config/engine_version.h"
#include "config/python.h"
#include "config/trees.h"

static const char user_has_set_it[] = "it is set";

/* Is `path` a folder that can be written, or could it be made? */
static bool can_be_made(const char *path)
{
	char part[ENGINE_PATH_SIZE];
	char *slash;

	(void)snprintf(part, sizeof(part), "%s", path);
	while (access(part, F_OK) != 0) {
		slash = strrchr(part, '/');
		if (errno != ENOENT || slash == NULL || slash == part)
			return false;
		*slash = '\0';
	}
	return access(part, W_OK | X_OK) == 0;
}

static bool is_usable(bool is_made, const char *path)
{
	if (!is_made)
		return can_be_made(path);
	return tkb_cache_root_make(path, NULL) == 0 &&
	       access(path, W_OK | X_OK) == 0;
}

/*
 * A folder for this user alone: where all can write, another user may have made
 * one of this name, to replace what is cached in it.
 */
static bool is_own(bool is_made, const char *path)
{
	if (is_made ? mkdir(path, 0700) == 0 : access(path, F_OK) != 0)
		return true;
	return folder_is_own(path);
}

bool engine_settings_base(bool is_made, char out[ENGINE_PATH_SIZE])
{
	char own[ENGINE_PATH_SIZE];

	if (trees_placed_folder(out, ENGINE_PATH_SIZE) &&
	    is_usable(is_made, out))
		return true;
	return trees_temporary_folder(own, sizeof(own)) &&
	       is_own(is_made, own) &&
	       snprintf(out, ENGINE_PATH_SIZE, "%s/engines", own) <
	               ENGINE_PATH_SIZE &&
	       is_usable(is_made, out);
}

/*
 * Is there a cache at the engine's own default place? Then it is used there: a
 * warm cache must not be abandoned.
 */
static bool find_old(const struct tkb_engine *engine, size_t index,
                     char out[ENGINE_PATH_SIZE])
{
	char *path = NULL;
	bool is_old;

	if (tkb_engine_locate(engine, index, trees_variable, NULL, &path,
	                      NULL) != 0)
		return false;
	is_old = path[0] == '/' && strlen(path) < ENGINE_PATH_SIZE &&
	         access(path, R_OK | W_OK | X_OK) == 0 &&
	         trees_is_default_used(engine, index, path);
	if (is_old)
		(void)memcpy(out, path, strlen(path) + 1);
	free(path);
	return is_old;
}

static void place_root(const struct tkb_engine *engine, size_t index,
                       bool has_cache, const char *base,
                       const struct engine_settings_visitor *visitor)
{
	const struct tkb_engine_root *root = tkb_engine_root(engine, index);
	const bool is_based = root->base[0] != '\0';
	const char *const variable = is_based ? root->base : root->variable;
	char path[ENGINE_PATH_SIZE];
	bool is_shared;

	if (variable[0] == '\0')
		return;
	if (cli_variable(variable) != NULL) {
		visitor->visit(visitor->self, variable, NULL, user_has_set_it);
	} else if (root->is_kernels && has_cache) {
		visitor->visit(visitor->self, variable, NULL,
		               "--cache says where it is");
	} else if (find_old(engine, index, path)) {
		is_shared = trees_is_shared(engine, index, path);
		visitor->visit(
			visitor->self, variable,
			is_shared || is_based ? NULL : path,
			is_shared ? "Inductor has its kernels in its own folder"
				  : "the engine's own place, which is there");
	} else if (folder_join(path, sizeof(path), base, root->name)) {
		visitor->visit(visitor->self, variable, path,
		               "a place of run's");
	}
}

/*
 * Does `path` exist below the home folder? XDG's variables move what begins with
 * .config and .cache. `out` is how to call it.
 */
static bool is_at_home(const char *path, char out[ENGINE_PATH_SIZE])
{
	static const struct {
		const char *folder;
		const char *variable;
	} moved[] = { { ".config/", "XDG_CONFIG_HOME" },
		      { ".cache/", "XDG_CACHE_HOME" } };
	const char *folder = cli_variable("HOME");
	const char *below = path;
	char full[ENGINE_PATH_SIZE];

	for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
		const size_t length = strlen(moved[i].folder);

		if (strncmp(path, moved[i].folder, length) == 0 &&
		    cli_variable(moved[i].variable) != NULL) {
			folder = cli_variable(moved[i].variable);
			below = path + length;
		}
	}
	if (path[0] == '\0' || folder == NULL ||
	    !folder_join(full, sizeof(full), folder, below) ||
	    access(full, F_OK) != 0)
		return false;
	if (below == path)
		(void)snprintf(out, ENGINE_PATH_SIZE, "~/%.4000s", path);
	else
		(void)memcpy(out, full, strlen(full) + 1);
	return true;
}

/*
 * Set a variable that is part of keys. If there are graphs at the default
 * place, they were compiled without it, and would be compiled again. Only other
 * machines would profit from that, so without a remote the variable is not set.
 */
static void set_for_keys(const char *name, const char *value, const char *why,
                         bool has_old,
                         const struct engine_settings_visitor *visitor)
{
	if (has_old)
		visitor->visit(visitor->self, name, NULL,
		               "what is cached here was made without it, and "
		               "no remote is named");
	else
		visitor->visit(visitor->self, name, value, why);
}

static void make_setting(const struct tkb_engine_setting *setting, bool has_old,
                         const struct engine_settings_visitor *visitor)
{
	char there[ENGINE_PATH_SIZE];
	char why[ENGINE_PATH_SIZE];

	if (cli_variable(setting->variable) != NULL) {
		visitor->visit(visitor->self, setting->variable, NULL,
		               user_has_set_it);
	} else if (is_at_home(setting->unless, there)) {
		(void)snprintf(why, sizeof(why), "%.4000s is there", there);
		visitor->visit(visitor->self, setting->variable, NULL, why);
	} else {
		set_for_keys(setting->variable, setting->value,
		             "equal on all machines", has_old, visitor);
	}
}

/*
 * Name one ptxas. Otherwise Inductor's workers and their parent find different
 * ones, and compute different keys.
 */
static void set_ptxas(const char *command, const char *engine, bool has_old,
                      const struct engine_settings_visitor *visitor)
{
	static const char name[] = "TRITON_PTXAS_PATH";
	char python[PYTHON_PATH_SIZE];
	char path[ENGINE_PATH_SIZE] = "";
	char why[ENGINE_PATH_SIZE] = "no Python is found";

	if (cli_variable(name) != NULL) {
		visitor->visit(visitor->self, name, NULL, user_has_set_it);
		return;
	}
	if (python_find(command, engine, python)) {
		engine_file_find(ENGINE_FILE_PTXAS, command, engine, path,
		                 sizeof(path));
		(void)snprintf(why, sizeof(why), "%s%.4000s",
		               path[0] != '\0'
		                       ? "Triton's own, for all processes, by "
		                       : "no Triton with a ptxas is known to ",
		               python);
	}
	if (path[0] != '\0')
		set_for_keys(name, path, why, has_old, visitor);
	else
		visitor->visit(visitor->self, name, NULL, why);
}

/* Are there graphs at the engine's own default place? */
static bool has_old_graphs(const struct tkb_engine *engine)
{
	char path[ENGINE_PATH_SIZE];

	for (size_t i = 0; i < tkb_engine_root_count(engine); i++) {
		if (!tkb_engine_root(engine, i)->is_kernels &&
		    find_old(engine, i, path))
			return true;
	}
	return false;
}

void engine_settings_list(const struct tkb_engine *engine,
                          const struct engine_settings_case *where,
                          const struct engine_settings_visitor *visitor)
{
	const bool has_old = !where->has_remote && has_old_graphs(engine);

	for (size_t i = 0; i < tkb_engine_root_count(engine); i++)
		place_root(engine, i, where->args->cache != NULL, where->base,
		           visitor);
	for (size_t i = 0; i < tkb_engine_setting_count(engine); i++)
		make_setting(tkb_engine_setting(engine, i), has_old, visitor);
	if (tkb_engine_needs_ptxas(engine))
		set_ptxas(args_operand(where->args, 0), tkb_engine_name(engine),
		          has_old, visitor);
}
