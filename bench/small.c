/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a framework does in its own process, by the C library: for small.py.
 *
 *     small collect ROOT FILE LEVEL  pack ROOT, an Inductor folder, into memory
 *     small emit FILE FOLDER         open FILE's bytes, emit into FOLDER/0 and FOLDER/1
 *
 * Each is done twice, since Python's steps are warmed up, too. It prints the
 * time of the second run in milliseconds; `collect` also prints that of a put
 * in microseconds. Writing and reading FILE is not timed.
 */

#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tkbundle/tkbundle.h>

enum {
	MAX_KEYS = 4096
};

struct memory {
	char *data;
	size_t size;
	size_t capacity;
};

static _Noreturn void die(const char *what, const char *why)
{
	(void)fprintf(stderr, "small: %s: %s\n", what, why);
	exit(1);
}

static void check(int rc, const char *what, const struct tkb_error *err)
{
	if (rc != 0)
		die(what, rc < 0 ? err->message : "nothing is there");
}

static double now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int write_memory(void *self, struct tkb_bytes bytes,
                        struct tkb_error *err)
{
	struct memory *memory = self;

	(void)err;
	if (bytes.size > memory->capacity - memory->size) {
		memory->capacity = 2 * (memory->capacity + bytes.size);
		memory->data = realloc(memory->data, memory->capacity);
		if (memory->data == NULL)
			die("realloc", strerror(errno));
	}
	memcpy(memory->data + memory->size, bytes.data, bytes.size);
	memory->size += bytes.size;
	return 0;
}

/* The keys of an Inductor folder's first device. */
static size_t list_keys(const char *root, char **keys)
{
	char path[4096];
	size_t count = 0;
	const struct dirent *item;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "%s/triton/0", root);
	dir = opendir(path);
	if (dir == NULL)
		die(path, strerror(errno));
	for (item = readdir(dir); item != NULL && count < MAX_KEYS;
	     item = readdir(dir)) {
		if (item->d_name[0] != '.')
			keys[count++] = strdup(item->d_name);
	}
	(void)closedir(dir);
	return count;
}

static void collect(const char *root, char **keys, size_t count, int level,
                    struct memory *memory, double *ms, double *put_us)
{
	const struct tkb_collect_options options = {
		.struct_size = sizeof(options),
		.level = level,
	};
	const struct tkb_sink sink = { write_memory, memory };
	struct tkb_recorder *recorder;
	struct tkb_error err = { 0 };
	double start;

	check(tkb_recorder_new(NULL, &recorder, &err), "new", &err);
	check(tkb_recorder_begin_compile(recorder, &err), "begin", &err);
	start = now_ms();
	for (size_t i = 0; i < count; i++)
		check(tkb_recorder_put(recorder, keys[i], 0, &err), "put",
		      &err);
	*put_us = (now_ms() - start) * 1e3 / (double)count;
	start = now_ms();
	check(tkb_recorder_collect(recorder, root, &options, &sink, NULL, &err),
	      "collect", &err);
	*ms = now_ms() - start;
	tkb_recorder_end_compile(recorder);
	tkb_recorder_free(recorder);
}

static void collect_twice(const char *root, const char *path, int level)
{
	static char *keys[MAX_KEYS];
	const size_t count = list_keys(root, keys);
	struct memory memory = { 0 };
	double ms = 0;
	double put_us = 0;
	FILE *file;

	for (int i = 0; i < 2; i++) {
		memory.size = 0;
		collect(root, keys, count, level, &memory, &ms, &put_us);
	}
	(void)printf("%.3f %.3f\n", ms, put_us);
	file = fopen(path, "wb");
	if (file == NULL ||
	    fwrite(memory.data, 1, memory.size, file) != memory.size ||
	    fclose(file) != 0)
		die(path, strerror(errno));
	free(memory.data);
}

static void read_memory(const char *path, struct memory *memory)
{
	char chunk[65536];
	size_t got;
	FILE *file = fopen(path, "rb");

	if (file == NULL)
		die(path, strerror(errno));
	for (got = fread(chunk, 1, sizeof(chunk), file); got != 0;
	     got = fread(chunk, 1, sizeof(chunk), file))
		(void)write_memory(memory, (struct tkb_bytes){ chunk, got },
		                   NULL);
	(void)fclose(file);
}

static void emit_twice(const char *path, const char *folder)
{
	struct memory memory = { 0 };
	double ms = 0;

	read_memory(path, &memory);
	for (int i = 0; i < 2; i++) {
		const double start = now_ms();
		struct tkb_bundle *bundle;
		struct tkb_error err = { 0 };
		char root[4096];

		(void)snprintf(root, sizeof(root), "%s/%d", folder, i);
		check(tkb_bundle_open_memory(
			      (struct tkb_bytes){ memory.data, memory.size },
			      path, &bundle, &err),
		      "open", &err);
		check(tkb_emit(bundle, root, NULL, NULL, &err), "emit", &err);
		tkb_bundle_close(bundle);
		ms = now_ms() - start;
	}
	(void)printf("%.3f\n", ms);
	free(memory.data);
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "collect") == 0)
		collect_twice(argv[2], argv[3], atoi(argv[4]));
	else if (argc == 4 && strcmp(argv[1], "emit") == 0)
		emit_twice(argv[2], argv[3]);
	else
		die("usage", "collect ROOT FILE LEVEL | emit FILE FOLDER");
	return 0;
}
