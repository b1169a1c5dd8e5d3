/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_LIMITS_H
#define TKBUNDLE_ARCHIVE_LIMITS_H

#include <stdint.h>

/*
 * Limits for a foreign archive. They stop an archive that was made to fill a
 * disk. The limits of a bundle are lower: a collect leaves out what exceeds
 * those, and names it.
 */
enum {
	ARCHIVE_ENTRIES_LIMIT = 1000000, /* files, and the folders above them */
	ARCHIVE_PATH_LIMIT = 2048,       /* bytes */
	ARCHIVE_NAME_LIMIT = 255,        /* bytes of one part of a path */
	ARCHIVE_DEPTH_LIMIT = 64
};

#define ARCHIVE_FILE_LIMIT ((uint64_t)1 << 30)
#define ARCHIVE_SIZE_LIMIT ((uint64_t)16 << 30)

#endif
