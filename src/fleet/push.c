/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/push.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "base/clock.h"
#include "base/fd.h"
#include "fleet/compact.h"
#include "fleet/push_session.h"
#include "tree/unit_names.h"

/*
 * Two requests tell what the ref holds: one for its records, one for whether
 * their blobs still exist. Everything else in the cache is packed and uploaded,
 * even if the blob exists: a gc may be about to remove that blob.
 */

enum {
	LOCK_S = 10, /* wait for another push of the same cache */
	LOCK_NAP_MS = 20
};

static void pusher_close(struct tkb_pusher *pusher)
{
	tkb_record_list_release(&pusher->records);
	tkb_identities_release(&pusher->held);
	tkb_record_list_release(&pusher->base);
	tkb_identities_release(&pusher->held_by_base);
	tkb_cache_close(pusher->cache);
	tkb_times_close(pusher->times);
	tkb_makers_close(pusher->makers);
	tkb_versions_release(&pusher->versions);
	tkb_signer_release(&pusher->signer_room);
	tkb_results_free(pusher->results);
	tkb_watcher_release(&pusher->watcher);
	free(pusher->picks);
	free(pusher->has_again);
	free(pusher->is_told);
}

/*
 * Drop records whose blob is gone. Only the last writable tier is asked: the
 * whole fleet shares that one, and nearer tiers are filled on demand.
 */
static int drop_holes(struct tkb_pusher *pusher, struct tkb_error *err)
{
	struct tkb_record_list *records = &pusher->records;
	const size_t count = records->count;
	int rc;

	rc = tkb_records_check(pusher->remote, records, false, err);
	if (rc == 0 && !pusher->options->collect->is_dry_run)
		rc = tkb_records_drop_holes(pusher->remote, pusher->ref,
		                            records, err);
	if (rc < 0)
		return rc;
	rc = tkb_records_keep_whole(records, err);
	pusher->report.dropped_count += count - records->count;
	return rc;
}

/*
 * Report the progress of packing or uploading a blob, added to that of finished
 * steps.
 */
static void report_progress(void *self, uint64_t done, uint64_t total)
{
	struct tkb_pusher *pusher = self;

	pusher->doing = total;
	tkb_watch_tell(pusher->watcher.watch, pusher->done + done,
	               pusher->done + total);
}

static void end_progress(struct tkb_pusher *pusher)
{
	pusher->done += pusher->doing;
	pusher->doing = 0;
}

static void keep_result(void *self, const struct tkb_result *result)
{
	const struct tkb_pusher *pusher = self;
	const struct tkb_watch *keeper = tkb_results_watch(pusher->results);

	keeper->on_result(keeper->self, result);
}

static bool is_push_cancelled(void *self)
{
	const struct tkb_pusher *pusher = self;

	return tkb_watch_is_cancelled(pusher->watcher.watch);
}

static int upload_part(struct tkb_pusher *pusher,
                       struct tkb_blob_buffer *buffer, uint64_t count,
                       const struct tkb_watch *watch, struct tkb_uptake *uptake,
                       struct tkb_error *err)
{
	TKB_AUTO(tkb_pushes_release) struct tkb_pushes pushes = { 0 };
	const struct tkb_record_facts facts = { pusher->times,
		                                &pusher->versions, &pushes,
		                                pusher->makers,
		                                pusher->signer };
	int rc;

	rc = tkb_pushes_begin(&pushes, pusher->options->labels,
	                      pusher->options->label_count, count, err);
	if (rc < 0)
		return rc;
	rc = tkb_push_blob(pusher->remote, pusher->ref, buffer, &facts, watch,
	                   NULL, uptake, err);
	end_progress(pusher);
	if (rc < 0)
		return rc;
	if (uptake->missed.status == TKB_ERR_TOO_LARGE ||
	    (uptake->missed.status != 0 && pusher->options->collect->is_strict))
		return tkb_fail_as(err, uptake->missed.status, &uptake->missed);
	pusher->report.blob_count++;
	pusher->report.size += buffer->size;
	return 0;
}

