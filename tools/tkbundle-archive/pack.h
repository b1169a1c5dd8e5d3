/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_PACK_H
#define TKBUNDLE_ARCHIVE_PACK_H

#include <stdint.h>

#include "base/digest.h"

/* What a record says that its entry is. */
enum pack_kind {
	PACK_FILE = 'f',
	PACK_PROGRAM = 'x',
	PACK_FOLDER = 'd',
	PACK_END = 'e'
};

/*
 * Before each entry: this, its path, and behind that the bytes of a file. Both
 * processes are of one machine and one build.
 */
struct pack_record {
	uint64_t size;        /* of the file */
	uint32_t path_length; /* without a zero, at most PACK_PATH_LIMIT */
	uint32_t kind;
};

enum {
	PACK_PATH_LIMIT = 4096
};

/*
 * Write the archive of all records that come from `records_fd`, in their order, to
 * `archive_fd`.
 *
 * @param format  "tar.gz", "tar.zst" or "zip"
 * @param time    of all entries, in seconds since 1970
 * @param hasher  NULL, or of a tar: receives what it is without compression, whose
 *                digest goes to `plain_out`
 */
TKB_NODISCARD int pack(int records_fd, int archive_fd, const char *format,
                       int64_t time, struct tkb_hasher *hasher,
                       struct tkb_digest *plain_out, struct tkb_error *err);

#endif
