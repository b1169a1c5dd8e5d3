/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_UNPACK_H
#define TKBUNDLE_ARCHIVE_UNPACK_H

#include <stdint.h>

#include <tkbundle/error.h>

/* What came out of an archive. */
struct unpacked {
	uint64_t file_count;
	uint64_t size; /* bytes of the files */
};

/*
 * Unpack the archive that can be read from `archive_fd`, a tar or ZIP, into the
 * folder `folder_fd`, which is empty. Files are made as their owner's alone, keep
 * the right to be executed, and nothing else of what the archive says of them. A
 * link within the archive is reported and left out.
 *
 * @return 0; TKB_ERR_CORRUPT (the archive is torn, contradicts itself, or is
 *         unsafe), TKB_ERR_TOO_LARGE, TKB_ERR_IO or TKB_ERR_NOMEM; the folder then
 *         holds a part
 */
TKB_NODISCARD int unpack(int archive_fd, int folder_fd, struct unpacked *out,
                         struct tkb_error *err);

#endif
