/* SPDX-License-Identifier: Apache-2.0 */
#include "toolchain/cuda.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile/compiler/tools_file.h"

static const char *named_toolkit(void)
{
	const char *folder = tkb_environment("CUDA_HOME");

	return folder != NULL ? folder : tkb_environment("CUDA_PATH");
}

const char *cuda_toolkit(void)
{
	const char *folder = named_toolkit();

	return folder != NULL ? folder : CUDA_DEFAULT_TOOLKIT;
}

bool cuda_find_file(const char *rest, char out[CUDA_PATH_SIZE])
{
	return snprintf(out, CUDA_PATH_SIZE, "%s/%s", cuda_toolkit(), rest) <
	               CUDA_PATH_SIZE &&
	       access(out, R_OK) == 0;
}

/* Add the paths that the loader searches before its cache, and the cache. */
static void add_loader_paths(const char *name, struct tkb_buf *searched)
{
	const char *at = tkb_environment("LD_LIBRARY_PATH");
	char path[CUDA_PATH_SIZE];

	while (at != NULL && *at != '\0') {
		const int length = (int)strcspn(at, ":;");

		if (length > 0 && snprintf(path, sizeof(path), "%.*s/%s",
		                           length, at, name) < CUDA_PATH_SIZE)
			tkb_tool_file_add(searched, path);
		at += length;
		at += *at != '\0';
	}
	tkb_tool_file_add(searched, "/etc/ld.so.cache");
}

/*
 * The library stays loaded after dlclose(): otherwise memory that its C++
 * runtime allocated would be reported as leaked.
 */
static void *load_library(const char *path)
{
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/*
 * Open a library in `folder`, or by the loader's search if that is NULL. Adds
 * the paths that were tried to `searched`; the caller adds the file that was
 * opened.
 */
static void *open_in(const char *folder, const char *name,
                     struct tkb_buf *searched)
{
	static const char *const versions[] = { "13", "12" };
	static const char *const subfolders[] = { "lib64", "lib" };
	const size_t subfolder_count = folder == NULL ? 1 : 2;
	char path[CUDA_PATH_SIZE];
	void *handle = NULL;

	for (size_t i = 0; i < 2 * subfolder_count && handle == NULL; i++) {
		const char *version = versions[i / subfolder_count];
		int length;

		if (folder == NULL)
			length = snprintf(path, sizeof(path), "%s.so.%s", name,
			                  version);
		else
			length = snprintf(path, sizeof(path), "%s/%s/%s.so.%s",
			                  folder, subfolders[i % 2], name,
			                  version);
		if (length >= (int)sizeof(path))
			continue;
		handle = load_library(path);
		if (folder == NULL)
			add_loader_paths(path, searched);
		else if (handle == NULL)
			tkb_tool_file_add(searched, path);
	}
	return handle;
}

static void set_path(struct cuda_library *library)
{
	struct link_map *map = NULL;

	library->path[0] = '\0';
	if (dlinfo(library->handle, RTLD_DI_LINKMAP, &map) == 0)
		(void)snprintf(library->path, sizeof(library->path), "%s",
		               map->l_name);
	tkb_tool_file_add(&library->searched, library->path);
}

bool cuda_open(struct cuda_library *library, const char *name)
{
	const char *named = named_toolkit();
	const char *home = named == NULL ? "" : named;

	if (library->handle != NULL && strcmp(library->home, home) == 0)
		return true;
	cuda_close(library);
	library->searched = (struct tkb_buf)TKB_BUF_INIT(TKB_MIB);
	library->home = strdup(home);
	if (library->home == NULL)
		return false;
	if (named != NULL)
		library->handle = open_in(named, name, &library->searched);
	if (library->handle == NULL)
		library->handle = open_in(NULL, name, &library->searched);
	if (library->handle == NULL)
		library->handle =
			open_in(CUDA_DEFAULT_TOOLKIT, name, &library->searched);
	if (library->handle == NULL) {
		cuda_close(library);
		return false;
	}
	set_path(library);
	return true;
}

void cuda_close(struct cuda_library *library)
{
	if (library->handle != NULL)
		(void)dlclose(library->handle);
	if (library->beside != NULL)
		(void)dlclose(library->beside);
	free(library->home);
	tkb_buf_release(&library->searched);
	*library = (struct cuda_library){ .handle = NULL };
}

/* Open `name` in the folder of `path`. */
static void *open_next_to(const char *path, const char *name,
                          struct tkb_buf *searched)
{
	const char *slash = strrchr(path, '/');
	char file[CUDA_PATH_SIZE];

	if (slash == NULL ||
	    snprintf(file, sizeof(file), "%.*s/%s", (int)(slash - path), path,
	             name) >= CUDA_PATH_SIZE)
		return NULL;
	tkb_tool_file_add(searched, file);
	return load_library(file);
}

void cuda_open_beside(struct cuda_library *library, const char *name)
{
	char *file;

	if (library->beside != NULL)
		return;
	library->beside = open_next_to(library->path, name, &library->searched);
	if (library->beside != NULL)
		return;
	file = realpath(library->path, NULL);
	if (file != NULL && strcmp(file, library->path) != 0)
		library->beside = open_next_to(file, name, &library->searched);
	free(file);
}

static int drop_bytes(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	(void)self, (void)bytes, (void)err;
	return 0;
}

const struct tkb_sink cuda_no_log = { drop_bytes, NULL };

void cuda_read_version(struct tkb_buf *product, char version[64])
{
	static const char mark[] = ", V";
	const char *found;

	tkb_buf_add_byte(product, '\0');
	if (product->failure != 0)
		return;
	found = memmem(product->data, product->size, mark, strlen(mark));
	if (found != NULL)
		(void)sscanf(found, ", V%63[0-9.]", version);
}

char *cuda_read_log(void *handle, int (*get_size)(void *handle, size_t *size),
                    int (*get)(void *handle, char *log))
{
	size_t size = 0;
	char *log;

	if (handle == NULL || get_size(handle, &size) != 0 || size == 0)
		return NULL;
	log = calloc(1, size + 1);
	if (log != NULL && (get(handle, log) != 0 || log[0] == '\0')) {
		free(log);
		log = NULL;
	}
	return log;
}

/* POSIX lets dlsym() return functions, but ISO C has no cast for that. */
bool cuda_find(const struct cuda_library *library, const char *name,
               void *function_out)
{
	void *symbol = dlsym(library->handle, name);

	memcpy(function_out, &symbol, sizeof(symbol));
	return symbol != NULL;
}
