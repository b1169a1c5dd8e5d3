/* SPDX-License-Identifier: Apache-2.0 */
#include "format/reader.h"
#include "format/launcher_payload.h"
#include "cache/watch.h"

/* Access to single files and entries of a bundle. */

/* Find the frame of item `index`, and the item's number within the frame. */
static void locate_entry(const struct tkb_bundle *bundle, size_t index,
                         size_t *frame_out, size_t *nth_out)
{
	for (size_t i = 0; i < bundle->frame_count; i++) {
		for (size_t j = 0; j < bundle->frames[i].entry_count; j++) {
			if (bundle->frames[i].entries[j] == index) {
				*frame_out = i;
				*nth_out = j;
				return;
			}
		}
	}
}

/* Open a decoder, and decode the frame of item `index`. */
static int decode_for(struct tkb_decoder *decoder,
                      const struct tkb_bundle *bundle, size_t index,
                      size_t *nth_out, struct tkb_error *err)
{
	size_t frame = 0;
	int rc;

	locate_entry(bundle, index, &frame, nth_out);
	rc = tkb_decoder_open(decoder, err);
	if (rc < 0)
		return rc;
	return tkb_decoder_decode(decoder, bundle, frame, err);
}

/* Check a file's digest against the manifest, and return its bytes. */
static int checked_file(struct tkb_decoder *decoder,
                        const struct tkb_bundle *bundle,
                        const struct tkb_file *file, struct tkb_bytes bytes,
                        struct tkb_error *err)
{
	int rc;

	rc = tkb_hasher_check(&decoder->hasher, bytes, &file->digest, err);
	if (rc == TKB_MISS)
		return tkb_fail(err, TKB_ERR_CORRUPT,
		                "'%s': '%s' has another digest than the "
		                "manifest says",
		                bundle->name, file->name);
	return rc;
}

int tkb_bundle_read(const struct tkb_bundle *bundle, size_t index, size_t file,
                    const struct tkb_sink *sink, struct tkb_error *err)
{
	TKB_AUTO(tkb_decoder_close) struct tkb_decoder decoder = { 0 };
	struct tkb_bytes bytes;
	size_t nth = 0;
	int rc;

	rc = decode_for(&decoder, bundle, index, &nth, err);
	if (rc < 0)
		return rc;
	bytes = tkb_decoder_file(&decoder, nth, file);
	rc = checked_file(&decoder, bundle,
	                  &bundle->manifest.entries[index].files[file], bytes,
	                  err);
	if (rc < 0)
		return rc;
	return sink->write(sink->self, bytes, err);
}

/* Pass on the files of item `index`, number `nth` of the decoded frame. */
static int tell_files(struct tkb_decoder *decoder,
                      const struct tkb_bundle *bundle, size_t index, size_t nth,
                      const struct tkb_file_visitor *visitor,
                      struct tkb_error *err)
{
	const struct tkb_entry *entry = &bundle->manifest.entries[index];
	int rc = 0;

	for (size_t i = 0; i < entry->file_count && rc == 0; i++) {
		const struct tkb_bytes bytes =
			tkb_decoder_file(decoder, nth, i);

		rc = checked_file(decoder, bundle, &entry->files[i], bytes,
		                  err);
		if (rc == 0)
			rc = visitor->on_file(visitor->self, index, i, bytes,
			                      err);
	}
	return rc;
}

size_t tkb_bundle_launcher_count(const struct tkb_bundle *bundle)
{
	return bundle->manifest.launcher_count;
}

const struct tkb_saved_launcher *tkb_bundle_launcher(
	const struct tkb_bundle *bundle, size_t index)
{
	return &bundle->manifest.launchers[index];
}

size_t tkb_bundle_payload(const struct tkb_bundle *bundle, size_t index)
{
	const struct tkb_manifest *manifest = &bundle->manifest;

	return manifest->entry_count +
	       tkb_payload_find(manifest->entries + manifest->entry_count,
	                        manifest->item_count - manifest->entry_count,
	                        &manifest->launchers[index].digest);
}

int tkb_bundle_read_launcher(const struct tkb_bundle *bundle, size_t index,
                             const struct tkb_sink *sink, struct tkb_error *err)
{
	return tkb_bundle_read(bundle, tkb_bundle_payload(bundle, index), 0,
	                       sink, err);
}

int tkb_bundle_read_entry(const struct tkb_bundle *bundle, size_t index,
                          const struct tkb_file_visitor *visitor,
                          struct tkb_error *err)
{
	TKB_AUTO(tkb_decoder_close) struct tkb_decoder decoder = { 0 };
	size_t nth = 0;
	int rc;

	rc = decode_for(&decoder, bundle, index, &nth, err);
	if (rc < 0)
		return rc;
	return tell_files(&decoder, bundle, index, nth, visitor, err);
}

static uint64_t entries_size(const struct tkb_bundle *bundle)
{
	uint64_t size = 0;

	for (size_t i = 0; i < bundle->manifest.entry_count; i++)
		size += tkb_entry_size(&bundle->manifest.entries[i]);
	return size;
}

int tkb_bundle_read_all(const struct tkb_bundle *bundle,
                        const struct tkb_file_visitor *visitor,
                        const struct tkb_watch *watch, struct tkb_error *err)
{
	TKB_AUTO(tkb_decoder_close) struct tkb_decoder decoder = { 0 };
	TKB_AUTO(tkb_watcher_release) struct tkb_watcher watcher;
	struct tkb_watch own = { 0 };
	int rc;

	tkb_watcher_init(&watcher, &own, entries_size(bundle));
	rc = tkb_watch_read(&own, watch, err);
	if (rc == 0)
		rc = tkb_decoder_open(&decoder, err);
	for (size_t i = 0; i < bundle->frame_count && rc == 0; i++) {
		const struct tkb_frame *frame = &bundle->frames[i];

		rc = tkb_watcher_check(&watcher, err);
		if (rc == 0)
			rc = tkb_decoder_decode(&decoder, bundle, i, err);
		for (size_t j = 0; j < frame->entry_count && rc == 0; j++) {
			const size_t index = frame->entries[j];

			if (index >= bundle->manifest.entry_count)
				continue;
			rc = tell_files(&decoder, bundle, index, j, visitor,
			                err);
			tkb_watcher_progress(&watcher,
			                     tkb_entry_size(tkb_bundle_entry(
						     bundle, index)));
		}
	}
	return rc;
}
