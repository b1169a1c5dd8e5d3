/* SPDX-License-Identifier: Apache-2.0 */
#include "config/engine_version.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/fd.h"
#include "cli/text.h"
#include "config/python.h"

enum {
	PATH_SIZE = 4096
};

/*
 * The folders of packages
 */

struct search {
	/* Searches a folder of packages, and fills `found`. */
	void (*look)(const struct search *search, const char *folder);
	const char *wanted; /* a package, or a file of a package */
	char *found;        /* empty until then */
	size_t found_size;
	char name[32]; /* "python3.11"; a shorter name matches all that begin
	                  with it */
};

/*
 * Are the names equal? '-', '_' and '.' count as equal, and so do small and
 * capital letters.
 */
static bool is_package_name(const char *text, const char *package)
{
	static const char separators[] = "-_.";

	for (; *package != '\0'; text++, package++) {
		if (*text == '\0')
			return false;
		if (strchr(separators, *package) != NULL
		            ? strchr(separators, *text) == NULL
		            : strncasecmp(text, package, 1) != 0)
			return false;
	}
	return true;
}

static void search_folder(const struct search *search, const char *folder)
{
	if (search->found[0] == '\0')
		search->look(search, folder);
}

/* Search the folders that a file such as `more.pth` names, as Python does. */
static void search_listed(const struct search *search, const char *folder,
                          const char *name)
{
	char path[2 * PATH_SIZE + 512];
	char line[PATH_SIZE];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] == '\0' || line[0] == '#' ||
		    strncmp(line, "import", strlen("import")) == 0)
			continue;
		(void)snprintf(path, sizeof(path), "%s%s%s",
		               line[0] == '/' ? "" : folder,
		               line[0] == '/' ? "" : "/", line);
		search_folder(search, path);
	}
	if (file != NULL)
		(void)fclose(file);
}

/* Search a folder of packages, and those that its .pth files name. */
static void search_packages(const struct search *search, const char *folder)
{
	TKB_AUTO(folder_close) DIR *items = NULL;
	const struct dirent *item;

	search_folder(search, folder);
	items = search->found[0] == '\0' ? opendir(folder) : NULL;
	while (items != NULL && (item = readdir(items)) != NULL) {
		if (text_ends_with(item->d_name, ".pth"))
			search_listed(search, folder, item->d_name);
	}
}

static void look_for_file(const struct search *search, const char *folder)
{
	if (!folder_join(search->found, search->found_size, folder,
	                 search->wanted) ||
	    access(search->found, X_OK) != 0)
		search->found[0] = '\0';
}

/* The version of a package is in the name of a folder beside it. */
static void look_for_version(const struct search *search, const char *folder)
{
	static const char ending[] = ".dist-info";
	TKB_AUTO(folder_close) DIR *items = opendir(folder);
	const struct dirent *item;

	while (items != NULL && (item = readdir(items)) != NULL) {
		const char *const name = item->d_name;
		const char *const end = strstr(name, ending);
		const size_t length = strlen(search->wanted);

		if (end == NULL || end[strlen(ending)] != '\0' ||
		    !is_package_name(name, search->wanted) ||
		    name[length] != '-' || end - name - (long)length - 1 <= 0 ||
		    end - name - (long)length - 1 >= (long)search->found_size)
			continue;
		(void)snprintf(search->found, search->found_size, "%.*s",
		               (int)(end - name) - (int)length - 1,
		               name + length + 1);
		break;
	}
}

/* Search `prefix`/lib/python3.N/site-packages, and dist-packages. */
static void search_prefix(const struct search *search, const char *prefix)
{
	static const char *const libraries[] = { "lib", "lib64", "local/lib" };
	static const char *const ends[] = { "site-packages", "dist-packages" };
	char path[PATH_SIZE + 512];
	const struct dirent *item;

	for (size_t i = 0; i < TKB_COUNT_OF(libraries); i++) {
		TKB_AUTO(folder_close) DIR *folder = NULL;

		(void)snprintf(path, sizeof(path), "%s/%s", prefix,
		               libraries[i]);
		folder = opendir(path);
		while (folder != NULL && (item = readdir(folder)) != NULL) {
			const bool is_shared =
				strcmp(item->d_name, "python3") == 0;

			if (!python_is_name(item->d_name) ||
			    (!is_shared && strchr(search->name, '.') != NULL &&
			     strcmp(item->d_name, search->name) != 0))
				continue;
			for (size_t j = 0; j < 2; j++) {
				(void)snprintf(path, sizeof(path),
				               "%s/%s/%s/%s", prefix,
				               libraries[i], item->d_name,
				               ends[j]);
				search_packages(search, path);
			}
		}
	}
}

