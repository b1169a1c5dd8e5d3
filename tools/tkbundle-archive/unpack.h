/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_UNPACK_H
#define TKBUNDLE_ARCHIVE_UNPACK_H

#include <stdint.h>

#include <tkbundle/error.h>

/* What was unpacked. */
struct unpacked {
	uint64_t file_count;
	uint64_t size; /* bytes of the files */
};

/*
 * Unpack a tar or ZIP from `archive_fd` into the empty folder `folder_fd`. Only
 * their owner may read the files. The execute bit is the only attribute taken from
 * the archive. A link within the archive is reported and left out.
 *
 * @return 0; TKB_ERR_CORRUPT (the archive is truncated, inconsistent or unsafe),
 *         TKB_ERR_TOO_LARGE, TKB_ERR_IO or TKB_ERR_NOMEM; after a failure, the
 *         folder holds a part
 */
TKB_NODISCARD int unpack(int archive_fd, int folder_fd, struct unpacked *out,
                         struct tkb_error *err);

#endif
