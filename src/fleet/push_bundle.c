/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/fleet.h>

#include <stdlib.h>
#include <string.h>

#include "fleet/compact.h"
#include "fleet/push_session.h"
#include "records/records.h"

enum {
	CHUNK = 1024 * 1024
};

/*
 * Copy the source: it may be readable only once, and must not change between
 * the check and the upload.
 */
static int copy_source(const struct tkb_source *source,
                       struct tkb_blob_buffer *out, struct tkb_error *err)
{
	TKB_AUTO(tkb_free_at) void *chunk = malloc(CHUNK);
	size_t got = 0;
	int rc;

	if (chunk == NULL)
		return tkb_fail_nomem(err);
	do {
		rc = source->read_at(source->self, out->size, chunk, CHUNK,
		                     &got, err);
		if (rc == 0)
			rc = tkb_blob_buffer_add(
				out, (struct tkb_bytes){ chunk, got }, err);
	} while (rc == 0 && got == CHUNK);
	return rc;
}

/* Verify the bundle, without progress, and count its entries. */
static int check_bundle(struct tkb_blob_buffer *buffer,
                        const struct tkb_watch *watch, uint64_t *count_out,
                        struct tkb_error *err)
{
	const struct tkb_source source = tkb_blob_buffer_source(buffer);
	const struct tkb_watch quiet = { .struct_size = sizeof(quiet),
		                         .self = watch->self,
		                         .on_result = watch->on_result,
		                         .is_cancelled = watch->is_cancelled };
	const struct tkb_verify_options options = {
		.struct_size = sizeof(options),
		.watch = &quiet,
	};
	struct tkb_bundle *bundle = NULL;
	int rc;

	rc = tkb_bundle_open_source(&source, "the bundle", &bundle, err);
	if (rc < 0)
		return rc;
	*count_out = tkb_bundle_entry_count(bundle);
	rc = tkb_bundle_verify(bundle, &options, NULL, err);
	tkb_bundle_close(bundle);
	return rc;
}

/*
 * Does the blob exist, and does a record of the ref name it? First stamp the
 * record as used: a gc that begins later then keeps both, and one that began
 * earlier has already removed one of them. In doubt, the answer is no. A dry
 * run stamps nothing.
 */
static bool is_present(struct tkb_remote *remote, const char *ref,
                       const struct tkb_record_list *records,
                       const struct tkb_digest *digest, bool is_dry_run)
{
	for (size_t i = 0; i < records->count; i++) {
		const struct tkb_record *record = &records->items[i];
		struct tkb_record copy = *record;
		struct tkb_record_list one = { .items = &copy, .count = 1 };

		if (memcmp(&record->blob, digest, sizeof(*digest)) != 0)
			continue;
		copy.is_hole = true;
		if (!is_dry_run &&
		    tkb_remote_touch(remote, ref, &record->digest, NULL) != 0)
			return false;
		return tkb_records_check(remote, &one, false, NULL) == 0 &&
		       !copy.is_hole;
	}
	return false;
}

/* The fleet does not get the bundle: leave out each entry of it, and say why. */
static int leave_out_all(struct tkb_blob_buffer *buffer,
                         const struct tkb_error *why,
                         struct tkb_watcher *watcher,
                         struct tkb_push_report *report, struct tkb_error *err)
{
	const struct tkb_source source = tkb_blob_buffer_source(buffer);
	struct tkb_bundle *bundle = NULL;
	int rc;

	rc = tkb_bundle_open_source(&source, "the bundle", &bundle, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < tkb_bundle_entry_count(bundle); i++) {
		const struct tkb_entry *entry = tkb_bundle_entry(bundle, i);
		const bool is_unit = entry->kind == TKB_KIND_UNIT;
		const struct tkb_result result = {
			.root = "",
			.key = is_unit ? entry->name : entry->key,
			.name = is_unit ? "" : entry->name,
			.outcome = TKB_OUTCOME_LEFT_OUT,
			.reason = why->status == TKB_ERR_TOO_LARGE
			                  ? TKB_REASON_LIMIT
			                  : TKB_REASON_IO,
			.message = why->message,
		};

		tkb_watcher_result(watcher, &result);
		report->left_out_count++;
	}
	tkb_bundle_close(bundle);
	return 0;
}

