/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_IMPORT_H
#define TKBUNDLE_ARCHIVE_IMPORT_H

#include "archive/archive_find.h"
#include "archive/archive_folder.h"
#include "cli/cli.h"

/* What to collect, and how. */
struct archive_import {
	const struct arguments *args;
	const struct archive_folder *folder;
	const struct archive_found *found; /* in the folder */
	const struct tkb_watch
		*watch;       /* gets paths as they are in the archive */
	uint32_t deadline_ms; /* for each step; 0: no deadline */
};

/*
 * Collect the caches that were found in an archive. A single cache root is
 * collected as by `collect`; several are collected into a bundle each, and
 * these are merged.
 *
 * @param output  the file that the bundle goes into; NULL: none, a dry run
 * @return as tkb_collect_to_file(), or tkb_merge_to_file()
 */
TKB_NODISCARD int archive_import_collect(const struct archive_import *import,
                                         const char *output,
                                         struct tkb_collect_report *report,
                                         struct tkb_error *err);

/*
 * Convert `path`, which is in the folder, to its path in the archive; "." is
 * the whole archive.
 */
const char *archive_import_shown(const struct archive_folder *folder,
                                 const char *path);

#endif
