/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/fleet.h>

#include "collect/recorder.h"
#include "fleet/push_session.h"

/* Pack into `buffer`, without progress. */
static int pack_recorded(const char *cache_root,
                         const struct tkb_push_options *options,
                         const struct tkb_collect_selection *selection,
                         struct tkb_blob_buffer *buffer,
                         struct tkb_collect_report *report,
                         struct tkb_error *err)
{
	const struct tkb_sink sink = tkb_blob_buffer_sink(buffer);
	const struct tkb_collect_target to = { .sink = &sink };
	struct tkb_watch watch = *options->collect->watch;
	struct tkb_collect_options collect = *options->collect;

	watch.on_progress = NULL;
	collect.watch = &watch;
	return tkb_collect_selected(cache_root, &collect, selection, &to,
	                            report, err);
}

static int pack_and_push(struct tkb_remote *remote, const char *ref,
                         const char *cache_root,
                         const struct tkb_push_options *options,
                         const struct tkb_collect_selection *selection,
                         struct tkb_push_report *report, struct tkb_error *err)
{
	TKB_AUTO(tkb_blob_buffer_release)
	struct tkb_blob_buffer buffer =
		TKB_BLOB_BUFFER_INIT(remote->max_blob_size);
	struct tkb_collect_report packed = { .struct_size = sizeof(packed) };
	int pushed;
	int rc;

	rc = pack_recorded(cache_root, options, selection, &buffer, &packed,
	                   err);
	if (!tkb_is_done(rc))
		return rc;
	report->left_out_count = packed.left_out_count;
	if (packed.collected_count + packed.launcher_count == 0)
		return rc;
	if (options->collect->is_dry_run) {
		report->pushed_count = packed.collected_count;
		return rc;
	}
	pushed = tkb_push_whole(remote, ref, &buffer, packed.collected_count,
	                        options, report, err);
	return pushed < 0 ? pushed : rc;
}

int tkb_recorder_push(struct tkb_recorder *recorder, struct tkb_remote *remote,
                      const char *ref, const char *cache_root,
                      const struct tkb_push_options *options,
                      struct tkb_push_report *report, struct tkb_error *err)
{
	TKB_AUTO(tkb_collect_selection_release)
	struct tkb_collect_selection selection = { 0 };
	struct tkb_push_session session = { 0 };
	struct tkb_push_report done = { 0 };
	int rc;

	rc = tkb_push_session_read(&session, options, report, err);
	if (rc < 0)
		return rc;
	if (session.options.layout != TKB_PUSH_LAYOUT_BUNDLES)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a recorder can push only bundles");
	rc = tkb_recorder_begin_collect(recorder, &session.collect, &selection,
	                                err);
	if (rc < 0)
		return rc;
	tkb_remote_attach_watch(&session.attachment, remote,
	                        &session.timed.watch);
	rc = pack_and_push(remote, ref, cache_root, &session.options,
	                   &selection, &done, err);
	tkb_recorder_finish_collect(
		recorder, tkb_is_done(rc) && !session.collect.is_dry_run);
	return tkb_push_session_end(&session, rc, &done, report, err);
}
