/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/gc.h"

#include <stdlib.h>

#include "base/disable.h"
#include "base/struct.h"
#include "notes/starts.h"

#define GRACE_S ((uint64_t)24 * 60 * 60)
#define STOPPED TKB_ERR_PARTIAL /* no function that gc calls returns this */

enum {
	REFUSALS_LIMIT = 100
};

static void gc_close(struct tkb_remote_gc *gc)
{
	tkb_ref_names_release(&gc->refs);
	tkb_ref_names_release(&gc->signed_refs);
	free(gc->items);
	tkb_digests_release(&gc->compacted);
	free(gc->blobs);
}

void tkb_remote_gc_report_removed(const struct tkb_remote_gc *gc,
                                  const char *ref,
                                  const struct tkb_digest *digest,
                                  uint64_t size)
{
	const struct tkb_remote_gc_options *options = gc->options;

	if (options->on_removed != NULL)
		options->on_removed(options->self, ref, digest, size);
}

int tkb_remote_gc_note_refusal(struct tkb_remote_gc *gc, int rc,
                               const char *ref, const struct tkb_digest *digest,
                               const struct tkb_error *why, bool *is_refused,
                               struct tkb_error *err)
{
	const struct tkb_remote_gc_options *options = gc->options;

	*is_refused = rc == TKB_ERR_DENIED;
	if (rc >= 0)
		return 0;
	if (!*is_refused)
		return tkb_fail_as(err, rc, why);
	if (gc->report.refused_count++ == 0)
		gc->refusal = *why;
	if (options->on_refused != NULL)
		options->on_refused(options->self, ref, digest, why->message);
	/* After so many refusals, the remote probably forbids all deletion. */
	return gc->report.refused_count < REFUSALS_LIMIT ? 0 : STOPPED;
}

int tkb_remote_gc_drop(struct tkb_remote_gc *gc, const char *ref,
                       const struct tkb_digest *digest, uint64_t size,
                       bool *is_refused, struct tkb_error *err)
{
	struct tkb_error why = { 0 };
	int rc = 0;

	if (!gc->options->is_dry_run)
		rc = tkb_remote_drop(gc->remote, ref, digest, &why);
	rc = tkb_remote_gc_note_refusal(gc, rc, ref, digest, &why, is_refused,
	                                err);
	if (rc == 0 && !*is_refused)
		tkb_remote_gc_report_removed(gc, ref, digest, size);
	return rc;
}

void tkb_remote_gc_count_step(struct tkb_remote_gc *gc)
{
	gc->steps_done++;
	tkb_watch_tell(gc->options->watch, gc->steps_done, gc->steps);
}

uint64_t tkb_remote_gc_grace(const struct tkb_remote_gc *gc)
{
	return gc->options->has_grace ? gc->options->grace_s : GRACE_S;
}

static int clean(struct tkb_remote_gc *gc, struct tkb_error *err)
{
	struct tkb_error why = { 0 };
	bool is_refused = false;
	int rc;

	rc = tkb_remote_ref_names(gc->remote, true, &gc->refs, err);
	gc->signed_refs.prefix = TKB_SIGNED_PREFIX;
	if (rc == 0)
		rc = tkb_remote_ref_names(gc->remote, true, &gc->signed_refs,
		                          err);
	gc->report.ref_count = gc->refs.count;
	gc->steps = 2 * gc->refs.count;
	if (rc == 0)
		rc = tkb_remote_gc_records(gc, err);
	if (rc == 0)
		rc = tkb_remote_gc_blobs(gc, err);
	if (rc < 0)
		return rc;
	rc = tkb_starts_prune(gc->remote, gc->options->is_dry_run,
	                      &gc->report.start_count, &why);
	return tkb_remote_gc_note_refusal(gc, rc, NULL, NULL, &why, &is_refused,
	                                  err);
}

int tkb_remote_gc(struct tkb_remote *remote,
                  const struct tkb_remote_gc_options *options,
                  struct tkb_remote_gc_report *report, struct tkb_error *err)
{
	TKB_AUTO(gc_close)
	struct tkb_remote_gc gc = { .remote = remote };
	TKB_AUTO(tkb_remote_detach_watch)
	struct tkb_remote_attachment attachment = { 0 };
	struct tkb_remote_gc_options chosen;
	struct tkb_timed timed;
	int rc;

	rc = TKB_STRUCT_READ(tkb_remote_gc_options, signing, &chosen, options,
	                     err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_remote_gc_report, kept_size, report,
		                      err);
	if (rc == 0)
		rc = tkb_timed_begin(&timed, chosen.watch, chosen.deadline_ms,
		                     err);
	if (rc < 0)
		return rc;
	if (!chosen.is_enabled && tkb_is_disabled()) {
		TKB_STRUCT_WRITE(tkb_remote_gc_report, report, &gc.report);
		return 0;
	}
	chosen.watch = &timed.watch;
	gc.options = &chosen;
	tkb_remote_attach_watch(&attachment, remote, &timed.watch);
	rc = clean(&gc, err);
	if ((rc == 0 || rc == STOPPED) && gc.report.refused_count > 0)
		rc = tkb_fail(err, TKB_ERR_PARTIAL, "%s", gc.refusal.message);
	if (tkb_is_done(rc))
		TKB_STRUCT_WRITE(tkb_remote_gc_report, report, &gc.report);
	return tkb_timed_end(&timed, rc, err);
}
