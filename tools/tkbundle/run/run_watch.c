/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_watch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/run_document.h"
#include "run/run_engine.h"
#include "run/run_scan.h"

#define LOOK_S 2      /* between two looks */
#define BATCH_LOOKS 5 /* until new entries are pushed, even if more come */

/* One look at all entries. */
struct look {
	struct run_shared *shared;
	const char **known; /* sorted; owned */
	size_t known_count;
	size_t unfinished_count; /* folders without a file that publishes */
	size_t new_count;
	bool is_learning; /* take note of what is new */
	struct trees trees;
};

static int compare_names(const void *a, const void *b)
{
	const char *const *const left = a;
	const char *const *const right = b;

	return strcmp(*left, *right);
}

/* Sort the names that are known; without memory, none is. */
static void sort_names(struct look *look)
{
	const struct run_shared *const shared = look->shared;
	size_t count = 0;

	for (size_t i = 0; i < shared->name_size; i++)
		count += shared->names[i] == '\0' ? 1 : 0;
	free(look->known);
	look->known_count = 0;
	look->known = calloc(count + 1, sizeof(*look->known));
	if (look->known == NULL)
		return;
	for (size_t at = 0; at < shared->name_size;
	     at += strlen(shared->names + at) + 1)
		look->known[look->known_count++] = shared->names + at;
	qsort(look->known, look->known_count, sizeof(*look->known),
	      compare_names);
}

static bool is_known(const struct look *look, const char *name)
{
	return look->known != NULL &&
	       bsearch(&name, look->known, look->known_count,
	               sizeof(*look->known), compare_names) != NULL;
}

static void add_name(struct run_shared *shared, const char *name)
{
	const size_t size = strlen(name) + 1;

	if (sizeof(shared->names) - shared->name_size < size) {
		shared->is_full = true;
		return;
	}
	(void)memcpy(shared->names + shared->name_size, name, size);
	shared->name_size += size;
}

static bool make_name(const char *path, const char *key,
                      char out[RUN_PATH_SIZE])
{
	return snprintf(out, RUN_PATH_SIZE, "%s/%s", path, key) < RUN_PATH_SIZE;
}

static void scan_key(void *self, int root_fd, const char *path, const char *key)
{
	struct look *const look = self;
	char name[RUN_PATH_SIZE];
	struct stat stamp;

	if (!make_name(path, key, name) || is_known(look, name))
		return;
	if (!run_scan_stamp(root_fd, key, &stamp)) {
		look->unfinished_count++;
		return;
	}

	look->new_count++;
	if (look->is_learning)
		add_name(look->shared, name);
}

static void scan_root(void *self, const char *path)
{
	run_scan_keys(path, scan_key, self);
}

/* A file of a tree is there at once, or its engine goes on writing it. */
static void scan_file(void *self, const char *path)
{
	struct look *const look = self;

	if (is_known(look, path))
		return;
	look->new_count++;
	if (look->is_learning)
		add_name(look->shared, path);
}

static void scan_all(struct look *look)
{
	const struct run_plan *const plan = &look->shared->plan;

	look->new_count = 0;
	look->unfinished_count = 0;
	sort_names(look);
	run_scan_roots(plan->root, plan->is_inductor, scan_root, look);
	for (size_t i = 0; i < look->trees.count; i++)
		run_scan_tree(&look->trees.items[i], scan_file, look);
}

/* What makes no sense was found out when the plan was made. */
static void open_trees(struct look *look, const struct run *run)
{
	struct tkb_error err = { .status = 0 };

	if (run->shared->plan.has_trees &&
	    run_engine_trees(run->args, &run->shared->plan, &look->trees,
	                     &err) != 0)
		look->trees.count = 0;
}

void run_watch_learn(void *self)
{
	struct run *const run = self;
	struct look look = { .shared = run->shared, .is_learning = true };

	open_trees(&look, run);
	scan_all(&look);
	run->shared->baseline_size = run->shared->name_size;
	run->shared->told_size = run->shared->name_size;
	run->shared->has_baseline = !run->shared->is_full;
	free(look.known);
	trees_release(&look.trees);
}

/* When the folders of keys were last changed, in one number. */
static void add_time(void *self, const char *path)
{
	uint64_t *const sum = self;
	struct stat status;

	if (stat(path, &status) == 0)
		*sum = *sum * 31 +
		       (uint64_t)status.st_mtim.tv_sec * 1000000000 +
		       (uint64_t)status.st_mtim.tv_nsec;
}

static uint64_t times_of(const struct run_plan *plan)
{
	uint64_t sum = 0;

	run_scan_roots(plan->root, plan->is_inductor, add_time, &sum);
	return sum;
}

static void add_entry(void *self, const char *path, const char *key,
                      bool is_emitted)
{
	const struct look *const look = self;
	char name[RUN_PATH_SIZE];

	(void)is_emitted;
	if (make_name(path, key, name) && !is_known(look, name))
		add_name(look->shared, name);
}

void run_watch_wait(void *self)
{
	const struct run *const run = self;
	const struct run_plan *const plan = &run->shared->plan;
	struct look look = { .shared = run->shared, .is_learning = true };
	unsigned looks = 0; /* since the first new entry */
	uint64_t seen = 0;

	open_trees(&look, run);
	/* Entries of a pull that ended late are not new. */
	sort_names(&look);
	(void)run_document_each(&run->children[RUN_PULL], add_entry, &look);
	while (!run->shared->is_full) {
		const uint64_t times = times_of(plan);

		/* A key's folder is made before the compile: it is looked
		   into until its group file has come. */
		look.new_count = 0;
		if (times != seen || look.unfinished_count > 0 ||
		    look.trees.count != 0)
			scan_all(&look);
		seen = times;

		looks += looks > 0 || look.new_count > 0 ? 1 : 0;
		if (looks > 0 && (look.new_count == 0 || looks > BATCH_LOOKS))
			break;
		(void)sleep(LOOK_S);
	}

	/* Too many names to remember: the last push finds the entries. */
	while (run->shared->is_full)
		(void)pause();
	free(look.known);
	trees_release(&look.trees);
}