/* Search the prefix of the Python `program`, which is <prefix>/bin/python. */
static void search_program(const struct search *search, const char *program)
{
	char prefix[PATH_SIZE];

	(void)snprintf(prefix, sizeof(prefix), "%s", program);
	for (int i = 0; i < 2; i++) {
		char *const slash = strrchr(prefix, '/');

		if (slash == NULL)
			return;
		*slash = '\0';
	}
	search_prefix(search, prefix);
}

static void search_variables(const struct search *search)
{
	const char *folders = cli_variable("PYTHONPATH");
	const char *const base = cli_variable("PYTHONUSERBASE");
	const char *const home = cli_variable("HOME");
	char path[PATH_SIZE];

	while (folders != NULL && *folders != '\0') {
		const size_t length = strcspn(folders, ":");

		(void)snprintf(path, sizeof(path), "%.*s", (int)length,
		               folders);
		search_folder(search, path);
		folders += length;
		folders += *folders == ':';
	}
	if (base != NULL)
		(void)snprintf(path, sizeof(path), "%s", base);
	else
		(void)snprintf(path, sizeof(path), "%s/.local",
		               home != NULL ? home : "");
	if (cli_variable("PYTHONNOUSERSITE") == NULL)
		search_prefix(search, path);
}

/*
 * Search the folders that the Python of `command`, or of the engine, searches.
 */
static void search_python(struct search *search, const char *command,
                          const char *engine)
{
	char program[PYTHON_PATH_SIZE];
	char real[PATH_MAX];

	search->found[0] = '\0';
	if (!python_find(command, engine, program) ||
	    realpath(program, real) == NULL)
		return;
	(void)snprintf(search->name, sizeof(search->name), "%.31s",
	               strrchr(real, '/') + 1);
	search_variables(search);
	search_program(search, program);
	search_program(search, real);
}

void engine_version_of_package(const char *package, const char *command,
                               const char *engine,
                               char out[ENGINE_VERSION_SIZE])
{
	struct search search = { .look = look_for_version,
		                 .wanted = package,
		                 .found = out,
		                 .found_size = ENGINE_VERSION_SIZE };

	out[0] = '\0';
	if (package[0] != '\0')
		search_python(&search, command, engine);
}

void engine_version_find(const struct tkb_engine *engine, const char *command,
                         char out[ENGINE_VERSION_SIZE])
{
	engine_version_of_package(tkb_engine_package(engine), command,
	                          tkb_engine_name(engine), out);
}

void engine_file_find(const char *path, const char *command, const char *engine,
                      char *out, size_t size)
{
	struct search search = { .look = look_for_file,
		                 .wanted = path,
		                 .found_size = size };

	search.found = out;
	search_python(&search, command, engine);
}

/*
 * The version
 */

/* Does `version` begin with all parts of `checked`? */
static bool covers(const char *checked, const char *version)
{
	const size_t length = strlen(checked);

	return strncmp(checked, version, length) == 0 &&
	       strchr(".+", version[length]) != NULL;
}

bool engine_version_is_checked(const struct tkb_engine *engine,
                               const char *version)
{
	const size_t count = tkb_engine_version_count(engine);

	for (size_t i = 0; i < count; i++) {
		if (covers(tkb_engine_version(engine, i), version))
			return true;
	}
	return count == 0;
}

void engine_version_note(const struct tkb_engine *engine, const char *version,
                         char out[ENGINE_NOTE_SIZE])
{
	size_t length;

	if (version[0] == '\0') {
		(void)snprintf(out, ENGINE_NOTE_SIZE,
		               "engine %.100s: no version of it is found",
		               tkb_engine_name(engine));
		return;
	}
	(void)snprintf(out, ENGINE_NOTE_SIZE, "engine %.100s %.100s",
	               tkb_engine_name(engine), version);
	if (engine_version_is_checked(engine, version))
		return;
	length = strlen(out);
	(void)snprintf(out + length, ENGINE_NOTE_SIZE - length,
	               ", an unknown version: its profile was checked with");
	for (size_t i = 0; i < tkb_engine_version_count(engine); i++) {
		length = strlen(out);
		(void)snprintf(out + length, ENGINE_NOTE_SIZE - length,
		               "%s %.40s", i == 0 ? "" : ",",
		               tkb_engine_version(engine, i));
	}
}

void engine_version_say(struct cli *cli, const struct arguments *args,
                        struct tkb_engine *const *engines)
{
	char version[ENGINE_VERSION_SIZE];
	char note[ENGINE_NOTE_SIZE];

	for (size_t i = 0; args->is_verbose && i < args->engines.count; i++) {
		engine_version_find(engines[i], NULL, version);
		engine_version_note(engines[i], version, note);
		cli_say(cli, "%s", note);
	}
}
