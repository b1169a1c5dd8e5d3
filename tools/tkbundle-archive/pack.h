/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_PACK_H
#define TKBUNDLE_ARCHIVE_PACK_H

#include <stdint.h>

#include "base/digest.h"

/* The kinds of entries. */
enum pack_kind {
	PACK_FILE = 'f',
	PACK_PROGRAM = 'x',
	PACK_FOLDER = 'd',
	PACK_END = 'e'
};

/*
 * Each entry is sent as this struct, its path, and the bytes if it is a file.
 * Sender and receiver come from one build, on one machine.
 */
struct pack_record {
	uint64_t size;        /* of the file in bytes */
	uint32_t path_length; /* without a NUL, at most PACK_PATH_LIMIT */
	uint32_t kind;
};

enum {
	PACK_PATH_LIMIT = 4096
};

/*
 * Read records from `records_fd`, and write an archive of them, in their order, to
 * `archive_fd`.
 *
 * @param format  "tar.gz", "tar.zst" or "zip"
 * @param time    of all entries, in seconds since 1970
 * @param hasher  NULL, or for a tar: hashes the tar without compression; the
 *                digest goes to `plain_out`
 */
TKB_NODISCARD int pack(int records_fd, int archive_fd, const char *format,
                       int64_t time, struct tkb_hasher *hasher,
                       struct tkb_digest *plain_out, struct tkb_error *err);

#endif
