/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_EXPORT_H
#define TKBUNDLE_ARCHIVE_EXPORT_H

#include "archive/archive_child.h"

/* What to pack, and how. All are borrowed. */
struct archive_export_options {
	struct cli *cli;
	const char *name; /* of what is packed, for messages */
	const char
		*output; /* where the archive goes to, for messages; or NULL */
	const char *folder; /* with all that is packed */
	const char *format; /* as tkbundle-archive has it */
	const struct deadline *deadline;
	bool is_verbose;
	bool has_sum; /* tell what the tar is without compression */
};

/* What was packed. */
struct archive_export {
	uint64_t file_count;
	uint64_t size;
	char sum[TKB_DIGEST_HEX_SIZE]; /* where it was asked for */
};

/*
 * The time of all files, in seconds since 1970: $SOURCE_DATE_EPOCH, as for
 * reproducible builds, else 0.
 *
 * @param out  may be NULL
 * @return false: the variable is no number
 */
bool archive_export_read_time(char out[24]);

/*
 * Pack what is in the folder into an archive, in an order that depends on the names
 * alone. What tkbundle itself keeps in a cache is left out.
 *
 * @return as archive_child_finish()
 */
TKB_NODISCARD int archive_export_pack(
	const struct archive_export_options *options, int out_fd,
	struct archive_export *out, struct tkb_error *err);

#endif
