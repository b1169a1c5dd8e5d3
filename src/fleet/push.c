/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/fleet.h>
#include <tkbundle/results.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "base/clock.h"
#include "base/fd.h"
#include "cache/cache.h"
#include "collect/collect.h"
#include "fleet/compact.h"
#include "fleet/identity.h"
#include "fleet/layout_triton.h"
#include "fleet/push_session.h"
#include "records/records.h"
#include "remote/remote.h"
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

struct pusher {
	struct tkb_remote *remote;
	const char *ref;
	const char *root;
	const struct tkb_push_options *options;
	struct tkb_record_list records;
	struct tkb_identities held;
	struct tkb_record_list base; /* of options->base_ref */
	struct tkb_identities held_by_base;
	struct tkb_cache *cache; /* owned */
	struct tkb_pick *picks;  /* owned; the entries that the ref lacks */
	size_t pick_count;
	size_t pick_capacity;
	struct tkb_times *times;      /* owned; NULL: none is known */
	struct tkb_makers *makers;    /* owned; NULL: none is known */
	struct tkb_versions versions; /* versions of units tuned or made again
	                                 in this cache */
	bool *has_again; /* owned; is options->again[i] in the cache? */
	struct tkb_signer signer_room;
	const struct tkb_signer *signer; /* NULL: nobody signs */
	struct tkb_watcher watcher;      /* of the caller's watch */
	uint64_t done;                   /* bytes of finished steps */
	uint64_t doing;                  /* bytes of the current step */
	struct tkb_results *results;     /* owned; of the part that is packed */
	struct tkb_push_report report;
};

static void pusher_close(struct pusher *pusher)
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
}

/*
 * Drop records whose blob is gone. Only the last writable tier is asked: the
 * whole fleet shares that one, and nearer tiers are filled on demand.
 */
static int drop_holes(struct pusher *pusher, struct tkb_error *err)
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
 * Is the entry a unit of options->again, by its name in a bundle or by its path
 * here? Note each of them that is found.
 */
static bool is_made_again(struct pusher *pusher,
                          const struct tkb_scanned_entry *found)
{
	const struct tkb_entry *entry = &found->entry;
	const char *here;
	bool is_made = false;

	if (entry->kind != TKB_KIND_UNIT || pusher->options->again_count == 0)
		return false;
	here = tkb_unit_names_here(found->root->names, entry->name, NULL);
	for (size_t i = 0; i < pusher->options->again_count; i++) {
		const struct tkb_unit_name *unit = &pusher->options->again[i];

		if (strcmp(unit->tree, entry->tree) != 0 ||
		    (strcmp(unit->name, entry->name) != 0 &&
		     strcmp(unit->name, here) != 0))
			continue;
		pusher->has_again[i] = true;
		is_made = true;
	}
	return is_made;
}

/* Find the version of a unit in the cache that was tuned or made again. */
static int find_unit_version(struct pusher *pusher,
                             const struct tkb_scanned_entry *found,
                             struct tkb_identity *identity,
                             struct tkb_error *err)
{
	const bool is_tuned = tkb_unit_is_tuned(&found->entry);
	int rc;

	identity->is_made_again = is_made_again(pusher, found) && !is_tuned;
	if (!identity->is_made_again && !is_tuned)
		return 0;
	rc = tkb_identity_read_version(identity, &pusher->cache->loaders[0],
	                               found, err);
	return rc == 0 && !tkb_version_is_none(&identity->version)
	               ? tkb_versions_add(&pusher->versions, &identity->version,
	                                  err)
	               : rc;
}

/* Does the ref, or the base ref, have it? */
static bool is_held(const struct pusher *pusher,
                    const struct tkb_identity *identity)
{
	struct tkb_identity any = *identity;

	any.version = (struct tkb_version){ 0 };
	if (tkb_identities_have(&pusher->held, identity))
		return true;
	/* A version in the ref hides those of the base. */
	if (identity->is_made_again && tkb_identities_have(&pusher->held, &any))
		return false;
	return tkb_identities_have(&pusher->held_by_base, identity);
}

static int pick_devices(struct pusher *pusher,
                        const struct tkb_scanned_entry *found,
                        struct tkb_error *err)
{
	const struct tkb_entry *entry = &found->entry;
	struct tkb_identity identity = { .key = entry->key,
		                         .platform = entry->platform };
	size_t picked = 0;
	int rc;

	rc = find_unit_version(pusher, found, &identity, err);
	if (rc < 0)
		return rc;

