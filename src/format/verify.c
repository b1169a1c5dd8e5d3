/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/parallel.h"
#include "base/struct.h"
#include "cache/elf.h"
#include "cache/kernel.h"
#include "cache/names.h"
#include "tree/unit.h"
#include "tree/paths.h"
#include "format/reader.h"
#include "format/launcher_payload.h"
#include "cache/scrub.h"
#include "cache/watch.h"

/* What each thread needs to verify frames. */
struct checker {
	struct tkb_decoder *decoder; /* by reference */
	struct tkb_arena arena;      /* for one entry */
	struct tkb_buf text;
};

struct verifier {
	const struct tkb_bundle *bundle;
	struct tkb_decoder_team decoding;
	struct checker *checkers;   /* owned */
	struct tkb_watcher watcher; /* its lock guards the following members */
	bool *is_damaged;           /* owned; whether each payload is
	                               damaged, by item */
	struct tkb_verify_report report;
	struct tkb_error first; /* the first fault */
};

static void verifier_close(struct verifier *verifier)
{
	for (size_t i = 0; i < verifier->decoding.count; i++) {
		tkb_arena_release(&verifier->checkers[i].arena);
		tkb_buf_release(&verifier->checkers[i].text);
	}
	free(verifier->checkers);
	free(verifier->is_damaged);
	tkb_decoder_team_close(&verifier->decoding);
	tkb_watcher_release(&verifier->watcher);
}

static int check_digest(struct checker *checker, const struct tkb_file *file,
                        struct tkb_bytes bytes, struct tkb_error *err)
{
	int rc;

	rc = tkb_hasher_check(&checker->decoder->hasher, bytes, &file->digest,
	                      err);
	if (rc == TKB_MISS)
		return tkb_fail_entry(err, TKB_REASON_DAMAGED,
		                      "'%s' has another digest than the "
		                      "manifest says",
		                      file->name);
	return rc;
}

/* Check that the file's paths can be restored for any folder. */
static int check_sentinels(struct checker *checker, const struct tkb_file *file,
                           struct tkb_bytes bytes, struct tkb_error *err)
{
	if (file->sentinels == 0)
		return 0;
	if (file->style != TKB_PATH_STYLE_NONE)
		return tkb_paths_check(bytes, file->style, file->sentinels,
		                       err);
	tkb_buf_reset(&checker->text);
	return tkb_restore(bytes, file->name, tkb_text("/"), file->sentinels,
	                   &checker->text, err);
}

struct view {
	const struct tkb_entry *entry;
	const struct tkb_decoder *decoder;
	size_t nth;
};

static struct tkb_bytes file_bytes(const struct view *view, size_t file)
{
	return tkb_decoder_file(view->decoder, view->nth, file);
}

static int check_kernel(struct checker *checker, const struct view *view,
                        struct tkb_error *err)
{
	struct tkb_bytes files[TKB_FILES_LIMIT];

	for (size_t i = 0; i < view->entry->file_count; i++)
		files[i] = file_bytes(view, i);
	return tkb_kernel_check(view->entry, files, &checker->arena, err);
}

static int check_module(struct checker *checker, const struct view *view,
                        struct tkb_error *err)
{
	for (size_t i = 0; i < view->entry->file_count; i++) {
		int rc;

		tkb_buf_reset(&checker->text);
		rc = tkb_elf_check_module(file_bytes(view, i),
		                          view->entry->files[i].name,
		                          &checker->text, err);
		if (rc < 0)
			return rc;
		if (!tkb_bytes_equal(tkb_buf_bytes(&checker->text),
		                     tkb_text(view->entry->platform)))
			return tkb_fail_entry(err, TKB_REASON_BINARY,
			                      "'%s' is for '%.*s', the "
			                      "manifest says '%s'",
			                      view->entry->files[i].name,
			                      (int)checker->text.size,
			                      (const char *)checker->text.data,
			                      view->entry->platform);
	}
	return 0;
}

static int check_entry(struct checker *checker, const struct view *view,
                       struct tkb_error *err)
{
	int rc;

