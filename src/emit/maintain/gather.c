/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/maintain.h>

#include <fcntl.h>
#include <stdlib.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/struct.h"
#include "cache/cache.h"
#include "cache/key.h"
#include "cache/names.h"
#include "emit/batch.h"
#include "emit/destination.h"
#include "tree/walk.h"

/*
 * Roots are, in order: the root that gathers the kernels, the roots of the
 * trees, and the roots of kernels in the trees. Entries are read from these
 * last ones.
 */
struct gatherer {
	const struct tkb_gather_options *options;
	struct tkb_roots roots;
	struct tkb_named_root *named; /* owned; names and paths of the trees */
	size_t tree;                  /* the index of the tree being listed */
	struct tkb_batch batch;       /* its jobs are the found entries */
	struct tkb_loader source;     /* owns what was found */
	struct tkb_loader loader;     /* for what is read again */
	struct tkb_scanned_entry *found; /* owned */
	size_t found_count;
	size_t found_capacity;
	struct tkb_gather_report report;
};

static void gatherer_close(struct gatherer *gatherer)
{
	tkb_batch_release(&gatherer->batch);
	tkb_loader_close(&gatherer->source);
	tkb_loader_close(&gatherer->loader);
	free(gatherer->found);
	free(gatherer->named);
	tkb_roots_release(&gatherer->roots);
}

static int check_gatherer(void *self, struct tkb_error *err)
{
	struct gatherer *gatherer = self;

	return tkb_watcher_check(&gatherer->batch.watcher, err);
}

/* Ignore a folder that cannot be opened. */
static int add_kernels_root(void *self, const struct tkb_tree_item *item,
                            struct tkb_error *err)
{
	struct gatherer *gatherer = self;
	int rc;

	if (item->thing != TKB_TREE_THING_KERNELS)
		return 0;
	rc = tkb_root_add_nested(&gatherer->roots, gatherer->tree, item->path,
	                         err);
	return rc == TKB_ERR_IO ? 0 : rc;
}

/* Open the roots of kernels that are in the trees. */
static int find_roots(struct gatherer *gatherer, struct tkb_error *err)
{
	const struct tkb_gather_options *options = gatherer->options;
	const struct tkb_tree_visitor visitor = { .self = gatherer,
		                                  .check = check_gatherer,
		                                  .visit = add_kernels_root };
	const size_t first = gatherer->roots.count;
	int rc;

	rc = tkb_roots_add_trees(options->trees, options->tree_count, false,
	                         &gatherer->roots, &gatherer->named, err);
	for (size_t i = 0; i < options->tree_count && rc == 0; i++) {
		const struct tkb_root *root = &gatherer->roots.items[first + i];

		gatherer->tree = first + i;
		if (root->fd >= 0 && !root->tree->is_external)
			rc = tkb_tree_walk(root->fd, NULL, root->tree->rules,
			                   &visitor, err);
	}
	return rc;
}

/* Is `name` a file, or a link to one, that is not empty? */
static bool has_file(int dir_fd, const char *name)
{
	struct stat status;

	return fstatat(dir_fd, name, &status, 0) == 0 &&
	       S_ISREG(status.st_mode) && status.st_size != 0;
}

/*
 * Does the first root have each file of folder `key` of `root` that a launch
 * reads? Only names are compared, because each start asks this for all entries.
 */
