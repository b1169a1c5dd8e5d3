/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char default_toolkit[] = "/usr/local/cuda";

const char *cuda_variable(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

static const char *named_toolkit(void)
{
	const char *folder = cuda_variable("CUDA_HOME");

	return folder != NULL ? folder : cuda_variable("CUDA_PATH");
}

const char *cuda_toolkit(void)
{
	const char *folder = named_toolkit();

	return folder != NULL ? folder : default_toolkit;
}

bool cuda_find_file(const char *rest, char out[CUDA_PATH_SIZE])
{
	return snprintf(out, CUDA_PATH_SIZE, "%s/%s", cuda_toolkit(), rest) <
	               CUDA_PATH_SIZE &&
	       access(out, R_OK) == 0;
}

/* In `folder`, or where that is NULL as the system finds it. */
static void *open_in(const char *folder, const char *name)
{
	static const char *const versions[] = { "13", "12" };
	static const char *const places[] = { "lib64", "lib" };
	const size_t place_count = folder == NULL ? 1 : 2;
	char path[CUDA_PATH_SIZE];
	void *handle = NULL;

	for (size_t i = 0; i < 2 * place_count && handle == NULL; i++) {
		const char *version = versions[i / place_count];
		int length;

		if (folder == NULL)
			length = snprintf(path, sizeof(path), "%s.so.%s", name,
			                  version);
		else
			length = snprintf(path, sizeof(path), "%s/%s/%s.so.%s",
			                  folder, places[i % 2], name, version);
		if (length < (int)sizeof(path))
			handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return handle;
}

static void note_path(struct cuda_library *library)
{
	struct link_map *map = NULL;

	library->path[0] = '\0';
	if (dlinfo(library->handle, RTLD_DI_LINKMAP, &map) == 0)
		(void)snprintf(library->path, sizeof(library->path), "%s",
		               map->l_name);
}

bool cuda_open(struct cuda_library *library, const char *name)
{
	const char *named = named_toolkit();
	const char *home = named == NULL ? "" : named;

	if (library->handle != NULL && strcmp(library->home, home) == 0)
		return true;
	cuda_close(library);
	library->home = strdup(home);
	if (library->home == NULL)
		return false;
	if (named != NULL)
		library->handle = open_in(named, name);
	if (library->handle == NULL)
		library->handle = open_in(NULL, name);
	if (library->handle == NULL)
		library->handle = open_in(default_toolkit, name);
	if (library->handle == NULL) {
		cuda_close(library);
		return false;
	}
	note_path(library);
	return true;
}

void cuda_close(struct cuda_library *library)
{
	if (library->handle != NULL)
		(void)dlclose(library->handle);
	free(library->home);
	*library = (struct cuda_library){ .handle = NULL };
}

/* POSIX lets dlsym() give functions; C does not say how to take them. */
bool cuda_find(const struct cuda_library *library, const char *name,
               void *place)
{
	void *symbol = dlsym(library->handle, name);

	memcpy(place, &symbol, sizeof(symbol));
	return symbol != NULL;
}
