/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_root.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tkbundle/emit.h>

#include "cli/fd.h"
#include "config/config.h"
#include "config/root.h"
#include "image/image_copy.h"
#include "image/image_roots.h"
#include "run/run_engine.h"
#include "run/run_links.h"
#include "run/run_ready.h"
#include "run/run_scan.h"

void run_root_assume(const struct arguments *args, struct run_plan *out)
{
	out->wait_ms = args->wait.is_set ? args->wait.value : RUN_WAIT_MS;
	out->deadline_ms =
		args->deadline.is_set ? args->deadline.value : RUN_DEADLINE_MS;
	out->push = args->push.is_set ? (enum run_push)args->push.value
	                              : RUN_PUSH_ALWAYS;
	out->quiet_ms = args->quiet.is_set ? args->quiet.value : RUN_QUIET_MS;
}

/* The pull reports errors of the configuration. */
static void configure(const struct arguments *args, struct run_plan *out)
{
	TKB_AUTO(config_release) struct config config = { .fault_count = 0 };
	const struct config_value *const values = config.values;
	struct tkb_error err = { .status = 0 };

	if (config_load(args, &config, &err) != 0)
		err.status = 0; /* valid values are used nevertheless */
	if (values[CONFIG_WAIT].text != NULL)
		out->wait_ms = values[CONFIG_WAIT].number;
	if (values[CONFIG_DEADLINE].text != NULL)
		out->deadline_ms = values[CONFIG_DEADLINE].number;
	if (values[CONFIG_PUSH].text != NULL)
		out->push = (enum run_push)values[CONFIG_PUSH].number;
	if (values[CONFIG_QUIET].text != NULL)
		out->quiet_ms = values[CONFIG_QUIET].number;
	run_ready_plan(args, &config, out);
	out->has_remote = values[CONFIG_REMOTE].text != NULL;
	if (values[CONFIG_ENGINE_REF].text != NULL)
		(void)snprintf(out->engine_ref, sizeof(out->engine_ref), "%s",
		               values[CONFIG_ENGINE_REF].text);
	out->has_ref = args->ref != NULL || values[CONFIG_REF].text != NULL;
}

/*
 * Make `path` absolute, without resolving links, and remove slashes and "/."
 * from its end, so that a suffix can be appended.
 */
static bool make_absolute(const char *path, char out[RUN_PATH_SIZE])
{
	char here[RUN_PATH_SIZE];
	int length;

	if (path[0] == '/') {
		length = snprintf(out, RUN_PATH_SIZE, "%s", path);
	} else {
		if (getcwd(here, sizeof(here)) == NULL)
			return false;
		length = snprintf(out, RUN_PATH_SIZE, "%s/%s", here, path);
	}

	if (length <= 0 || length >= RUN_PATH_SIZE)
		return false;
	while (length > 1 &&
	       (out[length - 1] == '/' ||
	        (out[length - 1] == '.' && out[length - 2] == '/')))
		out[--length] = '\0';
	return true;
}

static bool choose_root(const struct arguments *args, struct run_plan *out)
{
	TKB_AUTO(root_release) struct root root = { .path = NULL };
	struct tkb_error err = { .status = 0 };
	const char *given = args->cache;

	if ((args->cache == NULL || out->is_image) && out->meant[0] != '\0')
		given = out->meant;
	if (root_choose(given, &root, &err) != 0) {
		(void)snprintf(out->message, sizeof(out->message), "%s",
		               err.message);
		return false;
	}

	out->is_inductor = root.is_inductor;
	if (make_absolute(root.path, out->meant))
		return true;
	(void)snprintf(out->message, sizeof(out->message),
	               "'%.400s' cannot be made absolute", root.path);
	return false;
}

static bool can_write(const char *path)
{
	return path_allows(path, W_OK | X_OK);
}

static void check_folder(void *self, const char *path)
{
	bool *const is_writable = self;

	*is_writable = *is_writable && can_write(path);
}

static bool is_usable(const struct run_plan *plan)
{
	bool is_writable = true;

	if (tkb_cache_root_make(plan->meant, NULL) != 0 ||
	    !can_write(plan->meant))
		return false;
	if (plan->is_inductor)
		run_scan_roots(plan->meant, true, check_folder, &is_writable);
	return is_writable;
}

/* Nobody else can write in it: others could replace kernels. */
static bool use_folder(const char *path)
{
	return (mkdir(path, 0700) == 0 || errno == EEXIST) &&
	       folder_is_own(path);
}

/* The FNV-1a hash of a path. */
static uint64_t hash_path(const char *path)
{
	uint64_t number = 0xcbf29ce484222325;

	for (; *path != '\0'; path++)
		number = (number ^ (unsigned char)*path) * 0x100000001b3;
	return number;
}

