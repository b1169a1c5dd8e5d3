/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/fleet.h>

#include "base/disable.h"
#include "base/struct.h"
#include "format/reader.h"
#include "cache/watch.h"
#include "emit/options.h"
#include "fleet/prefetch.h"
#include "fleet/pull.h"

/* Note the parts of the ref that the bundle lacks. */
static void note_lost(const struct tkb_record_list *records, const char *ref,
                      uint64_t gone_count, struct tkb_error *first)
{
	const struct tkb_record_fault *fault = tkb_pull_fault(records);

	if (fault != NULL)
		(void)tkb_fail(first, TKB_ERR_PARTIAL, "%s", fault->message);
	if (gone_count > 0)
		tkb_pull_note_gone(first, ref);
}

static int pull_merged_bundle(struct tkb_remote *remote, const char *ref,
                              const struct tkb_pull_options *options,
                              const struct tkb_watch *watch,
                              const struct tkb_sink *sink,
                              struct tkb_pull_report *report,
                              struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release)
	struct tkb_record_list records = { 0 };
	TKB_AUTO(tkb_remote_detach_watch)
	struct tkb_remote_attachment attachment = { 0 };
	TKB_AUTO(tkb_gathering_close) struct tkb_gathering gathering = { 0 };
	const struct tkb_merge_options merge = { .struct_size = sizeof(merge),
		                                 .watch = watch };
	struct tkb_pull_report told = { 0 };
	struct tkb_error first = { 0 };
	int rc;

	tkb_remote_attach_watch(&attachment, remote, watch);
	rc = tkb_pull_records(remote, ref, &records, &told, err);
	/*
	 * Fail if records are untrusted: the bundle itself cannot tell that it
	 * is incomplete.
	 */
	if (rc == 0 && records.untrusted_count != 0)
		rc = tkb_fail_as(err, TKB_ERR_UNTRUSTED, &records.untrusted);
	if (rc != 0)
		return rc;
	told.wanted_count = records.count;
	rc = tkb_gather(&gathering, remote, records.items, records.count,
	                tkb_pull_connections(options), false, err);
	told.gone_count = records.count - gathering.count;
	if (rc == 0 && gathering.count == 0) {
		TKB_STRUCT_WRITE(tkb_pull_report, report, &told);
		return TKB_MISS;
	}
	if (rc == 0)
		rc = tkb_gathering_merge(&gathering, &merge, sink, err);
	if (rc != 0)
		return rc;
	told.fetched_count = gathering.count;
	for (size_t i = 0; i < gathering.count; i++)
		told.fetched_size += gathering.records[i]->size;
	TKB_STRUCT_WRITE(tkb_pull_report, report, &told);
	note_lost(&records, ref, told.gone_count, &first);
	return tkb_partial(&first, err);
}

int tkb_pull_bundle(struct tkb_remote *remote, const char *ref,
                    const struct tkb_pull_options *options,
                    const struct tkb_sink *sink, struct tkb_pull_report *report,
                    struct tkb_error *err)
{
	struct tkb_pull_options chosen;
	struct tkb_emit_options emit;
	struct tkb_timed timed;
	int rc;

	rc = tkb_pull_options_read(&chosen, &emit, &timed, options, report,
	                           err);
	if (rc < 0)
		return rc;
	rc = pull_merged_bundle(remote, ref, &chosen, &timed.watch, sink,
	                        report, err);
	return tkb_timed_end(&timed, rc, err);
}

/* Merge the ref's bundles: this combines their launchers. */
int tkb_pull_launchers(struct tkb_remote *remote, const char *ref,
                       const char *cache_root,
                       const struct tkb_pull_options *options,
                       const struct tkb_launchers_options *chosen,
                       struct tkb_launchers **out, struct tkb_error *err)
{
	TKB_AUTO(tkb_blob_buffer_release)
	struct tkb_blob_buffer buffer = TKB_BLOB_BUFFER_INIT(UINT64_MAX);
	const struct tkb_sink sink = tkb_blob_buffer_sink(&buffer);
	const struct tkb_source source = tkb_blob_buffer_source(&buffer);
	struct tkb_launchers_options own;
	struct tkb_bundle *bundle = NULL;
	int pulled;
	int rc;

	rc = tkb_launchers_options_read(&own, chosen, err);
	if (rc < 0)
		return rc;
	/*
	 * If tkbundle is disabled, there are no launchers, and nothing is
	 * fetched.
	 */
	if (!own.is_enabled && tkb_is_disabled())
		return tkb_launchers_open(NULL, cache_root, &own, out, err);
	pulled = tkb_pull_bundle(remote, ref, options, &sink, NULL, err);
	if (!tkb_is_done(pulled))
		return pulled;
	rc = tkb_bundle_open_source(&source, "the ref's bundle", &bundle, err);
	if (rc == 0)
		rc = tkb_launchers_open(bundle, cache_root, &own, out, err);
	tkb_bundle_close(bundle);
	return rc == 0 ? pulled : rc;
}
