/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_document.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/fd.h"
#include "cli/json_in.h"

#define PATH_SIZE 4096

/* We share the file offset with the child: its output ends there. */
static json_t *read_document(const struct run_child *pull)
{
	const int fd = pull->has_begun ? pull->out_fd : -1;
	const off_t size = fd >= 0 ? lseek(fd, 0, SEEK_CUR) : 0;
	json_t *document;
	void *bytes;

	if (size <= 0)
		return NULL;
	bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return NULL;
	document = json_loadb(bytes, (size_t)size, 0, NULL);
	(void)munmap(bytes, (size_t)size);
	return document;
}

/* The kind of a unit is that of its tree's root. */
static size_t kind_of_root(const struct trees *trees, const char *root)
{
	for (size_t i = 0; i < trees->count; i++) {
		if (strcmp(trees->items[i].path, root) == 0)
			return i + 1;
	}
	return 0;
}

static enum run_pulled what_of(const json_t *entry)
{
	const char *const outcome = json_in_text(entry, "outcome");

	if (strcmp(outcome, "emitted") == 0 || strcmp(outcome, "repaired") == 0)
		return RUN_PULLED_EMITTED;
	if (strcmp(outcome, "present") == 0)
		return RUN_PULLED_PRESENT;
	return strcmp(json_in_text(entry, "reason"), "inputs") == 0
	               ? RUN_PULLED_UNFIT
	               : RUN_PULLED_NOTHING;
}

bool run_document_is_untrusted(const struct run_child *pull)
{
	json_auto_t *document = read_document(pull);

	return json_is_true(json_object_get(document, "is_untrusted"));
}

bool run_document_each(const struct run_child *pull, const struct trees *trees,
                       void (*visit)(void *self, size_t kind, const char *path,
                                     enum run_pulled what),
                       void *self)
{
	json_auto_t *document = read_document(pull);
	size_t index;
	json_t *entry;

	json_array_foreach(json_object_get(document, "entries"), index, entry)
	{
		const char *const root = json_in_text(entry, "root");
		const size_t kind = kind_of_root(trees, root);
		char path[PATH_SIZE];

		if (folder_join(
			    path, sizeof(path), root,
			    json_in_text(entry, kind != 0 ? "name" : "key")))
			visit(self, kind, path, what_of(entry));
	}

	return document != NULL;
}

void run_document_tuned(const struct run_child *pull,
                        void (*visit)(void *self, const char *name,
                                      const char *platform),
                        void *self)
{
	json_auto_t *document = read_document(pull);
	size_t index;
	json_t *entry;

	json_array_foreach(json_object_get(document, "entries"), index, entry)
	{
		const char *const platform = json_in_text(entry, "message");

		if (strcmp(json_in_text(entry, "reason"), "platform") == 0 &&
		    strncmp(platform, "gpu ", 4) == 0)
			visit(self, json_in_text(entry, "name"), platform);
	}
}