/* Report what packing a part said. What is packed may still be left out. */
static int report_kept(struct tkb_pusher *pusher, bool is_missed,
                       struct tkb_error *err)
{
	for (size_t i = 0; i < tkb_results_count(pusher->results); i++) {
		const struct tkb_result *result =
			tkb_results_at(pusher->results, i);

		if (!is_missed || result->outcome != TKB_OUTCOME_COLLECTED)
			tkb_pusher_report(pusher, result);
	}
	return tkb_results_is_cut(pusher->results) ? tkb_fail_nomem(err) : 0;
}

/* The pick's entry as results name it: a unit by its path here. */
static const char *name_of(const struct tkb_pick *pick)
{
	return pick->is_unit
	               ? tkb_unit_names_here(pick->found->root->names,
	                                     pick->found->entry.name, NULL)
	               : pick->key;
}

/*
 * The fleet does not get the entry of a pick: leave it out, and say why. One of
 * several devices has as many picks, and is told once.
 */
static void leave_out(struct tkb_pusher *pusher, const struct tkb_pick *pick,
                      const struct tkb_error *why)
{
	const struct tkb_entry *entry = &pick->found->entry;
	const struct tkb_result result = {
		.root = pick->found->root->path,
		.key = name_of(pick),
		.name = pick->is_unit ? "" : entry->name,
		.outcome = TKB_OUTCOME_LEFT_OUT,
		.reason = why->status == TKB_ERR_TOO_LARGE ? TKB_REASON_LIMIT
		                                           : TKB_REASON_IO,
		.message = why->message,
	};
	bool *is_told = &pusher->is_told[pick->found - pusher->cache->found];

	if (!*is_told)
		tkb_pusher_report(pusher, &result);
	*is_told = true;
}

/* Leave out what is packed in `buffer`, of `picks`. */
static int leave_out_blob(struct tkb_pusher *pusher,
                          struct tkb_blob_buffer *buffer,
                          const struct tkb_pick *picks, size_t count,
                          const struct tkb_error *why, struct tkb_error *err)
{
	const struct tkb_source source = tkb_blob_buffer_source(buffer);
	struct tkb_bundle *bundle = NULL;
	int rc;

	rc = tkb_bundle_open_source(&source, "the bundle", &bundle, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		const struct tkb_entry *entry = tkb_bundle_entry(bundle, i);
		const struct tkb_pick wanted = { .key = entry->key,
			                         .device = entry->devices[0] };
		const struct tkb_pick *pick =
			bsearch(&wanted, picks, count, sizeof(*picks),
		                tkb_compare_picks);

		if (pick != NULL)
			leave_out(pusher, pick, why);
	}
	tkb_bundle_close(bundle);
	return 0;
}

/*
 * Pack `count` picks into one blob, and push it. Only a blob of one pick may be
 * as large as the remote allows: of a blob of several, readers may need a part.
 * Nothing is reported of one that is too large: its halves will be.
 */
static int push_part(struct tkb_pusher *pusher,
                     const struct tkb_collect_options *options,
                     struct tkb_pick *picks, size_t count,
                     struct tkb_error *err)
{
	TKB_AUTO(tkb_blob_buffer_release)
	struct tkb_blob_buffer buffer = TKB_BLOB_BUFFER_INIT(
		count == 1 ? pusher->remote->max_blob_size
			   : tkb_remote_part_size(pusher->remote));
	const struct tkb_collect_selection selection = { .picks = picks,
		                                         .pick_count = count };
	const struct tkb_sink sink = tkb_blob_buffer_sink(&buffer);
	const struct tkb_collect_target to = { .sink = &sink };
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	struct tkb_uptake uptake = { .is_divisible = count > 1 };
	int kept;
	int rc;

