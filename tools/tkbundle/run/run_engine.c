/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_engine.h"

#include <stdlib.h>
#include <string.h>

#include "config/engine_ref.h"
#include "config/engine_settings.h"
#include "config/engine_version.h"
#include "config/profiles.h"
#include "config/python.h"

static bool fail_plan(struct run_plan *plan, const struct tkb_error *err)
{
	(void)snprintf(plan->message, sizeof(plan->message), "%s",
	               err->message);
	return false;
}

void run_engine_add(struct run_plan *plan, const char *name, const char *value)
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

const char *run_engine_variable(const struct run_plan *plan, const char *name)
{
	const size_t length = strlen(name);

	for (size_t at = 0; at < plan->variables_size;
	     at += strlen(plan->variables + at) + 1) {
		const char *const item = plan->variables + at;

		if (strncmp(item, name, length) == 0 && item[length] == '=')
			return item + length + 1;
	}
	return NULL;
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

/* Is `name` a profile that recognises this command? */
static bool is_engine_of(const char *name, const struct arguments *args)
{
	struct tkb_engine *engine = NULL;
	bool is_it;

	if (profile_open(name, NULL, &engine, NULL) != 0)
		return false;
	is_it = tkb_engine_is_command(engine, args->operands.items);
	tkb_engine_close(engine);
	return is_it;
}

/* Without --engine, find the engine by the command. */
static void recognize(const struct arguments *args, struct run_plan *plan)
{
	TKB_AUTO(profile_names_release)
	struct profile_names names = { .count = 0 };

	profiles_list(&names);
	for (size_t i = 0; i < names.count; i++) {
		if (is_engine_of(names.items[i], args)) {
			(void)add_engine(plan, names.items[i]);
			return;
		}
	}
}

/*
 * Set the default remote, a folder on this machine, and the default ref,
 * composed of engine, version, model and GPU.
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
	    run_engine_variable(plan, "TKBUNDLE_REMOTE") == NULL &&
	    snprintf(text, sizeof(text), "%s/remote", base) < (int)sizeof(text))
		run_engine_add(plan, "TKBUNDLE_REMOTE", text);
	if (plan->has_ref)
		return;
	engine_ref_make(plan->engine_ref, &facts, text, sizeof(text));
	run_engine_add(plan, "TKBUNDLE_REF", text);
	plan->has_ref = true;
}

/*
 * Variables that are not set are not shown here; `config --engine` says why.
 */
static void on_setting(void *self, const char *name, const char *value,
                       const char *why)
{
	(void)why;
	if (value != NULL)
		run_engine_add(self, name, value);
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

/* Set the Python that the plan, pull and push use to find packages. */
static void set_python(const struct arguments *args, struct run_plan *plan,
                       const struct tkb_engine *engine)
{
	static const char name[] = "TKBUNDLE_PYTHON";
	char python[PYTHON_PATH_SIZE];

	if (tkb_engine_external_count(engine) != 0 &&
	    cli_variable(name) == NULL &&
	    python_find(args->operands.items[0], tkb_engine_name(engine),
	                python))
		run_engine_add(plan, name, python);
}

static bool prepare_engine(const struct arguments *args, struct run_plan *plan,
                           const char *name, const char *base)
{
	struct tkb_engine *engine = NULL;
	struct tkb_error err = { .status = 0 };
	const struct engine_settings_visitor setter = { on_setting, plan };
	const struct engine_settings_case where = {
		.args = args,
		.base = base,
		.has_remote = plan->has_remote || args->remote != NULL,
	};
	char version[ENGINE_VERSION_SIZE];
	char note[ENGINE_NOTE_SIZE];

	if (profile_open(name, NULL, &engine, &err) != 0)
		return fail_plan(plan, &err);
	engine_version_find(engine, args->operands.items[0], version);
	engine_version_note(engine, version, note);
	add_note(plan, note);
	engine_settings_list(engine, &where, &setter);
	set_python(args, plan, engine);
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

/* Check the trees, and find where their engines keep kernels. */
static bool check_trees(const struct arguments *args, struct run_plan *plan)
{
	TKB_AUTO(trees_release) struct trees trees = { .engines = NULL };
	struct tkb_error err = { .status = 0 };

	if (run_engine_trees(args, plan, &trees, &err) != 0)
		return fail_plan(plan, &err);
	plan->has_trees = trees.count != 0;
	if (trees.kernels != NULL && !plan->is_image)
		(void)snprintf(plan->meant, sizeof(plan->meant), "%s",
		               trees.kernels);
	return true;
}

bool run_engine_plan(const struct arguments *args, struct run_plan *plan)
{
	char base[ENGINE_PATH_SIZE];

	for (size_t i = 0; i < args->engines.count; i++) {
		if (!add_engine(plan, args->engines.items[i])) {
			(void)snprintf(plan->message, sizeof(plan->message),
			               "too many engines");
			return false;
		}
	}
	if (args->engines.count == 0)
		recognize(args, plan);
	if (plan->engines_size != 0 && !engine_settings_base(true, base)) {
		(void)trees_temporary_folder(base, sizeof(base));
		(void)snprintf(plan->message, sizeof(plan->message),
		               "there is no folder for the caches: the home "
		               "folder cannot be written, and '%.200s' cannot "
		               "either, or is not this user's alone",
		               base);
		return false;
	}
	for (size_t at = 0; at < plan->engines_size;
	     at += strlen(plan->engines + at) + 1) {
		if (!prepare_engine(args, plan, plan->engines + at, base))
			return false;
	}
	return check_trees(args, plan);
}
