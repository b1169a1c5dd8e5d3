/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <tkbundle/maintain.h>

#include "cli/deadline.h"
#include "run/run_count.h"
#include "run/run_document.h"
#include "run/run_engine.h"
#include "run/run_note.h"
#include "run/run_ready.h"
#include "run/run_scan.h"

#define LOOKS 4      /* number of looks in a quiet time */
#define LOOK_MS 2000 /* longest time between two looks */
#define LOOK_LEAST_MS 20
#define NICENESS 10

/* A scan of all entries. */
struct look {
	struct run_shared *shared;
	const char **known; /* owned; sorted */
	size_t known_count;
	size_t unfinished_count; /* folders without a publishing file yet */
	size_t new_count;
	bool is_learning;    /* add new names to the known ones */
	uint64_t settle_ms;  /* but not files that changed after this time */
	int64_t since_ns;    /* known files that changed after this time are
	                        new */
	struct timespec now; /* by the file systems' clock */
	struct trees trees;
};

static int compare_known_names(const void *a, const void *b)
{
	const char *const *const left = a;
	const char *const *const right = b;

	return strcmp(*left, *right);
}

/* Sort the known names; if out of memory, no name counts as known. */
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
	      compare_known_names);
}

static bool is_known_name(const struct look *look, const char *name)
{
	return look->known != NULL &&
	       bsearch(&name, look->known, look->known_count,
	               sizeof(*look->known), compare_known_names) != NULL;
}

static void add_known_name(struct run_shared *shared, const char *name)
{
	const size_t size = strlen(name) + 1;

	if (sizeof(shared->names) - shared->name_size < size) {
		shared->is_full = true;
		return;
	}
	(void)memcpy(shared->names + shared->name_size, name, size);
	shared->name_size += size;
}

static bool make_entry_path(const char *path, const char *key,
                            char out[RUN_PATH_SIZE])
{
	return snprintf(out, RUN_PATH_SIZE, "%s/%s", path, key) < RUN_PATH_SIZE;
}

static void scan_key(void *self, int root_fd, const char *path, const char *key)
{
	struct look *const look = self;
	char name[RUN_PATH_SIZE];
	struct stat stamp;

	if (!make_entry_path(path, key, name) || is_known_name(look, name))
		return;
	if (!run_scan_stamp(root_fd, key, &stamp)) {
		look->unfinished_count++;
		return;
	}

	look->new_count++;
	if (look->is_learning)
		add_known_name(look->shared, name);
}

static void scan_root(void *self, const char *path)
{
	run_scan_keys(path, scan_key, self);
}

/* Is its last change so long ago that a push takes its unit? */
static bool is_settled(const struct look *look, const struct stat *status)
{
	const int64_t age_ms =
		((int64_t)look->now.tv_sec - status->st_ctim.tv_sec) * 1000 +
		(look->now.tv_nsec - status->st_ctim.tv_nsec) / 1000000;

	return age_ms >= (int64_t)look->settle_ms ||
	       -age_ms >= (int64_t)look->settle_ms;
}

/* For units that a pull has emitted, only the unit's name is known. */
static void scan_file(void *self, const char *path,
                      const struct run_scan_unit *in, const struct stat *status)
{
	struct look *const look = self;
	char unit[RUN_PATH_SIZE];

	(void)snprintf(unit, sizeof(unit), "%.*s", (int)in->size, path);
	if ((is_known_name(look, path) || is_known_name(look, unit)) &&
	    (!in->is_tuned ||
	     run_scan_time_ns(&status->st_ctim) <= look->since_ns))
		return;
	look->new_count++;
	if (look->is_learning && is_settled(look, status) &&
	    !is_known_name(look, path))
		add_known_name(look->shared, path);
}

static void scan_all(struct look *look)
{
	const struct run_plan *const plan = &look->shared->plan;
	const struct run_tree_visitor visitor = { look, scan_file, scan_root };

	look->new_count = 0;
	look->unfinished_count = 0;
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &look->now);
	sort_names(look);
	run_scan_roots(plan->root, plan->is_inductor, scan_root, look);
	for (size_t i = 0; i < look->trees.count; i++)
		run_scan_tree(&look->trees.items[i], &visitor);
	/* Ignore a file that was just written: a push would leave it out. */
	if (look->is_learning)
		look->shared->learnt_ns = run_scan_time_ns(&look->now) -
		                          (int64_t)look->settle_ms * 1000000;
}