	for (size_t i = 0; i < view->entry->file_count; i++) {
		const struct tkb_file *file = &view->entry->files[i];
		const struct tkb_bytes bytes = file_bytes(view, i);

		rc = check_digest(checker, file, bytes, err);
		if (rc < 0)
			return rc;
		rc = check_sentinels(checker, file, bytes, err);
		if (rc < 0)
			return rc;
	}
	if (view->entry->kind == TKB_KIND_KERNEL)
		return check_kernel(checker, view, err);
	if (view->entry->kind == TKB_KIND_MODULE)
		return check_module(checker, view, err);
	return 0;
}

static void keep_first(struct verifier *verifier, const struct tkb_entry *item,
                       bool is_of_frame, const struct tkb_error *fault)
{
	if (verifier->first.status != 0)
		return;
	verifier->first = *fault;
	/* A message about a frame already names the bundle. */
	if (!is_of_frame)
		(void)tkb_fail_while(&verifier->first, TKB_ERR_CORRUPT,
		                     "'%s', %s '%s'", verifier->bundle->name,
		                     item->kind == TKB_KIND_PAYLOAD ? "payload"
		                                                    : "entry",
		                     item->key);
}

static void note_entry(struct verifier *verifier, const struct tkb_entry *entry,
                       int rc, bool is_of_frame, const struct tkb_error *fault)
{
	const struct tkb_result result = {
		.root = "",
		.key = entry->key,
		.name = entry->name,
		.outcome = rc == 0 ? TKB_OUTCOME_VERIFIED : TKB_OUTCOME_FAILED,
		.reason = rc == 0 ? TKB_REASON_NONE
		                  : (enum tkb_reason)fault->reason,
		.message = rc == 0 ? "" : fault->message,
	};

	(void)pthread_mutex_lock(&verifier->watcher.lock);
	if (rc == 0) {
		verifier->report.verified_count++;
		verifier->report.file_count += entry->file_count;
		verifier->report.size += tkb_entry_size(entry);
	} else {
		verifier->report.failed_count++;
		keep_first(verifier, entry, is_of_frame, fault);
	}
	(void)pthread_mutex_unlock(&verifier->watcher.lock);
	tkb_watcher_result(&verifier->watcher, &result);
	tkb_watcher_progress(&verifier->watcher, tkb_entry_size(entry));
}

/* Note a damaged payload: the launchers that use it are reported at the end. */
static void note_payload(struct verifier *verifier, size_t item, int rc,
                         bool is_of_frame, const struct tkb_error *fault)
{
	if (rc == 0)
		return;
	(void)pthread_mutex_lock(&verifier->watcher.lock);
	verifier->is_damaged[item] = true;
	keep_first(verifier, &verifier->bundle->manifest.entries[item],
	           is_of_frame, fault);
	(void)pthread_mutex_unlock(&verifier->watcher.lock);
}

static void report_launchers(struct verifier *verifier)
{
	const struct tkb_manifest *manifest = &verifier->bundle->manifest;

	for (size_t i = 0; i < manifest->launcher_count; i++) {
		const struct tkb_saved_launcher *launcher =
			&manifest->launchers[i];
		const size_t item = tkb_bundle_payload(verifier->bundle, i);
		const bool is_damaged = verifier->is_damaged[item];
		const struct tkb_result result = {
			.root = "",
			.key = launcher->cache_key,
			.name = launcher->name,
			.is_launcher = true,
			.outcome = is_damaged ? TKB_OUTCOME_FAILED
			                      : TKB_OUTCOME_VERIFIED,
			.reason = is_damaged ? TKB_REASON_DAMAGED
			                     : TKB_REASON_NONE,
			.message = is_damaged ? "its payload is damaged" : "",
		};

		verifier->report.launcher_count += !is_damaged;
		verifier->report.failed_launcher_count += is_damaged;
		tkb_watcher_result(&verifier->watcher, &result);
	}
}

static int verify_frame(struct verifier *verifier, size_t worker, size_t index,
                        struct tkb_error *err)
{
	struct checker *checker = &verifier->checkers[worker];
	const struct tkb_bundle *bundle = verifier->bundle;
	const struct tkb_frame *frame = &bundle->frames[index];
	struct tkb_error fault = { 0 };
	int frame_rc;
	int rc;