	for (size_t i = 0; i < entry->device_count; i++) {
		const struct tkb_pick wanted = {
			.key = entry->key,
			.device = entry->devices[i],
			.is_unit = entry->kind == TKB_KIND_UNIT,
			.found = found,
		};

		identity.device = entry->devices[i];
		if (is_held(pusher, &identity))
			continue;
		rc = tkb_append(&pusher->picks, &pusher->pick_count,
		                &pusher->pick_capacity, &wanted, sizeof(wanted),
		                err);
		if (rc < 0)
			return rc;
		picked++;
	}
	if (picked == 0)
		pusher->report.present_count++;
	return 0;
}

/* Report what became of an entry. */
static void report_result(struct pusher *pusher,
                          const struct tkb_result *result)
{
	tkb_watcher_result(&pusher->watcher, result);
	pusher->report.left_out_count +=
		result->outcome == TKB_OUTCOME_LEFT_OUT;
}

/* Is there a unit of this name that cannot be packed? */
static bool is_left_out(const struct tkb_cache *cache, const char *name)
{
	for (size_t i = 0; i < tkb_cache_left_out_count(cache); i++) {
		if (strcmp(tkb_cache_left_out(cache, i)->key, name) == 0)
			return true;
	}
	return false;
}

/* Report units of options->again that the cache does not have. */
static void report_gone(struct pusher *pusher)
{
	for (size_t i = 0; i < pusher->options->again_count; i++) {
		const char *name = pusher->options->again[i].name;
		const struct tkb_result result = {
			.root = pusher->root,
			.key = name,
			.name = "",
			.outcome = TKB_OUTCOME_LEFT_OUT,
			.reason = TKB_REASON_MISSING,
			.message = "it is not in the cache",
		};

		if (!pusher->has_again[i] && !is_left_out(pusher->cache, name))
			report_result(pusher, &result);
	}
}

/* Report the entries that cannot be packed, as collect does. */
static int report_left_out(struct pusher *pusher, struct tkb_error *err)
{
	size_t count;

	for (size_t i = 0; i < tkb_cache_left_out_count(pusher->cache); i++) {
		const struct tkb_result result = tkb_left_out_result(
			tkb_cache_left_out(pusher->cache, i),
			TKB_OUTCOME_LEFT_OUT);

		report_result(pusher, &result);
	}
	report_gone(pusher);
	count = pusher->report.left_out_count;
	if (count > 0 && pusher->options->collect->is_strict)
		return tkb_fail(err, TKB_ERR_LEFT_OUT,
		                count == 1 ? "%zu entry would be left out"
		                           : "%zu entries would be left out",
		                count);
	return 0;
}

/* Find what the cache has and the ref does not. */
static int find_lacking(struct pusher *pusher, struct tkb_error *err)
{
	const struct tkb_cache_options choices =
		tkb_collect_cache_options(pusher->options->collect);
	const struct tkb_scan scan = { .options = &choices };
	int rc;

	rc = tkb_cache_scan(pusher->root, &scan, &pusher->cache, err);
	for (size_t i = 0; rc == 0 && i < tkb_cache_entry_count(pusher->cache);
	     i++)
		rc = pick_devices(pusher, &pusher->cache->found[i], err);
	if (rc != 0)
		return rc;
	tkb_sort(pusher->picks, pusher->pick_count, sizeof(*pusher->picks),
	         tkb_compare_picks);
	return report_left_out(pusher, err);
}

/*
 * Report the progress of packing or uploading a blob, added to that of finished
 * steps.
 */
static void report_progress(void *self, uint64_t done, uint64_t total)
{
	struct pusher *pusher = self;

	pusher->doing = total;
	tkb_watch_tell(pusher->watcher.watch, pusher->done + done,
	               pusher->done + total);
}

static void end_progress(struct pusher *pusher)
{
	pusher->done += pusher->doing;
	pusher->doing = 0;
}

static void keep_result(void *self, const struct tkb_result *result)
{
	const struct pusher *pusher = self;
	const struct tkb_watch *keeper = tkb_results_watch(pusher->results);

	keeper->on_result(keeper->self, result);
}

static bool is_push_cancelled(void *self)
{
	const struct pusher *pusher = self;

	return tkb_watch_is_cancelled(pusher->watcher.watch);
}