	tkb_results_free(tkb_take(pusher->results));
	rc = tkb_results_new(&pusher->results, err);
	if (rc < 0)
		return rc;
	rc = tkb_collect_selected(pusher->root, options, &selection, &to,
	                          &report, err);
	end_progress(pusher);
	if (rc == TKB_ERR_TOO_LARGE)
		return tkb_fail_while(err, rc, "its blob");
	if (tkb_is_done(rc) && report.collected_count != 0 &&
	    !options->is_dry_run)
		rc = upload_part(pusher, &buffer, report.collected_count,
		                 options->watch, &uptake, err);
	if (rc == TKB_ERR_TOO_LARGE)
		return rc;
	kept = report_kept(pusher, uptake.missed.status != 0, err);
	if (!tkb_is_done(rc))
		return rc;
	if (kept < 0)
		return kept;
	if (uptake.missed.status != 0)
		return leave_out_blob(pusher, &buffer, picks, count,
		                      &uptake.missed, err);
	pusher->report.pushed_count += report.collected_count;
	return 0;
}

/* How many of the picks from `first` on, of at most `most`, for one blob? */
static size_t part_at(const struct tkb_pusher *pusher, size_t first,
                      size_t most)
{
	const uint64_t limit = tkb_remote_part_size(pusher->remote);
	size_t count = 0;

	while (first + count < pusher->pick_count && count < most &&
	       tkb_entry_size(&pusher->picks[first + count].found->entry) <=
	               limit)
		count++;
	return count != 0 ? count : 1;
}

/* Say which entry has no place in the remote. */
static int fail_large(const struct tkb_pick *pick, const struct tkb_error *why,
                      struct tkb_error *err)
{
	const int rc = tkb_fail_as(err, TKB_ERR_TOO_LARGE, why);

	return tkb_fail_while(err, rc, "entry '%s'", name_of(pick));
}

static int open_notes(struct tkb_pusher *pusher, struct tkb_error *err)
{
	/* Notes are optional: ignore failures. */
	if (pusher->root != NULL &&
	    (tkb_times_open(pusher->root, &pusher->times, NULL) ==
	             TKB_ERR_NOMEM ||
	     tkb_makers_open(pusher->root, &pusher->makers, NULL) ==
	             TKB_ERR_NOMEM))
		return tkb_fail_nomem(err);
	return 0;
}

/* Push all picks; if they are too large for one blob, halve them. */
static int push_lacking(struct tkb_pusher *pusher, struct tkb_error *err)
{
	const struct tkb_watch watch = {
		.struct_size = sizeof(watch),
		.self = pusher,
		.on_result = keep_result,
		.on_progress = report_progress,
		.is_cancelled = is_push_cancelled,
	};
	struct tkb_collect_options options = *pusher->options->collect;
	size_t most = pusher->pick_count;
	size_t done = 0;
	int rc;

	/* The entries were already chosen by the caller's filter. */
	options.keys = NULL;
	options.key_count = 0;
	options.has_device = false;
	options.watch = &watch;
	rc = open_notes(pusher, err);
	while (rc == 0 && done < pusher->pick_count) {
		const size_t count = part_at(pusher, done, most);
		struct tkb_error fault = { 0 };

		rc = push_part(pusher, &options, pusher->picks + done, count,
		               &fault);
		if (rc == TKB_ERR_TOO_LARGE && count > 1) {
			most = (count + 1) / 2;
			rc = 0;
			continue;
		}
		if (rc == TKB_ERR_TOO_LARGE && !options.is_strict) {
			leave_out(pusher, &pusher->picks[done], &fault);
			rc = 0;
		}
		if (rc == TKB_ERR_TOO_LARGE)
			return fail_large(&pusher->picks[done], &fault, err);
		if (rc != 0)
			return tkb_fail_as(err, rc, &fault);
		done += count;
	}
	return rc;
}

/*
 * Stamp records whose entries were pushed again: they are in use, even if no
 * reader has the right to stamp them.
 */
static void stamp_records(const struct tkb_pusher *pusher)
{
	const struct tkb_record_list *records = &pusher->records;

	for (size_t i = 0; i < records->count; i++) {
		if (pusher->report.present_count == 0 ||
		    !tkb_record_stamp(pusher->remote, pusher->ref,
		                      &records->items[i]))
			return;
	}
}

