/* SPDX-License-Identifier: Apache-2.0 */
#include "config/profiles.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/fd.h"
#include "config/builtin_profiles.h"

enum {
	PATH_SIZE = 4096,
	FOLDER_COUNT = 3
};

/* The folder of the program; false if that is unknown. */
static bool own_folder(char out[PATH_SIZE])
{
	const ssize_t size = readlink("/proc/self/exe", out, PATH_SIZE - 1);
	char *slash;

	if (size <= 0)
		return false;
	out[size] = '\0';
	slash = strrchr(out, '/');
	if (slash == NULL)
		return false;
	*slash = '\0';
	return true;
}

/* Folder `index` of those that profiles may be in; false: there is none. */
static bool format_folder(size_t index, char out[PATH_SIZE])
{
	const char *folder = getenv("TKBUNDLE_ENGINES");
	const char *settings = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	char own[PATH_SIZE];
	int length = -1;

	switch (index) {
	case 0:
		if (folder != NULL && folder[0] != '\0')
			length = snprintf(out, PATH_SIZE, "%s", folder);
		break;
	case 1:
		if (settings != NULL && settings[0] != '\0')
			length = snprintf(out, PATH_SIZE, "%s/tkbundle/engines",
			                  settings);
		else if (home != NULL)
			length = snprintf(out, PATH_SIZE,
			                  "%s/.config/tkbundle/engines", home);
		break;
	default:
		if (own_folder(own))
			length = snprintf(out, PATH_SIZE,
			                  "%s/../share/tkbundle/engines", own);
		break;
	}
	return length > 0 && length < PATH_SIZE;
}

void profile_names_release(struct profile_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
}

void profile_names_add(struct profile_names *names, const char *name,
                       size_t length)
{
	char **items;

	for (size_t i = 0; i < names->count; i++) {
		if (strlen(names->items[i]) == length &&
		    strncmp(names->items[i], name, length) == 0)
			return;
	}
	items = table_grow(names->items, names->count, sizeof(*items));
	if (items == NULL)
		return;
	names->items = items;
	items[names->count] = strndup(name, length);
	if (items[names->count] != NULL)
		names->count++;
}

int profile_names_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void profiles_list(struct profile_names *out)
{
	static const char ending[] = ".json";
	char path[PATH_SIZE];

	for (size_t i = 0; i < FOLDER_COUNT; i++) {
		TKB_AUTO(folder_close)
		DIR *folder = format_folder(i, path) ? opendir(path) : NULL;
		const struct dirent *item;

		while (folder != NULL && (item = readdir(folder)) != NULL) {
			const size_t length = strlen(item->d_name);

			if (length > strlen(ending) &&
			    strcmp(item->d_name + length - strlen(ending),
			           ending) == 0)
				profile_names_add(out, item->d_name,
				                  length - strlen(ending));
		}
	}
	for (const struct builtin_profile *one = builtin_profiles;
	     one->name != NULL; one++)
		profile_names_add(out, one->name, strlen(one->name));
}

/* The file of the profile called `name`; false: no folder has one. */
static bool find_profile_file(const char *name, char out[PROFILE_PATH_SIZE])
{
	char folder[PATH_SIZE];

	for (size_t i = 0; i < FOLDER_COUNT; i++) {
		if (format_folder(i, folder) &&
		    snprintf(out, PROFILE_PATH_SIZE, "%s/%s.json", folder,
		             name) < PROFILE_PATH_SIZE &&
		    access(out, F_OK) == 0)
			return true;
	}
	return false;
}

static int open_builtin(const char *name, struct tkb_engine **out,
                        struct tkb_error *err)
{
	const struct builtin_profile *one = builtin_profiles;

	while (one->name != NULL && strcmp(one->name, name) != 0)
		one++;
	if (one->name != NULL)
		return tkb_engine_open_memory(one->text, name, out, err);
	return cli_error(err, TKB_ERR_INVALID,
	                 "there is no profile of an engine '%.100s': none is "
	                 "built in, and neither TKBUNDLE_ENGINES nor "
	                 "~/.config/tkbundle/engines has %.100s.json, nor "
	                 "../share/tkbundle/engines beside the program",
	                 name, name);
}

int profile_open(const char *name, char path[PROFILE_PATH_SIZE],
                 struct tkb_engine **out, struct tkb_error *err)
{
	char file[PROFILE_PATH_SIZE];
	bool is_file;

	if (strchr(name, '/') != NULL || name[0] == '\0' || name[0] == '.')
		return cli_error(err, TKB_ERR_INVALID,
		                 "'%.200s' is not the name of an engine", name);
	is_file = find_profile_file(name, file);
	if (path != NULL)
		(void)snprintf(path, PROFILE_PATH_SIZE, "%s",
		               is_file ? file : "");
	return is_file ? tkb_engine_open(file, out, err)
	               : open_builtin(name, out, err);
}