	rc = tkb_watcher_check(&verifier->watcher, err);
	if (rc < 0)
		return rc;
	frame_rc = tkb_decoder_decode(checker->decoder, bundle, index, &fault);
	if (frame_rc < 0 && frame_rc != TKB_ERR_CORRUPT) {
		*err = fault;
		return frame_rc;
	}
	fault.reason = TKB_REASON_DAMAGED;
	for (size_t i = 0; i < frame->entry_count; i++) {
		const struct view view = {
			.entry = &bundle->manifest.entries[frame->entries[i]],
			.decoder = checker->decoder,
			.nth = i,
		};

		rc = frame_rc;
		if (frame_rc == 0) {
			tkb_arena_release(&checker->arena);
			rc = check_entry(checker, &view, &fault);
		}
		if (rc == TKB_ERR_NOMEM) {
			*err = fault;
			return rc;
		}
		if (view.entry->kind == TKB_KIND_PAYLOAD)
			note_payload(verifier, frame->entries[i], rc,
			             frame_rc != 0, &fault);
		else
			note_entry(verifier, view.entry, rc, frame_rc != 0,
			           &fault);
	}
	return 0;
}

static int verify_nth(void *self, size_t worker, size_t index,
                      struct tkb_error *err)
{
	struct verifier *verifier = self;
	struct tkb_decoder *decoder = &verifier->decoding.decoders[worker];
	const struct tkb_frame *frame = &verifier->bundle->frames[index];
	int rc;

	tkb_decoder_hold(decoder, frame);
	rc = verify_frame(verifier, worker, index, err);
	tkb_decoder_let_go(decoder, frame);
	return rc;
}

static int open_checkers(struct verifier *verifier, size_t count,
                         struct tkb_error *err)
{
	int rc;

	verifier->checkers =
		tkb_alloc_array(count, sizeof(*verifier->checkers));
	if (verifier->checkers == NULL)
		return tkb_fail_nomem(err);
	rc = tkb_decoder_team_open(&verifier->decoding, count, err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		verifier->checkers[i].decoder = &verifier->decoding.decoders[i];
		verifier->checkers[i].text.limit = 2 * TKB_FILE_SIZE_LIMIT;
	}
	return rc;
}

int tkb_bundle_verify(const struct tkb_bundle *bundle,
                      const struct tkb_verify_options *options,
                      struct tkb_verify_report *report, struct tkb_error *err)
{
	struct tkb_verify_options chosen;
	TKB_AUTO(verifier_close)
	struct verifier verifier = { .bundle = bundle };
	const struct tkb_parallel_work work = { verify_nth, &verifier };
	struct tkb_timed timed;
	uint64_t total = 0;
	int rc;

	rc = TKB_STRUCT_READ(tkb_verify_options, watch, &chosen, options, err);
	if (rc == 0)
		rc = TKB_STRUCT_CHECK(tkb_verify_report, size, report, err);
	if (rc == 0)
		rc = tkb_timed_begin(&timed, chosen.watch, chosen.deadline_ms,
		                     err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < bundle->manifest.entry_count; i++)
		total += tkb_entry_size(&bundle->manifest.entries[i]);
	tkb_watcher_init(&verifier.watcher, &timed.watch, total);
	verifier.is_damaged = tkb_alloc_array(bundle->manifest.item_count,
	                                      sizeof(*verifier.is_damaged));
	if (verifier.is_damaged == NULL)
		return tkb_fail_nomem(err);
	rc = open_checkers(&verifier, tkb_parallel_threads(chosen.threads),
	                   err);
	if (rc < 0)
		return rc;
	rc = tkb_decoder_team_run(&verifier.decoding, bundle, &work, err);
	if (rc < 0)
		return tkb_timed_end(&timed, rc, err);
	report_launchers(&verifier);

	TKB_STRUCT_WRITE(tkb_verify_report, report, &verifier.report);
	if (verifier.first.status == 0)
		verifier.first = bundle->fault;
	return verifier.first.status == 0
	               ? 0
	               : tkb_fail_as(err, TKB_ERR_CORRUPT, &verifier.first);
}