static bool is_there(const struct gatherer *gatherer,
                     const struct tkb_root *root, const char *key)
{
	TKB_AUTO(tkb_fd_close_at)
	int there = tkb_fd_open(gatherer->roots.items[0].fd, key,
	                        O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item;

	if (there < 0 || tkb_dir_open(root->fd, key, &dir, NULL) < 0)
		return false;
	for (item = readdir(dir); item != NULL; item = readdir(dir)) {
		if ((item->d_type == DT_REG || item->d_type == DT_UNKNOWN) &&
		    item->d_name[0] != '.' &&
		    !tkb_name_is_lean_drop(item->d_name) &&
		    !has_file(there, item->d_name))
			return false;
	}
	return true;
}

static int report_left_out(struct gatherer *gatherer,
                           const struct tkb_root *root, const char *key,
                           const struct tkb_error *why)
{
	const struct tkb_result result = {
		.root = root->path,
		.key = key,
		.name = "",
		.outcome = TKB_OUTCOME_LEFT_OUT,
		.reason = (enum tkb_reason)why->reason,
		.message = why->message,
	};

	gatherer->report.left_out_count++;
	tkb_watcher_result(&gatherer->batch.watcher, &result);
	return 0;
}

/* Add an entry, unless the first root has it or a compiler still writes it. */
static int add_gathered_entry(struct gatherer *gatherer,
                              const struct tkb_root *root, const char *key,
                              struct tkb_error *err)
{
	struct tkb_scanned_entry found = { 0 };
	struct tkb_error why = { 0 };
	int rc;

	if (is_there(gatherer, root, key)) {
		gatherer->report.present_count++;
		return 0;
	}
	rc = tkb_scanned_entry_load(&gatherer->source, root, key, &found, &why);
	if (rc == TKB_MISS)
		return 0;
	if (rc < 0 && tkb_failure_is_of_entry(rc, &why))
		return report_left_out(gatherer, root, key, &why);
	if (rc < 0) {
		*err = why;
		return rc;
	}
	return tkb_append(&gatherer->found, &gatherer->found_count,
	                  &gatherer->found_capacity, &found, sizeof(found),
	                  err);
}

static int list_root(struct gatherer *gatherer, const struct tkb_root *root,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_dir_close_at) DIR *dir = NULL;
	const struct dirent *item = NULL;
	int rc;

	rc = tkb_dir_open(root->fd, ".", &dir, err);
	while (rc == 0) {
		rc = tkb_dir_next(dir, &item, err);
		if (rc != 0)
			break;
		rc = check_gatherer(gatherer, err);
		if (rc == 0 &&
		    (item->d_type == DT_DIR || item->d_type == DT_UNKNOWN) &&
		    tkb_key_is_valid(item->d_name))
			rc = add_gathered_entry(gatherer, root, item->d_name,
			                        err);
	}
	return rc < 0 ? tkb_fail_while(err, rc, "'%s'", root->path) : 0;
}

/* Find the entries that the first root lacks, and make a job for each. */
static int find_entries(struct gatherer *gatherer, struct tkb_error *err)
{
	const size_t first = 1 + gatherer->options->tree_count;
	int rc;

	rc = tkb_loader_open(&gatherer->source, false, false, err);
	for (size_t i = first; i < gatherer->roots.count && rc == 0; i++)
		rc = list_root(gatherer, &gatherer->roots.items[i], err);
	for (size_t i = 0; i < gatherer->found_count && rc == 0; i++)
		rc = tkb_batch_add_job(&gatherer->batch,
		                       &gatherer->found[i].entry, 0, err);
	tkb_batch_set_total(&gatherer->batch);
	return rc;
}

/* Read an entry, inspect its destination, and link it to there. */
static int bring(struct gatherer *gatherer, size_t index,
                 enum tkb_outcome *outcome, struct tkb_error *err)
{
	const struct tkb_scanned_entry *found = &gatherer->found[index];
	const struct tkb_destination to = {
		.stage = &gatherer->batch.stages[0],
		.entry = &found->entry,
		.number = index,
	};
	enum tkb_entry_state state = TKB_ENTRY_STATE_ABSENT;
	int rc;

	if (is_there(gatherer, found->root, found->entry.key))
		return 0; /* another tree or process has brought it */
	rc = tkb_scanned_entry_read_all(&gatherer->loader, found, err);
	if (rc == 0)
		rc = tkb_inspect_destination(&gatherer->loader, to.stage->root,
		                             to.entry, false, &state, err);
	if (rc == 0 && (state == TKB_ENTRY_STATE_ABSENT ||
	                state == TKB_ENTRY_STATE_BROKEN))
		rc = tkb_destination_link(&to, &gatherer->loader, found, err);
	if (rc < 0)
		return rc;
	return tkb_destination_commit(&to, &gatherer->loader, state, outcome,
	                              err);
}

