/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_count.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <jansson.h>

#include "cli/fd.h"
#include "run/run_document.h"
#include "run/run_engine.h"
#include "run/run_scan.h"

struct count {
	const struct run *run;
	struct run_counts *counts;
	json_t *emitted; /* an object with "root/key" of what was emitted */
	json_t *known;   /* the same of what was there, or is in the ref */
	json_t *old;     /* the same of what was there before the command */
	bool has_document;
};

/* Does reading update the access time? The library tries it the same way. */
static void try_times(void *self, const char *path)
{
	static const struct timespec never[] = { { .tv_sec = 0 },
		                                 { .tv_nsec = UTIME_OMIT } };
	bool *const has_times = self;
	TKB_AUTO(fd_close)
	int fd = open(path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct statvfs system;
	struct stat status;
	char byte = '\n';

	if (fd < 0 || write(fd, &byte, 1) != 1 || futimens(fd, never) < 0) {
		if (statvfs(path, &system) < 0 ||
		    (system.f_flag & (ST_NOATIME | ST_RDONLY)) != 0)
			*has_times = false;
	} else if (pread(fd, &byte, 1, 0) != 1 || fstat(fd, &status) < 0 ||
	           status.st_atim.tv_sec == 0) {
		*has_times = false;
	}
}

static void add(json_t *set, const char *path, const char *key)
{
	char name[RUN_PATH_SIZE];

	if (snprintf(name, sizeof(name), "%s/%s", path, key) <
	    (int)sizeof(name))
		(void)json_object_set_new_nocheck(set, name, json_null());
}

/* Entries that were there and that the ref has need no push either. */
static void add_entry(void *self, const char *path, const char *key,
                      bool is_emitted)
{
	struct count *const count = self;

	add(count->known, path, key);
	if (is_emitted)
		add(count->emitted, path, key);
}

static void sort_known_names(struct count *count)
{
	const struct run_shared *const shared = count->run->shared;

	for (size_t at = 0; at < shared->name_size;
	     at += strlen(shared->names + at) + 1) {
		/*
		 * A watch that was killed may not have reported all new
		 * entries.
		 */
		if (at < shared->told_size)
			(void)json_object_set_new_nocheck(
				count->known, shared->names + at, json_null());
		if (at < shared->baseline_size)
			(void)json_object_set_new_nocheck(
				count->old, shared->names + at, json_null());
	}
}

static int64_t nanoseconds(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

/*
 * Was it written while the command ran, and not by our pull? A clock of a
 * server may go wrong: a name that is new tells it as well.
 */
static bool is_compiled(const struct count *count, const char *name,
                        const struct stat *stamp)
{
	const int64_t read_ns = nanoseconds(&stamp->st_atim);
	const int64_t written_ns = nanoseconds(&stamp->st_mtim);

	if (json_object_get(count->emitted, name) != NULL)
		return false;
	/* Entries of a pull that was killed have its use stamp. */
	if (count->run->children[RUN_PULL].has_begun && !count->has_document &&
	    (read_ns == 0 || read_ns > written_ns))
		return false;
	return written_ns >= count->run->command_ns ||
	       (count->run->shared->has_baseline &&
	        json_object_get(count->old, name) == NULL);
}

/* Note the path of what was made anew, while there is room. */
static void note_cold(struct run_counts *counts, const char *path)
{
	const size_t used = strlen(counts->cold);

	if (used + strlen(path) + 2 > sizeof(counts->cold))
		return;
	(void)snprintf(counts->cold + used, sizeof(counts->cold) - used, "%s\n",
	               path);
}

static void count_key(void *self, int root_fd, const char *path,
                      const char *key)
{
	struct count *const count = self;
	char name[RUN_PATH_SIZE];
	struct stat stamp;

	if (snprintf(name, sizeof(name), "%s/%s", path, key) >=
	            (int)sizeof(name) ||
	    !run_scan_stamp(root_fd, key, &stamp))
		return;
	if (json_object_get(count->known, name) == NULL)
		count->counts->has_new = true;
	if (is_compiled(count, name, &stamp)) {
		count->counts->compiled++;
		note_cold(count->counts, name);
	} else if (stamp.st_atim.tv_sec != 0 &&
	           nanoseconds(&stamp.st_atim) > nanoseconds(&stamp.st_mtim)) {
		count->counts->used++;
	}
}

static void count_root(void *self, const char *path)
{
	run_scan_keys(path, count_key, self);
}

static void count_file(void *self, const char *path)
{
	struct count *const count = self;

	if (json_object_get(count->known, path) == NULL)
		count->counts->has_new = true;
	if (count->run->shared->has_baseline &&
	    json_object_get(count->old, path) == NULL) {
		count->counts->new_files++;
		note_cold(count->counts, path);
	}
}

void run_count(void *self)
{
	struct run *const run = self;
	const struct run_plan *const plan = &run->shared->plan;
	json_auto_t *emitted = json_object();
	json_auto_t *known = json_object();
	json_auto_t *old = json_object();
	TKB_AUTO(trees_release) struct trees trees = { .engines = NULL };
	struct tkb_error err = { .status = 0 };
	struct run_counts counts = { .has_access_times = true };
	struct count count = { .run = run,
		               .counts = &counts,
		               .emitted = emitted,
		               .known = known,
		               .old = old };

	if (emitted == NULL || known == NULL || old == NULL)
		return;
	count.has_document =
		run_document_each(&run->children[RUN_PULL], add_entry, &count);
	sort_known_names(&count);
	run_scan_roots(plan->root, plan->is_inductor, try_times,
	               &counts.has_access_times);
	run_scan_roots(plan->root, plan->is_inductor, count_root, &count);
	if (plan->has_trees &&
	    run_engine_trees(run->args, plan, &trees, &err) != 0)
		trees.count = 0;
	for (size_t i = 0; i < trees.count; i++)
		run_scan_tree(&trees.items[i], count_file, &count);
	counts.is_made = true;
	/* Store all counts at once: the supervisor may print them meanwhile. */
	run->shared->counts = counts;
}