static int upload_unless_present(struct tkb_remote *remote, const char *ref,
                                 struct tkb_blob_buffer *buffer,
                                 uint64_t entry_count,
                                 const struct tkb_record_list *records,
                                 const struct tkb_push_options *options,
                                 const struct tkb_signer *signer,
                                 struct tkb_push_report *report,
                                 struct tkb_error *err)
{
	const struct tkb_blob blob = { buffer->size,
		                       tkb_blob_buffer_source(buffer) };
	TKB_AUTO(tkb_pushes_release) struct tkb_pushes pushes = { 0 };
	const struct tkb_record_facts facts = { .pushes = &pushes,
		                                .signer = signer };
	TKB_AUTO(tkb_watcher_release) struct tkb_watcher watcher = { 0 };
	struct tkb_uptake uptake = { 0 };
	struct tkb_digest digest;
	int rc;

	rc = tkb_blob_digest(&blob, &digest, err);
	if (rc < 0)
		return rc;
	if (is_present(remote, ref, records, &digest,
	               options->collect->is_dry_run)) {
		report->present_count += entry_count;
		return 0;
	}
	if (options->collect->is_dry_run) {
		report->pushed_count += entry_count;
		return 0;
	}
	rc = tkb_pushes_begin(&pushes, options->labels, options->label_count,
	                      entry_count, err);
	if (rc < 0)
		return rc;
	rc = tkb_push_blob(remote, ref, buffer, &facts, options->collect->watch,
	                   NULL, &uptake, err);
	if (rc < 0)
		return rc;
	if (uptake.missed.status != 0 && options->collect->is_strict)
		return tkb_fail_as(err, uptake.missed.status, &uptake.missed);
	report->blob_count++;
	report->size += buffer->size;
	if (uptake.missed.status == 0) {
		report->pushed_count += entry_count;
		return 0;
	}
	tkb_watcher_init(&watcher, options->collect->watch, 0);
	rc = leave_out_all(buffer, &uptake.missed, &watcher, report, err);
	return rc < 0 ? rc
	              : tkb_fail(err, TKB_ERR_PARTIAL, "%s",
	                         uptake.missed.message);
}

int tkb_push_whole(struct tkb_remote *remote, const char *ref,
                   struct tkb_blob_buffer *buffer, uint64_t entry_count,
                   const struct tkb_push_options *options,
                   struct tkb_push_report *report, struct tkb_error *err)
{
	TKB_AUTO(tkb_record_list_release)
	struct tkb_record_list records = { 0 };
	TKB_AUTO(tkb_signer_release) struct tkb_signer room = { .now_s = 0 };
	const struct tkb_signer *signer = NULL;
	int rc;

	rc = tkb_record_list_read(remote, ref, false, &records, err);
	if (rc < 0)
		return rc;
	report->record_count = records.count;
	rc = tkb_push_ref_begin(&room, options, remote, ref, &records, &signer,
	                        err);
	if (rc == 0)
		rc = upload_unless_present(remote, ref, buffer, entry_count,
		                           &records, options, signer, report,
		                           err);
	if (rc == 0 && !options->is_compaction_off)
		rc = tkb_compact_after_push(remote, ref, signer, report, err);
	return rc;
}

int tkb_push_bundle(struct tkb_remote *remote, const char *ref,
                    const struct tkb_source *source,
                    const struct tkb_push_options *options,
                    struct tkb_push_report *report, struct tkb_error *err)
{
	TKB_AUTO(tkb_blob_buffer_release)
	struct tkb_blob_buffer buffer =
		TKB_BLOB_BUFFER_INIT(remote->max_blob_size);
	struct tkb_push_session session = { 0 };
	struct tkb_push_report done = { 0 };
	uint64_t count = 0;
	int rc;

	rc = tkb_push_session_begin(&session, remote, options, report, err);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = copy_source(source, &buffer, err);
	if (rc == 0)
		rc = check_bundle(&buffer, &session.timed.watch, &count, err);
	if (rc == 0)
		rc = tkb_push_whole(remote, ref, &buffer, count,
		                    &session.options, &done, err);
	return tkb_push_session_end(&session, rc, &done, report, err);
}
