/* SPDX-License-Identifier: Apache-2.0 */
#include "config/root.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/text.h"

#define INDUCTOR_NAME "torchinductor"

/* The length of `path` without the slashes at its end. */
static size_t trimmed_length(const char *path)
{
	size_t length = strlen(path);

	while (length > 1 && path[length - 1] == '/')
		length--;
	return length;
}

static bool is_inductor(const char *path)
{
	const char *inductor = cli_variable("TORCHINDUCTOR_CACHE_DIR");
	const size_t length = trimmed_length(path);
	size_t name = length;

	if (inductor != NULL && trimmed_length(inductor) == length &&
	    strncmp(inductor, path, length) == 0)
		return true;

	while (name > 0 && path[name - 1] != '/')
		name--;
	return strncmp(path + name, INDUCTOR_NAME, strlen(INDUCTOR_NAME)) == 0;
}

/*
 * The folder that contains Triton's default cache; NULL if there is no home
 * folder.
 */
static const char *default_home(void)
{
	const char *home = cli_variable("TRITON_HOME");
	const struct passwd *user;

	if (home == NULL)
		home = cli_variable("HOME");
	if (home != NULL)
		return home;
	user = getpwuid(getuid());
	return user != NULL ? user->pw_dir : NULL;
}

bool root_has_default(void)
{
	return cli_variable("TRITON_CACHE_DIR") != NULL ||
	       cli_variable("TORCHINDUCTOR_CACHE_DIR") != NULL ||
	       default_home() != NULL;
}

/* Triton's own default. `*out` is left alone if there is no home folder. */
static int make_default(char **out, struct tkb_error *err)
{
	const char *const home = default_home();

	if (home == NULL)
		return cli_error(err, TKB_ERR_INVALID,
		                 "no cache root is named, and there is no "
		                 "home folder that could hold one");

	*out = text_format("%s/.triton/cache", home);
	return *out != NULL ? 0 : cli_error_nomem(err);
}

int root_choose(const char *given, struct root *out, struct tkb_error *err)
{
	struct root root = { .is_given = given != NULL };
	int rc;

	if (given == NULL)
		given = cli_variable("TRITON_CACHE_DIR");
	if (given == NULL)
		given = cli_variable("TORCHINDUCTOR_CACHE_DIR");

	if (given != NULL) {
		root.path = strdup(given);
		if (root.path == NULL)
			return cli_error_nomem(err);
		root.is_inductor = is_inductor(given);
	} else {
		rc = make_default(&root.path, err);
		if (rc < 0)
			return rc;
	}

	*out = root;
	return 0;
}

const char *root_origin(const struct root *root)
{
	if (root->is_given)
		return "the command line";
	if (cli_variable("TRITON_CACHE_DIR") != NULL)
		return "TRITON_CACHE_DIR";
	if (cli_variable("TORCHINDUCTOR_CACHE_DIR") != NULL)
		return "TORCHINDUCTOR_CACHE_DIR";
	return cli_variable("TRITON_HOME") != NULL ? "default, by TRITON_HOME"
	                                           : "default, by HOME";
}

int root_choose_all(const struct arguments *args, const char *given,
                    struct root *out, struct tkb_error *err)
{
	struct trees trees = { .engines = NULL };
	const bool is_given = given != NULL;
	int rc;

	rc = trees_choose(args, &trees, err);
	if (rc == 0 && given == NULL)
		given = trees.kernels;
	if (rc == 0 && (given != NULL || !trees.has_no_kernels))
		rc = root_choose(given, out, err);
	out->is_given = is_given;
	out->trees = trees;
	return rc;
}

void root_say_others(const struct cli *cli, const struct root *root)
{
	const char *const others = root->trees.other_kernels;

	if (others == NULL || root->path == NULL ||
	    strcmp(root->path, others) == 0)
		return;
	cli_say(cli,
	        "the kernels in '%.500s' are not taken: several engines have "
	        "one root of kernels, here '%.500s'",
	        others, root->path);
}

const char *root_name(const struct root *root)
{
	if (root->path != NULL)
		return root->path;
	return root->trees.count == 0 ? "" : root->trees.items[0].path;
}

const char *root_layout_words(const struct root *root, bool is_inductor)
{
	if (root->path == NULL)
		return "";
	return is_inductor ? " (Inductor)" : " (Triton)";
}

void root_where(const struct root *root, char *out, size_t size)
{
	size_t length = 0;

	out[0] = '\0';
	for (size_t i = 0; i < root->trees.engine_count && length < size; i++) {
		(void)snprintf(out + length, size - length, " --engine %s",
		               tkb_engine_name(root->trees.engines[i]));
		length = strlen(out);
	}
	if (length < size &&
	    (root->is_given || root->trees.engine_count == 0) &&
	    root->path != NULL)
		(void)snprintf(out + length, size - length, " %s", root->path);
}

void root_release(struct root *root)
{
	free(root->path);
	trees_release(&root->trees);
}
