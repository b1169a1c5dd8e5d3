/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/fleet.h>

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/disable.h"
#include "base/struct.h"
#include "format/reader.h"
#include "cache/watch.h"
#include "fleet/prefetch.h"
#include "fleet/keys.h"
#include "fleet/pull.h"
#include "records/records.h"
#include "remote/remote.h"
#include "fleet/pull_plan.h"
#include "emit/options.h"

/*
 * The records tell what each blob holds. Blobs with missing entries are fetched,
 * several at once, and emitted in order while they arrive. A record has the
 * digests of the bundle's manifest and frames, so each frame is checked before it
 * is decoded. If a blob cannot be fetched, other records that hold the same
 * entries are tried.
 */

enum {
	/* Time limit for checking present entries: so many ms, */
	CHECK_MS = 2000,
	/* and this fraction of the remaining time. */
	CHECK_SHARE = 4
};

struct puller {
	struct tkb_remote *remote;
	const char *ref;
	const char *root;
	struct tkb_emit_options options; /* for the emit of each bundle */
	struct tkb_watch emit_watch;     /* of `options` */
	const struct tkb_timed *timed;
	const struct tkb_remote_attachment *attachment;
	const struct tkb_watch *watch; /* the caller's, with its deadline */
	pthread_mutex_t watch_lock;    /* one thread at a time calls it */
	size_t connections;
	struct tkb_record_list records;
	struct tkb_keys keys;            /* the requested keys */
	struct tkb_pull_plan *plan;      /* owned */
	struct tkb_choice *choices;      /* owned */
	struct tkb_prefetch_blob *blobs; /* owned; the blobs of the choices */
	uint64_t done;                   /* bytes of the blobs emitted so far */
	uint64_t size;                   /* of the blob that is being emitted */
	uint64_t total;                  /* of all blobs */
	uint64_t told;                   /* reported so far; progress never goes
	                               back */
	struct tkb_pull_report report;
	int failure; /* status for the first blob that could not be fetched */
	struct tkb_error fault;
	struct tkb_error first; /* of the first blob that is gone or could
	                           not be emitted */
};

static void puller_close(struct puller *puller)
{
	tkb_record_list_release(&puller->records);
	tkb_keys_release(&puller->keys);
	tkb_pull_plan_close(puller->plan);
	free(puller->choices);
	free(puller->blobs);
	(void)pthread_mutex_destroy(&puller->watch_lock);
}

static void report_result(void *self, const struct tkb_result *result)
{
	struct puller *puller = self;

	/*
	 * Every key was found in a record: a bundle without its key is damaged.
	 */
	if (result->outcome == TKB_OUTCOME_MISSING)
		return;
	(void)pthread_mutex_lock(&puller->watch_lock);
	puller->watch->on_result(puller->watch->self, result);
	(void)pthread_mutex_unlock(&puller->watch_lock);
}

/* Convert progress: an emit counts bytes of files, a pull bytes of blobs. */
static void report_progress(void *self, uint64_t done, uint64_t total)
{
	struct puller *puller = self;
	const double share = total == 0 ? 0 : (double)done / (double)total;
	const uint64_t now =
		puller->done + (uint64_t)((double)puller->size * share);

	(void)pthread_mutex_lock(&puller->watch_lock);
	if (now > puller->told)
		puller->told = now;
	puller->watch->on_progress(puller->watch->self, puller->told,
	                           puller->total);
	(void)pthread_mutex_unlock(&puller->watch_lock);
}

static bool is_pull_cancelled(void *self)
{
	struct puller *puller = self;
	bool answer;

	(void)pthread_mutex_lock(&puller->watch_lock);
	answer = puller->watch->is_cancelled(puller->watch->self);
	(void)pthread_mutex_unlock(&puller->watch_lock);
	return answer;
}

static struct tkb_watch make_watch(struct puller *puller)
{
	const struct tkb_watch *watch = puller->watch;