static bool find_other_root(const char *meant, bool is_beside_allowed,
                            char out[RUN_PATH_SIZE])
{
	const char *const temporary = getenv("TMPDIR");
	const char *const folders[] = { temporary != NULL && temporary[0] == '/'
		                                ? temporary
		                                : "/tmp",
		                        "/tmp" };
	const unsigned user = (unsigned)geteuid();

	(void)snprintf(out, RUN_PATH_SIZE, "%.4000s.tkbundle-%u", meant, user);
	if (is_beside_allowed && use_folder(out))
		return true;
	for (size_t i = 0; i < TKB_COUNT_OF(folders); i++) {
		(void)snprintf(out, RUN_PATH_SIZE,
		               "%.4000s/tkbundle-%u-%016" PRIx64, folders[i],
		               user, hash_path(meant));
		if (use_folder(out))
			return true;
	}

	return false;
}

static void report_other_root(struct run_plan *plan, const char *why)
{
	(void)snprintf(plan->message, sizeof(plan->message),
	               plan->has_root ? "'%.200s' %s; the command has '%.200s'"
	                              : "'%.200s' %s",
	               plan->meant, why, plan->root);
}

static void mean_kernels(void *self, const char *path)
{
	struct run_plan *const plan = self;

	(void)snprintf(plan->meant, sizeof(plan->meant), "%s", path);
}

static void add_variable(void *self, const char *name, const char *path)
{
	run_engine_add(self, name, path);
}

static bool is_inductor(void *self, const char *root)
{
	(void)self;
	return run_scan_is_inductor(root);
}

static void link_inductor(void *self, const char *root, const char *own)
{
	(void)self;
	run_links_make(root, own, true);
}

/*
 * Keep the copies of each image apart: another one at the same path may have
 * other files of the same names.
 */
static bool add_folder(char path[RUN_PATH_SIZE], const char *name)
{
	const size_t length = strlen(path);

	if (name[0] == '\0')
		return true;
	return snprintf(path + length, RUN_PATH_SIZE - length, "/%s", name) <
	               (int)(RUN_PATH_SIZE - length) &&
	       use_folder(path);
}

/* Use the folder of --cache as an image, if one is mounted there. */
static bool plan_image(const struct arguments *args, struct run_plan *plan)
{
	char place[RUN_PATH_SIZE];
	char own[RUN_PATH_SIZE];
	char id[IMAGE_ID_SIZE];
	const struct image_copy copy = { place,        own,
		                         plan,         mean_kernels,
		                         add_variable, is_inductor,
		                         link_inductor };
	struct tkb_error err = { .status = 0 };

	/* "/" has no folder beside it. */
	if (args->cache == NULL || args->cache[0] == '\0' ||
	    !make_absolute(args->cache, place) || place[1] == '\0')
		return true;
	/*
	 * Name the place before it is touched: if it does not answer, another
	 * one is used.
	 */
	(void)snprintf(plan->meant, sizeof(plan->meant), "%s", place);
	if (!image_roots_are_at(place, id))
		return true;
	plan->is_image = true;
	if (!find_other_root(place, true, own) || !add_folder(own, id)) {
		(void)snprintf(plan->message, sizeof(plan->message),
		               "there is no place beside the image at '%.300s' "
		               "for what is compiled",
		               place);
		return false;
	}
	/* Even if it has no kernels, compiled ones go here. */
	(void)snprintf(plan->meant, sizeof(plan->meant),
	               "%.4000s/io." IMAGE_KERNELS ".cache", own);
	if (image_copy(&copy, &err) == 0)
		return true;
	(void)snprintf(plan->message, sizeof(plan->message), "%s", err.message);
	return false;
}

void run_root_plan(void *self)
{
	struct run *const run = self;
	struct run_plan *const plan = &run->shared->plan;

	configure(run->args, plan);
	if (!plan_image(run->args, plan) || !run_engine_plan(run->args, plan) ||
	    !choose_root(run->args, plan)) {
		plan->is_made = true;
		return;
	}

	plan->is_inductor =
		plan->is_inductor || run_scan_is_inductor(plan->meant);
	if (!plan->is_image && is_usable(plan)) {
		(void)snprintf(plan->root, sizeof(plan->root), "%s",
		               plan->meant);
		plan->has_root = true;
	} else {
		plan->has_root = find_other_root(plan->meant, true, plan->root);
		plan->is_other = plan->has_root;
		if (!plan->is_image || !plan->has_root)
			report_other_root(plan, "cannot be written");
		if (plan->has_root)
			run_links_make(plan->meant, plan->root,
			               plan->is_inductor);
	}

	plan->is_made = true;
}

void run_root_flee(void *self)
{
	struct run *const run = self;
	struct run_plan *const plan = &run->shared->plan;

	if (plan->meant[0] != '\0') {
		plan->has_root =
			find_other_root(plan->meant, false, plan->root);
		plan->is_other = plan->has_root;
		report_other_root(plan, "does not answer");
	} else if (choose_root(run->args, plan)) {
		/* The child ended before it reached the root. */
		(void)memcpy(plan->root, plan->meant, sizeof(plan->root));
		plan->has_root = true;
		(void)snprintf(plan->message, sizeof(plan->message),
		               "the configuration does not answer");
	}
	plan->is_made = true;
}
