/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "compiler.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>

#define THREAD_COUNT 4
#define PATH_SIZE 4096

/* One thread makes every THREAD_COUNT-th kernel. */
struct worker {
	pthread_t thread;
	const char *source;
	const char *root;
	compiled_fn *compiled;
	void *self;
	size_t first;
	int rc;
	struct tkb_error err;
};

static int fail(struct tkb_error *err, const char *what, const char *path)
{
	err->status = TKB_ERR_IO;
	(void)snprintf(err->message, sizeof(err->message), "cannot %s '%.400s'",
	               what, path);
	return TKB_ERR_IO;
}

static int write_file(void *self, struct tkb_bytes bytes, struct tkb_error *err)
{
	if (fwrite(bytes.data, 1, bytes.size, self) != bytes.size)
		return fail(err, "write", "a file of a kernel");
	return 0;
}

static int copy_file(const struct tkb_cache *cache, size_t index, size_t file,
                     const char *path, struct tkb_error *err)
{
	const struct tkb_sink sink = { write_file, fopen(path, "wb") };
	int rc;

	if (sink.self == NULL)
		return fail(err, "create", path);

	rc = tkb_cache_read(cache, index, file, &sink, err);
	if (fclose(sink.self) != 0 && rc == 0)
		rc = fail(err, "write", path);
	return rc;
}

/* Here a real driver calls its compiler. */
static int compile(const struct tkb_cache *cache, size_t index,
                   const char *root, struct tkb_error *err)
{
	const struct tkb_entry *entry = tkb_cache_entry(cache, index);
	char path[PATH_SIZE];
	int rc = 0;

	(void)snprintf(path, sizeof(path), "%s/%s", root, entry->key);
	if (mkdir(path, 0777) < 0)
		return fail(err, "make", path);

	for (size_t i = 0; i < entry->file_count && rc == 0; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s/%s", root, entry->key,
		               entry->files[i].name);
		rc = copy_file(cache, index, i, path, err);
	}
	return rc;
}

static void *work(void *self)
{
	const struct tkb_cache_options kernels = { .struct_size =
		                                           sizeof(kernels),
		                                   .is_kernels_only = true };
	struct worker *worker = self;
	struct tkb_error *err = &worker->err;
	struct tkb_cache *cache;

	worker->rc = tkb_cache_open(worker->source, &kernels, &cache, err);
	if (worker->rc != 0)
		return NULL;

	for (size_t i = worker->first;
	     i < tkb_cache_entry_count(cache) && worker->rc == 0;
	     i += THREAD_COUNT) {
		worker->rc = compile(cache, i, worker->root, err);
		if (worker->rc == 0)
			worker->rc = worker->compiled(
				worker->self, tkb_cache_entry(cache, i)->key,
				err);
	}
	tkb_cache_close(cache);
	return NULL;
}

int compiler_run(const char *source, const char *root, compiled_fn *compiled,
                 void *self, struct tkb_error *err)
{
	struct worker workers[THREAD_COUNT];
	size_t started = 0;
	int rc = 0;

	if (mkdir(root, 0777) < 0)
		return fail(err, "make", root);

	for (; started < THREAD_COUNT && rc == 0; started++) {
		struct worker *worker = &workers[started];

		*worker = (struct worker){ .source = source,
			                   .root = root,
			                   .compiled = compiled,
			                   .self = self,
			                   .first = started };
		if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
			rc = fail(err, "start", "a thread");
			break;
		}
	}
	for (size_t i = 0; i < started; i++) {
		(void)pthread_join(workers[i].thread, NULL);
		if (workers[i].rc != 0 && rc == 0) {
			rc = workers[i].rc;
			*err = workers[i].err;
		}
	}
	return rc;
}