	return (struct tkb_watch){
		.struct_size = sizeof(*watch),
		.self = puller,
		.on_result = watch->on_result != NULL ? report_result : NULL,
		.on_progress =
			watch->on_progress != NULL ? report_progress : NULL,
		.is_cancelled =
			watch->is_cancelled != NULL ? is_pull_cancelled : NULL,
	};
}

static void add_rest(struct tkb_pull_report *sum,
                     const struct tkb_emit_report *part,
                     const struct tkb_choice *choice)
{
	const uint64_t known = choice->place_count - choice->missing_count;

	sum->busy_count += part->busy_count;
	sum->skipped_count += part->skipped_count;
	sum->failed_count += part->failed_count;
	sum->damaged_count += part->damaged_count;
	sum->unsafe_count += part->unsafe_count;
	/* The plan counts entries that were present before. */
	if (part->present_count > known)
		sum->present_count += part->present_count - known;
}

/* Count emitted entries: they stay, even if the rest of the blob fails. */
static void add_done(struct tkb_pull_report *sum,
                     const struct tkb_emit_report *part)
{
	sum->emitted_count += part->emitted_count;
	sum->repaired_count += part->repaired_count;
	sum->size += part->size;
}

static int emit_source(struct puller *puller, const struct tkb_record *record,
                       const struct tkb_source *source,
                       struct tkb_emit_report *report, struct tkb_error *err)
{
	TKB_AUTO(tkb_keys_release) struct tkb_keys keys = { 0 };
	TKB_AUTO(tkb_free_at)
	bool *is_old = tkb_alloc_array(record->entry_count, sizeof(*is_old));
	struct tkb_emit_options options = puller->options;
	struct tkb_bundle *bundle = NULL;
	int rc;

	if (is_old == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_keys_in(&puller->keys, record, &keys, err);
	if (rc < 0)
		return rc;
	options.keys = keys.items;
	options.key_count = keys.count;
	rc = tkb_bundle_open_pinned(source, puller->ref, &record->bundle,
	                            &record->frames, &bundle, err);
	if (rc < 0)
		return rc;
	/* A record lists its bundle's entries in the bundle's order. */
	if (tkb_pull_plan_list_old(puller->plan, record, is_old) &&
	    tkb_bundle_entry_count(bundle) == record->entry_count)
		rc = tkb_emit_without(bundle, puller->root, is_old, &options,
		                      report, err);
	else
		rc = tkb_emit(bundle, puller->root, &options, report, err);
	tkb_bundle_close(bundle);
	if (rc == TKB_MISS)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "a record lists an entry that its bundle "
		                "lacks");
	return rc;
}

/* Note a blob that cannot be fetched: only its own entries are affected. */
static int note_failure(struct puller *puller, int rc,
                        const struct tkb_error *fault, struct tkb_error *err)
{
	if (tkb_fleet_is_final(rc))
		return tkb_fail_as(err, rc, fault);
	puller->report.unfetched_count++;
	if (puller->failure == 0) {
		puller->failure = rc;
		puller->fault = *fault;
	}
	return 0;
}

/*
 * Emit a blob while it arrives. If a tier sent damaged bytes and another tier then
 * sent the correct blob, emit it again.
 */
static int emit_blob(struct puller *puller, struct tkb_prefetch *prefetch,
                     size_t index, struct tkb_error *err)
{
	const struct tkb_choice *choice = &puller->choices[index];
	const struct tkb_record *record =
		&puller->records.items[choice->record];
	const struct tkb_source source = tkb_prefetch_source(prefetch, index);
	struct tkb_emit_report report = { .struct_size = sizeof(report) };
	struct tkb_error fetch_fault = { 0 };
	struct tkb_error fault = { 0 };
	int fetched;
	int rc;

	puller->size = record->size;
	rc = emit_source(puller, record, &source, &report, &fault);
	add_done(&puller->report, &report);
	if (tkb_fleet_is_final(rc))
		return note_failure(puller, rc, &fault, err);
	fetched = tkb_prefetch_await(prefetch, index, &fetch_fault);
	if (fetched == TKB_MISS) {
		puller->report.gone_count++;
		tkb_pull_note_gone(&puller->first, puller->ref);
		return 0;
	}
	if (fetched < 0)
		return note_failure(puller, fetched, &fetch_fault, err);
	puller->report.fetched_count++;
	puller->report.fetched_size += record->size;
	if (rc == TKB_ERR_CORRUPT) {
		report = (struct tkb_emit_report){ .struct_size =
			                                   sizeof(report) };
		rc = emit_source(puller, record, &source, &report, &fault);
		add_done(&puller->report, &report);
		report.present_count = 0;
	}
	add_rest(&puller->report, &report, choice);
	if (rc == TKB_ERR_PARTIAL && puller->first.status == 0)
		puller->first = fault;
	return !tkb_is_done(rc) ? note_failure(puller, rc, &fault, err) : 0;
}

