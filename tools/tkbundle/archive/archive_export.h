/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_EXPORT_H
#define TKBUNDLE_ARCHIVE_EXPORT_H

#include "archive/archive_child.h"

/* What was sent. */
struct archive_export {
	uint64_t file_count;
	uint64_t size;
};

/*
 * Send what is in `folder` to a child that packs it, in an order that depends on
 * the names alone, and wait until it is done. What tkbundle itself keeps in a cache
 * is not sent.
 *
 * @param records_fd  a socket that leads to the child; closed
 * @return as archive_child_finish()
 */
TKB_NODISCARD int archive_export_send(struct archive_child *child,
                                      const char *folder, int records_fd,
                                      struct archive_export *out,
                                      struct tkb_error *err);

#endif
