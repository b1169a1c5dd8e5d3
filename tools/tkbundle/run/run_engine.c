/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_engine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tkbundle/emit.h>

#include "config/engine_ref.h"
#include "config/engine_version.h"
#include "config/python.h"

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
	const char *const temporary = getenv("TMPDIR");
	int length;

	if (trees_placed_folder(out, RUN_PATH_SIZE) &&
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

static const char *variable(void *self, const char *name)
{
	(void)self;
	return getenv(name);
}

/*
 * Is something in the place where the engine looks by itself? Then it stays there:
 * a cache that is warm already must not be left behind.
 */
static bool find_old(const struct tkb_engine *engine, size_t index,
                     char out[RUN_PATH_SIZE])
{
	char *path = NULL;
	bool is_old;

	if (tkb_engine_locate(engine, index, variable, NULL, &path, NULL) != 0)
		return false;
	is_old = path[0] == '/' && strlen(path) < RUN_PATH_SIZE &&
	         access(path, R_OK | W_OK | X_OK) == 0;
	if (is_old)
		(void)memcpy(out, path, strlen(path) + 1);
	free(path);
	return is_old;
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
		if (find_old(engine, i, path) ||
		    snprintf(path, sizeof(path), "%s/%s", base, root->name) <
		            (int)sizeof(path))
			set(plan, root->variable, path);
	}
}

/*
 * The ptxas that is part of Triton, of the Python that the command begins with or
 * that is found first. Empty where none is.
 */
static void find_ptxas(const struct arguments *args, char out[RUN_PATH_SIZE])
{
	static const char question[] =
		"import importlib.util as u, os; "
		"p = os.path.join(u.find_spec('triton')."
		"submodule_search_locations[0], 'backends/nvidia/bin/ptxas'); "
		"print(p if os.access(p, os.X_OK) else '')";
	const char *const none[] = { NULL };

	(void)python_ask(python_of(args->operands.items[0]), question, none,
	                 out, RUN_PATH_SIZE);
	out[strcspn(out, "\n")] = '\0';
}

/* Workers of Inductor and their parent would use two, and so ask for two keys. */
static void set_ptxas(const struct arguments *args, struct run_plan *plan)
{
	static const char name[] = "TRITON_PTXAS_PATH";
	char path[RUN_PATH_SIZE];

	if (is_set(name))
		return;
	find_ptxas(args, path);
	if (path[0] != '\0')
		set(plan, name, path);
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

/*
 * Without a remote, a folder of this machine; without a ref, one made of engine,
 * its version, model and GPU.
 */
static void make_defaults(const struct arguments *args, struct run_plan *plan,
                          const struct tkb_engine *engine, const char *base,
                          const char *version)
{
	const struct engine_ref_facts facts = {
		.engine = tkb_engine_name(engine),
		.version = version,
		.model = tkb_engine_model(engine, args->operands.items),
	};
	char text[RUN_PATH_SIZE];

	if (!plan->has_remote && args->remote == NULL &&
	    snprintf(text, sizeof(text), "%s/remote", base) < (int)sizeof(text))
		set(plan, "TKBUNDLE_REMOTE", text);
	if (plan->has_ref)
		return;
	engine_ref_make(plan->engine_ref, &facts, text, sizeof(text));
	set(plan, "TKBUNDLE_REF", text);
	plan->has_ref = true;
}

static void add_note(struct run_plan *plan, const char *note)
{
	const size_t size = strlen(note) + 1;

	if (size > sizeof(plan->notes) - plan->notes_size)
		return;
	(void)memcpy(plan->notes + plan->notes_size, note, size);
	plan->notes_size += size;
}

void run_engine_say(const struct run *run)
{
	const struct run_plan *const plan = &run->shared->plan;

	for (size_t at = 0; at < plan->notes_size;
	     at += strlen(plan->notes + at) + 1)
		cli_say(run->cli, "%s", plan->notes + at);
	for (size_t at = 0; at < plan->variables_size;
	     at += strlen(plan->variables + at) + 1)
		cli_say(run->cli, "set %s", plan->variables + at);
}

static bool prepare_engine(const struct arguments *args, struct run_plan *plan,
                           const char *name, const char *base)
{
	struct tkb_engine *engine = NULL;
	struct tkb_error err = { .status = 0 };
	char version[ENGINE_VERSION_SIZE];
	char note[ENGINE_NOTE_SIZE];

	if (trees_open_engine(name, &engine, &err) != 0)
		return fail(plan, &err);
	engine_version_find(engine, args->operands.items[0], version);
	engine_version_note(engine, version, note);
	add_note(plan, note);
	place_roots(plan, engine, base, args->cache != NULL);
	make_settings(plan, engine);
	if (tkb_engine_needs_ptxas(engine))
		set_ptxas(args, plan);
	make_defaults(args, plan, engine, base, version);
	tkb_engine_close(engine);
	return true;
}

int run_engine_trees(const struct arguments *args, const struct run_plan *plan,
                     struct trees *out, struct tkb_error *err)
{
	struct arguments wanted = { .trees = args->trees };
	const char *names[RUN_ENGINES_LIMIT];

	for (size_t at = 0; at < plan->engines_size &&
	                    wanted.engines.count < RUN_ENGINES_LIMIT;
	     at += strlen(plan->engines + at) + 1)
		names[wanted.engines.count++] = plan->engines + at;
	wanted.engines.items = names;
	return trees_choose(&wanted, out, err);
}

/* Are there trees, and do they make sense? */
static bool check_trees(const struct arguments *args, struct run_plan *plan)
{
	TKB_AUTO(trees_release) struct trees trees = { .engines = NULL };
	struct tkb_error err = { .status = 0 };

	if (run_engine_trees(args, plan, &trees, &err) != 0)
		return fail(plan, &err);
	plan->has_trees = trees.count != 0;
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
		if (!prepare_engine(args, plan, plan->engines + at, base))
			return false;
	}
	return check_trees(args, plan);
}