static int emit_choices(struct puller *puller, size_t count,
                        struct tkb_error *err)
{
	const struct tkb_prefetch_start request = {
		.remote = puller->remote,
		.blobs = puller->blobs,
		.count = count,
		.connections = puller->connections,
	};
	struct tkb_prefetch *prefetch = NULL;
	int rc;

	for (size_t i = 0; i < count; i++) {
		const struct tkb_record *record =
			&puller->records.items[puller->choices[i].record];

		puller->blobs[i] = (struct tkb_prefetch_blob){ record->blob,
			                                       record->size };
		puller->total += record->size;
	}
	rc = tkb_prefetch_open(&request, &prefetch, err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		rc = emit_blob(puller, prefetch, i, err);
		puller->done += puller->size;
		puller->size = 0;
		/* On a failure, a thread may still be fetching it. */
		if (rc == 0)
			tkb_prefetch_drop(prefetch, i);
	}
	tkb_prefetch_close(prefetch);
	return rc;
}

static uint32_t check_ms(const struct tkb_timed *timed)
{
	const uint64_t now = tkb_now_ns();
	uint64_t part_ms;

	if (timed->deadline_ms == 0)
		return CHECK_MS;
	if (now >= timed->end_ns)
		return 0;
	part_ms = (timed->end_ns - now) / TKB_NS_PER_MS / CHECK_SHARE;
	return part_ms < CHECK_MS ? (uint32_t)part_ms : CHECK_MS;
}

/*
 * Check present entries. If everything looks complete, running out of time for
 * this check is not a failure.
 */
static int check_present(struct puller *puller, struct tkb_error *err)
{
	struct tkb_error fault = { 0 };
	int rc;

	rc = tkb_pull_plan_check(puller->plan, puller->remote,
	                         check_ms(puller->timed), &fault);
	if (rc == TKB_ERR_CANCELLED &&
	    !tkb_watch_is_cancelled(&puller->timed->own) &&
	    !tkb_watch_is_cancelled(&puller->attachment->own))
		return 0;
	return rc < 0 ? tkb_fail_as(err, rc, &fault) : rc;
}

/*
 * Fetch what is missing. If a blob fails and other records hold its entries,
 * try those, until none is left.
 */
static int pull_missing(struct puller *puller, struct tkb_error *err)
{
	struct tkb_pull_report *report = &puller->report;
	uint64_t lost = 0;
	int rc;

	rc = tkb_pull_plan_inspect(puller->plan, err);
	if (rc == 0)
		rc = check_present(puller, err);
	puller->report.present_count = tkb_pull_plan_present(puller->plan);
	while (rc == 0) {
		const size_t count =
			tkb_pull_plan_choose(puller->plan, puller->choices);

		report->wanted_count += count;
		if (puller->options.is_dry_run)
			return 0;
		if (count == 0 && report->wanted_count == 0)
			tkb_pull_plan_clean(puller->plan);
		if (count == 0)
			return 0;
		rc = emit_choices(puller, count, err);
		if (rc < 0 ||
		    report->gone_count + report->unfetched_count == lost)
			return rc;
		lost = report->gone_count + report->unfetched_count;
		rc = tkb_pull_plan_inspect(puller->plan, err);
	}
	return rc;
}

