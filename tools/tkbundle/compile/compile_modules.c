/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compile_modules.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "compile/compile_input.h"
#include "cli/cli.h"

void compile_modules_release(struct compile_modules *modules)
{
	for (size_t i = 0; i < modules->count; i++)
		free(modules->paths[i]);
	free(modules->paths);
}

/*
 * Skip a module that calls kernels: it only contains them as texts, and each
 * also has a module of its own.
 */
static bool has_kernel(const char *text)
{
	return strstr(text, "@triton_heuristics.") != NULL &&
	       strstr(text, "AsyncCompile") == NULL;
}

/* Takes ownership of `path`. */
static int append_module(struct compile_modules *modules, char *path,
                         struct tkb_error *err)
{
	struct tkb_bytes text = { NULL, 0 };
	int rc = compile_input_file(path, &text, err);
	char **grown;

	if (rc == 0 && !has_kernel(text.data))
		rc = TKB_MISS;
	free((void *)(uintptr_t)text.data);
	if (rc != 0) {
		free(path);
		return rc == TKB_MISS ? 0 : rc;
	}
	grown = table_grow(modules->paths, modules->count, sizeof(*grown));
	if (grown == NULL) {
		free(path);
		return cli_error_nomem(err);
	}
	modules->paths = grown;
	modules->paths[modules->count++] = path;
	return 0;
}

static int add_modules_folder(struct compile_modules *modules,
                              const char *folder, int depth,
                              struct tkb_error *err);

static int add_folder_item(struct compile_modules *modules, const char *folder,
                           const struct dirent *entry, int depth,
                           struct tkb_error *err)
{
	char *path;
	int rc = 0;

	if (entry->d_name[0] == '.')
		return 0;
	path = text_format("%s/%s", folder, entry->d_name);
	if (path == NULL)
		return cli_error_nomem(err);
	if (text_ends_with(entry->d_name, ".py"))
		return append_module(modules, path, err);
	if (depth == 0)
		rc = add_modules_folder(modules, path, 1, err);
	free(path);
	return rc;
}

static int add_modules_folder(struct compile_modules *modules,
                              const char *folder, int depth,
                              struct tkb_error *err)
{
	struct dirent **names = NULL;
	const int count = scandir(folder, &names, NULL, alphasort);
	int rc = 0;

	if (count < 0 && errno == ENOTDIR && depth != 0)
		return 0;
	if (count < 0)
		return cli_error_errno(err, "read", folder);
	for (int i = 0; i < count; i++) {
		if (rc == 0)
			rc = add_folder_item(modules, folder, names[i], depth,
			                     err);
		free(names[i]);
	}
	free(names);
	return rc;
}

int compile_modules_list(const char *folder, struct compile_modules *out,
                         struct tkb_error *err)
{
	const int rc = add_modules_folder(out, folder, 0, err);

	if (rc != 0 || out->count != 0)
		return rc;
	return cli_error(err, TKB_MISS,
	                 "'%s' has no modules of Inductor's with kernels",
	                 folder);
}
