/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <tkbundle/maintain.h>

#include "cli/deadline.h"
#include "cli/fd.h"
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
	struct run_name *known; /* owned; sorted */
	size_t known_count;
	size_t unfinished_count; /* folders without a publishing file yet */
	size_t new_count;
	bool is_learning;    /* add new names to the known ones */
	uint64_t settle_ms;  /* a push takes no unit that changed later */
	int64_t since_ns;    /* files of known units that were written after
	                        this time are new */
	struct timespec now; /* by the file systems' clock */
	struct trees trees;
};

/* Of names with one path, the later one comes last. */
static int compare_known_names(const void *a, const void *b)
{
	const struct run_name *const left = a;
	const struct run_name *const right = b;
	const int order = strcmp(left->path, right->path);

	return order != 0 ? order
	                  : (left->path > right->path) -
	                            (left->path < right->path);
}

/* Sort the known names; if out of memory, no name counts as known. */
static void sort_names(struct look *look)
{
	const struct run_shared *const shared = look->shared;
	struct run_name name;
	size_t count = 0;

	for (size_t at = 0; run_scan_next(shared, &at, &name);)
		count++;
	free(look->known);
	look->known_count = 0;
	look->known = calloc(count + 1, sizeof(*look->known));
	if (look->known == NULL)
		return;
	for (size_t at = 0; run_scan_next(shared, &at, &name);)
		look->known[look->known_count++] = name;
	qsort(look->known, look->known_count, sizeof(*look->known),
	      compare_known_names);
}

static int compare_path(const void *path, const void *name)
{
	const struct run_name *const right = name;

	return strcmp(path, right->path);
}

/* @return the latest name with this path, or NULL */
static const struct run_name *find_known_name(const struct look *look,
                                              const char *path)
{
	const struct run_name *const end = look->known + look->known_count;
	const struct run_name *found =
		look->known != NULL
			? bsearch(path, look->known, look->known_count,
	                          sizeof(*look->known), compare_path)
			: NULL;

	while (found != NULL && found + 1 < end &&
	       strcmp(found[1].path, path) == 0)
		found++;
	return found;
}

static void scan_key(void *self, int root_fd, const char *path, const char *key)
{
	struct look *const look = self;
	char name[RUN_PATH_SIZE];
	struct stat stamp;

	if (!folder_join(name, sizeof(name), path, key) ||
	    find_known_name(look, name) != NULL)
		return;
	if (!run_scan_stamp(root_fd, key, &stamp)) {
		look->unfinished_count++;
		return;
	}

	look->new_count++;
	if (look->is_learning)
		run_scan_keep(
			look->shared,
			&(struct run_name){ name, run_scan_key_stamp(&stamp) });
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

/*
 * Is there nothing to push for this file? Wait for a known one that is being
 * written: a push would leave it out each time. For units that a pull has
 * emitted late, only the unit's name is known.
 */
static bool is_known_file(const struct look *look, const char *path,
                          const struct run_scan_unit *in,
                          const struct stat *status)
{
	const struct run_name *const file = find_known_name(look, path);
	char unit[RUN_PATH_SIZE];

	if (file != NULL && file->stamp != 0)
		return file->stamp > 0 &&
		       (file->stamp == run_scan_file_stamp(in, status) ||
		        !is_settled(look, status));
	/* All that was there before has a stamp. */
	if (look->shared->has_baseline)
		return false;
	(void)snprintf(unit, sizeof(unit), "%.*s", (int)in->size, path);
	return (file != NULL || find_known_name(look, unit) != NULL) &&
	       run_scan_time_ns(&status->st_mtim) <= look->since_ns;
}

static void scan_file(void *self, const char *path,
                      const struct run_scan_unit *in, const struct stat *status)
{
	struct look *const look = self;
	const int64_t stamp = run_scan_file_stamp(in, status);

	if (is_known_file(look, path, in, status))
		return;
	look->new_count++;
	if (look->is_learning)
		run_scan_keep(look->shared,
		              &(struct run_name){ path, is_settled(look, status)
		                                                ? stamp
		                                                : -stamp });
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

void run_watch_learn_early(void *self)
{
	struct run *const run = self;
	struct look look = { .shared = run->shared, .is_learning = true };

	open_trees(&look, run);
	scan_all(&look);
	run->shared->baseline_size = run->shared->name_size;
	run->shared->told_size = run->shared->name_size;
	free(look.known);
	trees_release(&look.trees);
}

void run_watch_learn(void *self)
{
	struct run *const run = self;

	run_watch_learn_early(self);
	run->shared->told_ns = run->shared->learnt_ns;
	run->shared->has_baseline = !run->shared->is_full;
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
                             enum run_pulled what)
{
	const struct look *const look = self;

	(void)kind;
	if ((what == RUN_PULLED_EMITTED || what == RUN_PULLED_PRESENT) &&
	    find_known_name(look, path) == NULL)
		run_scan_keep(look->shared, &(struct run_name){ path, 0 });
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
		             .settle_ms = plan->quiet_ms,
		             .since_ns = run_count_known_until(run) };

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
	run_count_to_push(self);
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