/* Stamp the records as used. Ignore a refusal by the remote. */
static void stamp_records(struct puller *puller)
{
	const struct tkb_record_list *records = &puller->records;

	for (size_t i = 0; i < records->count; i++) {
		if (tkb_pull_plan_uses(puller->plan, i) &&
		    !tkb_record_stamp(puller->remote, puller->ref,
		                      &records->items[i]))
			return;
	}
}

/* Read the ref, and plan what to fetch. */
static int prepare_pull(struct puller *puller, struct tkb_error *err)
{
	const struct tkb_pull_plan_request request = {
		.cache_root = puller->root,
		.options = &puller->options,
		.records = &puller->records,
	};
	int rc;

	rc = tkb_pull_records(puller->remote, puller->ref, &puller->records,
	                      &puller->report, err);
	if (rc == 0)
		rc = tkb_keys_find(&puller->records, &puller->options,
		                   puller->watch, &puller->keys, err);
	if (rc != 0)
		return rc;
	puller->options.keys = puller->keys.items;
	rc = tkb_pull_plan_open(&request, &puller->plan, err);
	if (rc < 0)
		return rc;
	puller->options.layout = puller->plan->layout;
	puller->report.is_inductor =
		puller->options.layout == TKB_LAYOUT_INDUCTOR;
	puller->choices = tkb_alloc_array(puller->records.count,
	                                  sizeof(*puller->choices));
	puller->blobs =
		tkb_alloc_array(puller->records.count, sizeof(*puller->blobs));
	return puller->choices == NULL || puller->blobs == NULL
	               ? tkb_fail_nomem(err)
	               : 0;
}

static int pull_ref(struct puller *puller, struct tkb_error *err)
{
	const struct tkb_record_fault *fault;
	int rc;

	rc = prepare_pull(puller, err);
	if (rc == 0)
		rc = pull_missing(puller, err);
	if (rc == 0 && !puller->options.is_dry_run)
		stamp_records(puller);
	if (rc == 0 && !puller->options.is_dry_run && puller->root != NULL)
		rc = tkb_pull_note(puller->plan, puller->root, err);
	fault = tkb_pull_fault(&puller->records);
	if (puller->failure == 0 && puller->records.untrusted_count != 0) {
		puller->failure = TKB_ERR_UNTRUSTED;
		puller->fault = puller->records.untrusted;
	}
	if (puller->failure == 0 && fault != NULL)
		puller->failure =
			tkb_fail(&puller->fault, (enum tkb_status)fault->status,
		                 "%s", fault->message);
	return rc;
}

int tkb_pull(struct tkb_remote *remote, const char *ref, const char *cache_root,
             const struct tkb_pull_options *options,
             struct tkb_pull_report *report, struct tkb_error *err)
{
	TKB_AUTO(puller_close)
	struct puller puller = {
		.remote = remote,
		.ref = ref,
		.root = cache_root,
		.watch_lock = PTHREAD_MUTEX_INITIALIZER,
	};
	TKB_AUTO(tkb_remote_detach_watch)
	struct tkb_remote_attachment attachment = { 0 };
	struct tkb_pull_options chosen;
	struct tkb_timed timed;
	int rc;

	rc = tkb_pull_options_read(&chosen, &puller.options, &timed, options,
	                           report, err);
	if (rc != 0)
		return rc;
	if (!puller.options.is_enabled && tkb_is_disabled()) {
		TKB_STRUCT_WRITE(tkb_pull_report, report, &puller.report);
		return 0;
	}
	puller.connections = tkb_pull_connections(&chosen);
	puller.options.is_enabled = true;
	puller.timed = &timed;
	puller.attachment = &attachment;
	puller.watch = &timed.watch;
	puller.emit_watch = make_watch(&puller);
	puller.options.watch = &puller.emit_watch;
	tkb_remote_attach_watch(&attachment, remote, &puller.emit_watch);
	rc = pull_ref(&puller, err);
	if (rc != 0)
		return tkb_timed_end(&timed, rc, err);
	TKB_STRUCT_WRITE(tkb_pull_report, report, &puller.report);
	return puller.failure == 0
	               ? tkb_partial(&puller.first, err)
	               : tkb_fail_as(err, puller.failure, &puller.fault);
}
