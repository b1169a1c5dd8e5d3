/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/compile_recorded.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fd.h"
#include "cli/text.h"
#include "compile/compile_input.h"
#include "report/source.h"
#include "cli/cli.h"
#include "report/kernel_facts.h"

static const char tree[] = "specialisations";
static const char ending[] = ".json";

enum {
	KEY_LENGTH = 43 /* shortest key: URL-safe base64 of a SHA-256 */
};

static void free_bytes(struct tkb_bytes bytes)
{
	free((void *)(uintptr_t)bytes.data);
}

void compile_recorded_release(struct compile_recorded *recorded)
{
	for (size_t i = 0; i < recorded->count; i++) {
		struct compile_recorded_kernel *const one =
			&recorded->kernels[i];

		free(one->key);
		free(one->name);
		free_bytes(one->metadata);
		free_bytes(one->recorded.specialisation);
		free_bytes(one->recorded.ir);
	}
	free(recorded->kernels);
}

/* Is it "KEY.json", the name of a specialisation? */
static bool is_specialisation(const char *name)
{
	size_t length = 0;

	while (isalnum((unsigned char)name[length]) || name[length] == '-' ||
	       name[length] == '_')
		length++;
	return length >= KEY_LENGTH && strcmp(name + length, ending) == 0;
}

/* Find the kernel with this key, or add it; NULL: out of memory. */
static struct compile_recorded_kernel *kernel_of(
	struct compile_recorded *recorded, const char *key, size_t length)
{
	struct compile_recorded_kernel *one;

	/* The files of a kernel are visited one after another. */
	for (size_t i = recorded->count; i-- > 0;) {
		one = &recorded->kernels[i];
		if (strncmp(one->key, key, length) == 0 &&
		    one->key[length] == '\0')
			return one;
	}
	one = table_grow(recorded->kernels, recorded->count, sizeof(*one));
	if (one == NULL)
		return NULL;
	recorded->kernels = one;
	one += recorded->count;
	*one = (struct compile_recorded_kernel){ .key = strndup(key, length) };
	one->recorded.struct_size = sizeof(one->recorded);
	one->recorded.key = one->key;
	if (one->key == NULL)
		return NULL;
	recorded->count++;
	return one;
}

static int copy_bytes(struct tkb_bytes bytes, struct tkb_bytes *out,
                      struct tkb_error *err)
{
	void *const data = malloc(bytes.size + 1);

	if (data == NULL)
		return cli_error_nomem(err);
	if (bytes.size != 0)
		memcpy(data, bytes.data, bytes.size);
	free_bytes(*out);
	*out = (struct tkb_bytes){ data, bytes.size };
	return 0;
}

struct reading {
	const struct source *source;
	struct compile_recorded *recorded;
};

static int on_kernel_file(struct reading *reading,
                          const struct tkb_entry *entry, const char *name,
                          struct tkb_bytes bytes, struct tkb_error *err)
{
	struct compile_recorded_kernel *const kernel =
		kernel_of(reading->recorded, entry->key, strlen(entry->key));

	if (kernel == NULL)
		return cli_error_nomem(err);
	if (kernel->name == NULL)
		kernel->name = strdup(entry->name);
	if (kernel->name == NULL)
		return cli_error_nomem(err);
	if (kernel_file_is(name, entry->name, ending))
		return copy_bytes(bytes, &kernel->metadata, err);
	if (kernel_file_is(name, entry->name, ".ttir"))
		return copy_bytes(bytes, &kernel->recorded.ir, err);
	return 0;
}

/* `name` is "KEY.json". */
static int add_specialisation(struct compile_recorded *recorded,
                              const char *name, struct tkb_bytes bytes,
                              struct tkb_error *err)
{
	struct compile_recorded_kernel *const kernel =
		kernel_of(recorded, name, strlen(name) - strlen(ending));

	return kernel == NULL
	               ? cli_error_nomem(err)
	               : copy_bytes(bytes, &kernel->recorded.specialisation,
	                            err);
}

static int on_file(void *self, size_t index, size_t file,
                   struct tkb_bytes bytes, struct tkb_error *err)
{
	struct reading *const reading = self;
	const struct tkb_entry *const entry =
		source_entry(reading->source, index);

	if (entry->kind == TKB_KIND_KERNEL)
		return on_kernel_file(reading, entry, entry->files[file].name,
		                      bytes, err);
	if (entry->kind == TKB_KIND_UNIT && strcmp(entry->tree, tree) == 0 &&
	    is_specialisation(entry->name))
		return add_specialisation(reading->recorded, entry->name, bytes,
		                          err);
	return 0;
}

static int read_source(const char *path, struct compile_recorded *out,
                       struct tkb_error *err)
{
	TKB_AUTO(source_close) struct source source = { 0 };
	struct reading reading = { &source, out };
	const struct tkb_file_visitor visitor = { on_file, &reading };
	const int rc = source_open(path, false, &source, err);

	return rc != 0 ? rc : source_read_all(&source, &visitor, err);
}

static int read_specialisation(const char *folder, const char *name,
                               struct compile_recorded *out,
                               struct tkb_error *err)
{
	struct tkb_bytes text = { NULL, 0 };
	TKB_AUTO(text_free) char *path = NULL;
	int rc;

	if (!is_specialisation(name))
		return 0;
	path = text_format("%s/%s", folder, name);
	if (path == NULL)
		return cli_error_nomem(err);
	rc = compile_input_file(path, &text, err);
	if (rc == 0)
		rc = add_specialisation(out, name, text, err);
	free_bytes(text);
	return rc;
}

/* Read the specialisations in a folder, which may also have entries. */
static int read_specialisations(const char *folder,
                                struct compile_recorded *out,
                                struct tkb_error *err)
{
	struct dirent **names = NULL;
	const int count = scandir(folder, &names, NULL, alphasort);
	int rc = 0;

	if (count < 0)
		return cli_error_errno(err, "read", folder);
	for (int i = 0; i < count; i++) {
		if (rc == 0)
			rc = read_specialisation(folder, names[i]->d_name, out,
			                         err);
		free(names[i]);
	}
	free(names);
	return rc;
}

int compile_recorded_read(const char *path, struct compile_recorded *out,
                          struct tkb_error *err)
{
	int rc = read_source(path, out, err);

	if (rc == 0 && source_is_cache(path))
		rc = read_specialisations(path, out, err);
	if (rc != 0 || out->count != 0)
		return rc;
	return cli_error(err, TKB_MISS, "'%s' has no kernels", path);
}

static bool has_group(const char *folder, const char *name)
{
	struct dirent *entry;
	TKB_AUTO(text_free) char *path = text_format("%s/%s", folder, name);
	TKB_AUTO(folder_close) DIR *files = NULL;

	if (name[0] != '.' && path != NULL)
		files = opendir(path);
	while (files != NULL && (entry = readdir(files)) != NULL) {
		if (source_is_group(entry->d_name))
			return true;
	}
	return false;
}

bool compile_recorded_is_there(const char *path)
{
	const size_t length = strlen(path);
	TKB_AUTO(folder_close) DIR *folder = NULL;
	const struct dirent *entry;

	if (length > 4 && strcmp(path + length - 4, ".tkb") == 0)
		return true;
	folder = opendir(path);
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		if (is_specialisation(entry->d_name) ||
		    has_group(path, entry->d_name))
			return true;
	}
	return false;
}