static int upload_part(struct pusher *pusher, struct tkb_blob_buffer *buffer,
                       uint64_t count, struct tkb_uptake *uptake,
                       struct tkb_error *err)
{
	const struct tkb_watch upload = {
		.struct_size = sizeof(upload),
		.self = pusher,
		.on_progress = report_progress,
	};
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
	rc = tkb_push_blob(pusher->remote, pusher->ref, buffer, &facts, &upload,
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
static int report_kept(struct pusher *pusher, bool is_missed,
                       struct tkb_error *err)
{
	for (size_t i = 0; i < tkb_results_count(pusher->results); i++) {
		const struct tkb_result *result =
			tkb_results_at(pusher->results, i);

		if (!is_missed || result->outcome != TKB_OUTCOME_COLLECTED)
			report_result(pusher, result);
	}
	return tkb_results_is_cut(pusher->results) ? tkb_fail_nomem(err) : 0;
}

/*
 * Pack `count` picks into one blob, and push it. Only a blob of one pick may be
 * as large as the remote allows: of a blob of several, readers may need a part.
 * Nothing is reported of one that is too large: its halves will be.
 */
static int push_part(struct pusher *pusher,
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
	if (tkb_is_done(rc) && report.collected_count != 0 &&
	    !options->is_dry_run)
		rc = upload_part(pusher, &buffer, report.collected_count,
		                 &uptake, err);
	if (rc == TKB_ERR_TOO_LARGE)
		return rc;
	kept = report_kept(pusher, uptake.missed.status != 0, err);
	if (!tkb_is_done(rc))
		return rc;
	if (kept < 0)
		return kept;
	if (uptake.missed.status != 0)
		return tkb_push_leave_out(&buffer, pusher->root, &uptake.missed,
		                          &pusher->watcher, &pusher->report,
		                          err);
	pusher->report.pushed_count += report.collected_count;
	return 0;
}

/* How many of the picks from `first` on, of at most `most`, for one blob? */
static size_t part_at(const struct pusher *pusher, size_t first, size_t most)
{
	const uint64_t limit = tkb_remote_part_size(pusher->remote);
	size_t count = 0;

	while (first + count < pusher->pick_count && count < most &&
	       tkb_entry_size(&pusher->picks[first + count].found->entry) <=
	               limit)
		count++;
	return count != 0 ? count : 1;
}

/*
 * The entry of pick `at` has no place in the remote: leave it out, and say why. One
 * of several devices has as many picks, one after the other.
 */
static void leave_out(struct pusher *pusher, size_t at,
                      const struct tkb_error *why)
{
	const struct tkb_pick *pick = &pusher->picks[at];
	const struct tkb_entry *entry = &pick->found->entry;
	const struct tkb_root *root = pick->found->root;
	const struct tkb_result result = {
		.root = root->path,
		.key = pick->is_unit ? tkb_unit_names_here(root->names,
		                                           entry->name, NULL)
		                     : entry->key,
		.name = pick->is_unit ? "" : entry->name,
		.outcome = TKB_OUTCOME_LEFT_OUT,
		.reason = TKB_REASON_LIMIT,
		.message = why->message,
	};

	if (at == 0 || pick[-1].found != pick->found)
		report_result(pusher, &result);
}

static int open_notes(struct pusher *pusher, struct tkb_error *err)
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
static int push_lacking(struct pusher *pusher, struct tkb_error *err)
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
			leave_out(pusher, done, &fault);
			rc = 0;
		}
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
static void stamp_records(const struct pusher *pusher)
{
	const struct tkb_record_list *records = &pusher->records;

	for (size_t i = 0; i < records->count; i++) {
		if (pusher->report.present_count == 0 ||
		    !tkb_record_stamp(pusher->remote, pusher->ref,
		                      &records->items[i]))
			return;
	}
}

/* List the entries that need not be pushed. */
static int list_held(struct pusher *pusher, struct tkb_error *err)
{
	int rc;

	rc = tkb_identities_list(&pusher->records, &pusher->held, err);
	if (rc == 0)
		rc = tkb_push_base_read(pusher->remote, pusher->options,
		                        &pusher->base, err);
	if (rc == 0)
		rc = tkb_identities_list(&pusher->base, &pusher->held_by_base,
		                         err);
	return rc;
}

static int push_missing(struct pusher *pusher, struct tkb_error *err)
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
		rc = list_held(pusher, err);
	if (rc == 0)
		rc = find_lacking(pusher, err);
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
static int lock_cache(const struct pusher *pusher, int *lock_out,
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

static int push_bundles(struct pusher *pusher,
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
	struct pusher pusher = { .remote = remote,
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