static int push_missing(struct tkb_pusher *pusher, struct tkb_error *err)
{
	const struct tkb_push_options *options = pusher->options;
	const bool is_dry_run = options->collect->is_dry_run;
	int rc;

	rc = tkb_record_list_read(pusher->remote, pusher->ref, false,
	                          &pusher->records, err);
	if (rc < 0)
		return rc;
	pusher->report.record_count = pusher->records.count;
	if (!is_dry_run)
		rc = tkb_records_drop_damaged(
			pusher->remote, pusher->ref, &pusher->records,
			&pusher->report.dropped_count, err);
	if (rc == 0)
		rc = drop_holes(pusher, err);
	if (rc == 0)
		rc = tkb_push_ref_begin(&pusher->signer_room, options,
		                        pusher->remote, pusher->ref,
		                        &pusher->records, &pusher->signer, err);
	if (rc == 0)
		rc = tkb_pusher_find(pusher, err);
	if (rc == 0)
		rc = push_lacking(pusher, err);
	if (rc == 0 && !is_dry_run)
		stamp_records(pusher);
	if (rc == 0 && !options->is_compaction_off)
		rc = tkb_compact_after_push(pusher->remote, pusher->ref,
		                            pusher->signer, &pusher->report,
		                            err);
	return rc;
}

/*
 * Wait for another push of this cache: two that begin at once would both upload
 * the new entries. This only saves work: if the folder cannot be locked, or
 * another process keeps the lock, the push continues without it.
 */
static int lock_cache(const struct tkb_pusher *pusher, int *lock_out,
                      struct tkb_error *err)
{
	static const struct timespec nap = { .tv_nsec = LOCK_NAP_MS * 1000000 };
	const uint64_t end_ns = tkb_now_ns() + (uint64_t)LOCK_S * 1000000000;
	int rc = 0;

	if (pusher->root == NULL || pusher->options->collect->is_dry_run)
		return 0;
	*lock_out =
		tkb_fd_open(AT_FDCWD, pusher->root, O_RDONLY | O_DIRECTORY, 0);
	while (rc == 0 && *lock_out >= 0 &&
	       flock(*lock_out, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || tkb_now_ns() >= end_ns)
			return 0;
		(void)nanosleep(&nap, NULL);
		rc = tkb_watch_check(pusher->watcher.watch, err);
	}
	return rc;
}

static int push_bundles(struct tkb_pusher *pusher,
                        const struct tkb_push_options *options,
                        struct tkb_error *err)
{
	TKB_AUTO(tkb_fd_unlock_at) int lock = -1;
	int rc;

	pusher->options = options;
	tkb_watcher_init(&pusher->watcher, options->collect->watch, 0);
	pusher->has_again = calloc(options->again_count + 1, sizeof(bool));
	if (pusher->has_again == NULL)
		return tkb_fail_nomem(err);
	rc = lock_cache(pusher, &lock, err);
	return rc == 0 ? push_missing(pusher, err) : rc;
}

int tkb_push(struct tkb_remote *remote, const char *ref, const char *cache_root,
             const struct tkb_push_options *options,
             struct tkb_push_report *report, struct tkb_error *err)
{
	TKB_AUTO(pusher_close)
	struct tkb_pusher pusher = { .remote = remote,
		                     .ref = ref,
		                     .root = cache_root };
	struct tkb_push_session session = { 0 };
	int rc;

	rc = tkb_push_session_begin(&session, remote, options, report, err);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	if (session.options.layout == TKB_PUSH_LAYOUT_TRITON)
		rc = tkb_push_triton(remote, cache_root, &session.options,
		                     &pusher.report, err);
	else
		rc = push_bundles(&pusher, &session.options, err);
	if (rc == 0)
		rc = tkb_partial(&pusher.watcher.first, err);
	return tkb_push_session_end(&session, rc, &pusher.report, report, err);
}
