/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/fleet.h>

#include "base/struct.h"
#include "collect/recorder.h"
#include "cache/watch.h"
#include "fleet/push.h"

/* Into `hold`; what that takes is no progress of the upload. */
static int pack(const char *cache_root, const struct tkb_push_options *options,
                const struct tkb_pack_request *order,
                struct tkb_blob_buffer *hold, struct tkb_collect_report *report,
                struct tkb_error *err)
{
	const struct tkb_sink sink = tkb_blob_buffer_sink(hold);
	struct tkb_watch watch = *options->collect->watch;
	struct tkb_collect_options collect = *options->collect;

	watch.on_progress = NULL;
	collect.watch = &watch;
	return tkb_collect_request(cache_root, &collect, order,
	                           collect.is_dry_run ? NULL : &sink, NULL,
	                           report, err);
}

static int push(struct tkb_remote *remote, const char *ref,
                const char *cache_root, const struct tkb_push_options *options,
                const struct tkb_pack_request *order,
                struct tkb_push_report *report, struct tkb_error *err)
{
	TKB_AUTO(tkb_blob_buffer_release)
	struct tkb_blob_buffer hold =
		TKB_BLOB_BUFFER_INIT(remote->max_blob_size);
	struct tkb_collect_report packed = { .struct_size = sizeof(packed) };
	int rc;

	rc = pack(cache_root, options, order, &hold, &packed, err);
	if (rc != 0)
		return rc;
	report->left_out_count = packed.left_out_count;
	if (packed.collected_count + packed.launcher_count == 0)
		return 0;
	if (options->collect->is_dry_run) {
		report->pushed_count = packed.collected_count;
		return 0;
	}
	return tkb_push_whole(remote, ref, &hold, packed.collected_count,
	                      options, report, err);
}

int tkb_recorder_push(struct tkb_recorder *recorder, struct tkb_remote *remote,
                      const char *ref, const char *cache_root,
                      const struct tkb_push_options *options,
                      struct tkb_push_report *report, struct tkb_error *err)
{
	TKB_AUTO(tkb_collect_selection_release)
	struct tkb_collect_selection wishes = { 0 };
	TKB_AUTO(tkb_remote_part) struct tkb_remote_joint joint = { 0 };
	struct tkb_push_report done = { 0 };
	struct tkb_push_options chosen;
	struct tkb_collect_options collect;
	struct tkb_timed timed;
	struct tkb_pack_request order;
	int rc;

	rc = tkb_push_options_read(&chosen, &collect, &timed, options, report,
	                           err);
	if (rc < 0)
		return rc;
	if (chosen.layout != TKB_PUSH_LAYOUT_BUNDLES)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a recorder pushes bundles alone");
	rc = tkb_recorder_begin_collect(recorder, &collect, &wishes, &order,
	                                err);
	if (rc < 0)
		return rc;
	tkb_remote_join(&joint, remote, &timed.watch);
	rc = push(remote, ref, cache_root, &chosen, &order, &done, err);
	tkb_recorder_finish_collect(recorder, rc == 0 && !collect.is_dry_run);
	if (rc == 0)
		TKB_STRUCT_WRITE(tkb_push_report, report, &done);
	return tkb_timed_end(&timed, rc, err);
}
