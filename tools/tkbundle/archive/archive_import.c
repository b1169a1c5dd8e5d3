/* SPDX-License-Identifier: Apache-2.0 */
#include "archive/archive_import.h"

#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "config/choices.h"

const char *archive_import_shown(const struct archive_folder *folder,
                                 const char *path)
{
	const size_t length = strlen(folder->files);

	if (strncmp(path, folder->files, length) != 0)
		return path;
	return path[length] == '/' ? path + length + 1 : ".";
}

static void show_import_result(void *self, const struct tkb_result *result)
{
	const struct archive_import *const import = self;
	struct tkb_result shown = *result;

	shown.root = archive_import_shown(import->folder, result->root);
	import->watch->on_result(import->watch->self, &shown);
}

static void show_import_progress(void *self, uint64_t done, uint64_t total)
{
	const struct archive_import *const import = self;

	import->watch->on_progress(import->watch->self, done, total);
}

static bool is_import_cancelled(void *self)
{
	const struct archive_import *const import = self;

	return import->watch->is_cancelled(import->watch->self);
}

/*
 * Collect one root of kernels, or none; the first call also collects all trees.
 */
static int collect_import_root(const struct archive_import *import,
                               size_t index, const char *output,
                               struct tkb_collect_report *report,
                               struct tkb_error *err)
{
	const struct archive_found *const found = import->found;
	const struct tkb_watch watch = {
		.struct_size = sizeof(watch),
		.self = (void *)(uintptr_t)import,
		.on_result = show_import_result,
		.on_progress = show_import_progress,
		.is_cancelled = is_import_cancelled,
	};
	const struct root root = { .trees = found->trees };
	struct tkb_collect_options chosen =
		choices_for_collect(import->args, &root);

	if (index != 0)
		chosen.tree_count = 0;
	chosen.watch = &watch;
	chosen.deadline_ms = import->deadline_ms;
	if (output != NULL)
		return tkb_collect_to_file(
			found->kernel_count == 0 ? NULL : found->kernels[index],
			&chosen, output, report, err);
	chosen.is_dry_run = true;
	return tkb_collect(found->kernel_count == 0 ? NULL
	                                            : found->kernels[index],
	                   &chosen, NULL, report, err);
}

/*
 * Add up the counts of several collects, except those that only the merge
 * knows.
 */
static void add_report(struct tkb_collect_report *sum,
                       const struct tkb_collect_report *report)
{
	sum->is_inductor |= report->is_inductor;
	sum->collected_count += report->collected_count;
	sum->left_out_count += report->left_out_count;
	sum->unfinished_count += report->unfinished_count;
	sum->stray_count += report->stray_count;
	sum->moved_count += report->moved_count;
	sum->file_count += report->file_count;
	sum->size += report->size;
}

/*
 * Several roots
 */

struct parts {
	struct tkb_bundle **items; /* owned, and so is each */
	size_t count;
};

static void parts_close(struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		tkb_bundle_close(parts->items[i]);
	free(parts->items);
}

static int merge_collected(const struct parts *parts, const char *output,
                           struct tkb_collect_report *report,
                           struct tkb_error *err)
{
	const struct tkb_bundle *const *const bundles =
		(const struct tkb_bundle *const *)parts->items;
	struct tkb_merge_report merged = { .struct_size = sizeof(merged) };
	struct tkb_merge_options chosen = { .struct_size = sizeof(chosen) };
	int rc;

	rc = tkb_merge_to_file(bundles, parts->count, &chosen, output, &merged,
	                       err);
	if (rc != 0)
		return rc;
	report->id = merged.id;
	report->collected_count = merged.entry_count;
	report->bundle_size = merged.bundle_size;
	return 0;
}

static int collect_part(const struct archive_import *import, size_t index,
                        const char *output, struct parts *parts,
                        struct tkb_collect_report *sum, struct tkb_error *err)
{
	struct tkb_collect_report report = { .struct_size = sizeof(report) };
	TKB_AUTO(text_free)
	char *path = text_format("%s/%zu.tkb", import->folder->path, index);
	int collected;
	int rc = 0;

	if (path == NULL)
		return cli_error_nomem(err);
	collected = collect_import_root(
		import, index, output != NULL ? path : NULL, &report, err);
	if (!cli_is_done(collected))
		return collected;
	add_report(sum, &report);
	if (output != NULL)
		rc = tkb_bundle_open(path, &parts->items[parts->count], err);
	parts->count += output != NULL && rc == 0;
	return rc == 0 ? collected : rc;
}

static int collect_all(const struct archive_import *import, const char *output,
                       struct tkb_collect_report *report, struct tkb_error *err)
{
	TKB_AUTO(parts_close) struct parts parts = { .count = 0 };
	int worst = 0;
	int rc = 0;

	parts.items = calloc(import->found->kernel_count,
	                     sizeof(struct tkb_bundle *));
	if (parts.items == NULL)
		return cli_error_nomem(err);
	for (size_t i = 0; i < import->found->kernel_count; i++) {
		rc = collect_part(import, i, output, &parts, report, err);
		if (!cli_is_done(rc))
			return rc;
		worst = rc != 0 ? rc : worst;
	}
	rc = output == NULL ? 0 : merge_collected(&parts, output, report, err);
	return rc == 0 ? worst : rc;
}

int archive_import_collect(const struct archive_import *import,
                           const char *output,
                           struct tkb_collect_report *report,
                           struct tkb_error *err)
{
	return import->found->kernel_count > 1
	               ? collect_all(import, output, report, err)
	               : collect_import_root(import, 0, output, report, err);
}
