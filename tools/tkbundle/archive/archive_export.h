/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_EXPORT_H
#define TKBUNDLE_ARCHIVE_EXPORT_H

#include "archive/archive_child.h"

/* What to pack, and how. All are borrowed. */
struct archive_export_options {
	struct cli *cli;
	const char *name;   /* name of what is packed, for messages */
	const char *output; /* name of the archive, for messages; or NULL */
	const char *folder; /* the folder to pack */
	const char *format; /* as in tkbundle-archive */
	const struct deadline *deadline;
	bool is_verbose;
	bool has_sum; /* report the digest and size of the tar before
	                 compression */
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
 * @return false: the variable is not a number
 */
bool archive_export_read_time(char out[24]);

/*
 * Pack the content of the folder into an archive, in an order that depends only
 * on the names. Files that tkbundle itself keeps in a cache are left out.
 *
 * @return as archive_child_finish()
 */
TKB_NODISCARD int archive_export_pack(
	const struct archive_export_options *options, int out_fd,
	struct archive_export *out, struct tkb_error *err);

#endif