static int gather_entry(void *self, size_t worker, size_t index,
                        struct tkb_error *err)
{
	struct gatherer *gatherer = self;
	struct tkb_batch *batch = &gatherer->batch;
	struct tkb_job *job = &batch->jobs[index];
	enum tkb_outcome outcome = TKB_OUTCOME_PRESENT;
	struct tkb_error fault = { 0 };
	int rc;

	(void)worker; /* one thread: an entry is only a few links */
	tkb_arena_release(&gatherer->loader.arena);
	rc = bring(gatherer, index, &outcome, &fault);
	if (rc < 0)
		return tkb_batch_fail(batch, job,
		                      rc == TKB_ERR_IO ? TKB_OUTCOME_FAILED
		                                       : TKB_OUTCOME_LEFT_OUT,
		                      rc, &fault, err);
	if (outcome == TKB_OUTCOME_SKIPPED)
		tkb_batch_finish(batch, job, outcome, TKB_REASON_BUSY,
		                 "a compiler is writing it");
	else
		tkb_batch_done(batch, job, outcome);
	return 0;
}

static int gather_entries(struct gatherer *gatherer, const char *path,
                          struct tkb_error *err)
{
	struct tkb_batch *batch = &gatherer->batch;
	int rc;

	rc = tkb_root_make(path, false, 0, true, &gatherer->roots, err);
	if (rc == 0)
		rc = find_roots(gatherer, err);
	if (rc == 0)
		rc = find_entries(gatherer, err);
	if (rc < 0 || batch->job_count == 0)
		return rc;
	rc = tkb_batch_init_stages(batch, &gatherer->roots, NULL, false, err);
	if (rc == 0)
		rc = tkb_batch_open_stages(batch, err);
	if (rc == 0)
		rc = tkb_loader_open(&gatherer->loader, false, false, err);
	return rc < 0 ? rc
	              : tkb_batch_run(batch, 1, gather_entry, gatherer, err);
}

static void count_gathered(void *self, const struct tkb_result *result)
{
	struct tkb_gather_report *report = self;
	const enum tkb_outcome outcome = result->outcome;

	report->gathered_count += outcome == TKB_OUTCOME_EMITTED ||
	                          outcome == TKB_OUTCOME_REPAIRED;
	report->present_count += outcome == TKB_OUTCOME_PRESENT;
	report->left_out_count += outcome == TKB_OUTCOME_SKIPPED ||
	                          outcome == TKB_OUTCOME_LEFT_OUT;
	report->failed_count += outcome == TKB_OUTCOME_FAILED;
}

int tkb_gather_kernels(const char *cache_root,
                       const struct tkb_gather_options *options,
                       struct tkb_gather_report *report, struct tkb_error *err)
{
	struct tkb_gather_options chosen;
	TKB_AUTO(gatherer_close)
	struct gatherer gatherer = { .options = &chosen };
	struct tkb_error fault = { 0 };
	int rc;

	rc = TKB_STRUCT_READ(tkb_gather_options, watch, &chosen, options, err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_gather_report, failed_count, report,
		                      err);
	if (rc == 0)
		rc = tkb_batch_begin(&gatherer.batch, chosen.is_enabled,
		                     chosen.watch, chosen.deadline_ms, err);
	if (rc < 0)
		return rc;
	if (rc == 0) {
		rc = gather_entries(&gatherer, cache_root, &fault);
		if (gatherer.batch.roots != NULL)
			tkb_batch_report(&gatherer.batch, count_gathered,
			                 &gatherer.report);
		tkb_watcher_finish(&gatherer.batch.watcher);
		if (rc != 0)
			return tkb_batch_end(&gatherer.batch, rc, &fault, err);
	}
	TKB_STRUCT_WRITE(tkb_gather_report, report, &gatherer.report);
	return tkb_partial(&gatherer.batch.watcher.first, err);
}
