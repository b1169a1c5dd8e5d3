/* SPDX-License-Identifier: Apache-2.0 */
#include "config/pyenv.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/auto.h"
#include "cli/cli.h"
#include "cli/fd.h"

enum {
	WORDS_SIZE = 1024
};

/* A script of pyenv's: "<root>/shims/<name>". */
struct shim {
	char root[PYENV_PATH_SIZE];
	char name[256];
};

static bool split_shim(const char *path, struct shim *out)
{
	static const char folder[] = "/shims";
	const char *const slash = strrchr(path, '/');
	const size_t length = slash == NULL ? 0 : (size_t)(slash - path);
	char versions[PYENV_PATH_SIZE + sizeof("/versions")];

	if (length <= strlen(folder) ||
	    strncmp(slash - strlen(folder), folder, strlen(folder)) != 0 ||
	    strlen(slash + 1) >= sizeof(out->name))
		return false;
	(void)snprintf(out->root, sizeof(out->root), "%.*s",
	               (int)(length - strlen(folder)), path);
	(void)snprintf(out->name, sizeof(out->name), "%s", slash + 1);
	(void)snprintf(versions, sizeof(versions), "%s/versions", out->root);
	return access(versions, X_OK) == 0;
}

/*
 * Which versions
 */

static bool read_words(const char *path, char out[WORDS_SIZE])
{
	return fd_read_file(AT_FDCWD, path, out, WORDS_SIZE) > 0;
}

/*
 * Read the file in the current folder, or else in the nearest folder above that
 * has it.
 */
static bool read_local(char out[WORDS_SIZE])
{
	static const char name[] = "/.python-version";
	char path[PYENV_PATH_SIZE + sizeof(name)];
	char *slash;

	if (getcwd(path, PYENV_PATH_SIZE) == NULL)
		return false;
	for (;;) {
		const size_t length = strlen(path);

		memcpy(path + length, name, sizeof(name));
		if (read_words(path, out))
			return true;
		path[length] = '\0';
		slash = strrchr(path, '/');
		if (slash == NULL)
			return false;
		*slash = '\0';
	}
}

/*
 * Read the list of versions, separated by colons or white space. The first
 * version that has the program is used.
 */
static bool read_versions(const struct shim *shim, char out[WORDS_SIZE])
{
	const char *const given = cli_variable("PYENV_VERSION");
	char path[PYENV_PATH_SIZE + sizeof("/version")];

	if (given != NULL)
		return snprintf(out, WORDS_SIZE, "%s", given) < WORDS_SIZE;
	(void)snprintf(path, sizeof(path), "%s/version", shim->root);
	return read_local(out) || read_words(path, out);
}

/*
 * The version that has the program
 */

/*
 * Find the newest version called "<version>.<anything>": "3.12" may mean
 * "3.12.1".
 */
static bool find_newest(const char *versions, const char *version,
                        char out[256])
{
	TKB_AUTO(folder_close) DIR *folder = opendir(versions);
	const struct dirent *item;
	const size_t length = strlen(version);

	out[0] = '\0';
	while (folder != NULL && (item = readdir(folder)) != NULL) {
		if (strncmp(item->d_name, version, length) == 0 &&
		    item->d_name[length] == '.' &&
		    strverscmp(item->d_name, out) > 0)
			(void)snprintf(out, 256, "%s", item->d_name);
	}
	return out[0] != '\0';
}

static bool find_in(const struct shim *shim, const char *version,
                    char out[PYENV_PATH_SIZE])
{
	char versions[PYENV_PATH_SIZE + sizeof("/versions")];
	char newest[256];

	if (snprintf(out, PYENV_PATH_SIZE, "%s/versions/%s/bin/%s", shim->root,
	             version, shim->name) < PYENV_PATH_SIZE &&
	    access(out, X_OK) == 0)
		return true;
	(void)snprintf(versions, sizeof(versions), "%s/versions", shim->root);
	return find_newest(versions, version, newest) &&
	       snprintf(out, PYENV_PATH_SIZE, "%s/%s/bin/%s", versions, newest,
	                shim->name) < PYENV_PATH_SIZE &&
	       access(out, X_OK) == 0;
}

bool pyenv_resolve(char path[PYENV_PATH_SIZE])
{
	static const char spaces[] = ": \t\r\n";
	struct shim shim;
	char words[WORDS_SIZE];
	char found[PYENV_PATH_SIZE];
	char *rest = words;

	if (!split_shim(path, &shim))
		return true;
	if (!read_versions(&shim, words))
		return false;
	while (rest != NULL) {
		const char *const word = strsep(&rest, spaces);

		if (word[0] != '\0' && strchr(word, '/') == NULL &&
		    find_in(&shim, word, found)) {
			memcpy(path, found, strlen(found) + 1);
			return true;
		}
	}
	return false;
}