/* Bad choices were reported when the plan was made. */
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

/* A number that changes when the times of the folders of keys change. */
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

static void add_pulled_entry(void *self, size_t kind, const char *path,
                             bool is_emitted)
{
	const struct look *const look = self;

	(void)kind;
	(void)is_emitted;
	if (!is_known_name(look, path))
		add_known_name(look->shared, path);
}

static void sleep_ms(uint64_t time_ms)
{
	const struct timespec time = {
		.tv_sec = (time_t)(time_ms / 1000),
		.tv_nsec = (long)(time_ms % 1000) * 1000000,
	};

	(void)nanosleep(&time, NULL);
}

/* The time until the next look. */
static uint64_t nap_of(const struct run_plan *plan)
{
	const uint64_t nap_ms = plan->quiet_ms / LOOKS;

	if (nap_ms > LOOK_MS)
		return LOOK_MS;
	return nap_ms < LOOK_LEAST_MS ? LOOK_LEAST_MS : nap_ms;
}

/*
 * Wait for a new entry, then for more. The push must begin at most one quiet
 * time after the first one.
 */
static void wait_for_news(struct look *look)
{
	const struct run_plan *const plan = &look->shared->plan;
	const uint64_t nap_ms = nap_of(plan);
	uint64_t first_ms = 0; /* when the first new entry was found */
	uint64_t seen = 0;

	for (;;) {
		const uint64_t times = times_of(plan);
		const uint64_t now = deadline_now_ms();

		/*
		 * A compiler makes a key's folder before it compiles: look
		 * again until the group file exists.
		 */
		if (times != seen || look->unfinished_count > 0 ||
		    look->trees.count != 0)
			scan_all(look);
		seen = times;

		if (look->new_count == 0)
			first_ms = 0;
		else if (first_ms == 0)
			first_ms = now;
		if (look->new_count != 0 &&
		    now - first_ms + nap_ms >= plan->quiet_ms)
			return;
		sleep_ms(nap_ms);
	}
}

void run_watch_wait(void *self)
{
	struct run *const run = self;
	const struct run_plan *const plan = &run->shared->plan;
	struct look look = { .shared = run->shared,
		             .settle_ms = plan->quiet_ms };

	look.since_ns = run->shared->learnt_ns > run->pull_ns
	                        ? run->shared->learnt_ns
	                        : run->pull_ns;
	(void)setpriority(PRIO_PROCESS, 0, NICENESS);
	open_trees(&look, run);
	/* Entries of a pull that ended late are known, not new. */
	sort_names(&look);
	(void)run_document_each(&run->children[RUN_PULL], &look.trees,
	                        add_pulled_entry, &look);
	if (run_ready_is_asked(plan) && run->shared->ready_ms == 0) {
		run_ready_wait(run->shared);
		scan_all(&look);
	}
	if (look.new_count == 0)
		wait_for_news(&look);
	look.is_learning = true;
	scan_all(&look);
	/* The next push needs the times of the new entries. */
	run_count(self);
	run_note(self);

	/*
	 * There are too many names to remember: the last push finds the rest.
	 */
	while (run->shared->is_full)
		(void)pause();
	free(look.known);
	trees_release(&look.trees);
}

void run_hold(void *self)
{
	const struct run *const run = self;
	struct trees trees = { .engines = NULL };
	struct tkb_error err = { .status = 0 };

	/* Bad choices were reported when the plan was made. */
	if (run_engine_trees(run->args, &run->shared->plan, &trees, &err) != 0)
		return;
	for (size_t i = 0; i < trees.count; i++) {
		struct tkb_hold *hold = NULL;

		/*
		 * The hold ends with this process. A tree that is read-only for
		 * us cannot be held.
		 */
		if (tkb_hold_open(trees.items[i].path, &hold, &err) != 0)
			err.status = 0;
	}
	for (;;)
		(void)pause();
}
