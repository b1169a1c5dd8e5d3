/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_LIMITS_H
#define TKBUNDLE_ARCHIVE_LIMITS_H

#include <stdint.h>

/*
 * What a foreign archive may hold. The limits of a bundle are lower: a collect leaves
 * out, by name, what is beyond those. These stop an archive that was made to fill a
 * disk.
 */
enum {
	ARCHIVE_ENTRIES_LIMIT = 1000000, /* files, and folders on their way */
	ARCHIVE_PATH_LIMIT = 2048,       /* bytes */
	ARCHIVE_NAME_LIMIT = 255,        /* bytes of a part of it */
	ARCHIVE_DEPTH_LIMIT = 64
};

#define ARCHIVE_FILE_LIMIT ((uint64_t)256 << 20)
#define ARCHIVE_SIZE_LIMIT ((uint64_t)16 << 30)

#endif
