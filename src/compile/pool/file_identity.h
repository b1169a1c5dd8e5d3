/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_POOL_FILE_IDENTITY_H
#define TKB_COMPILE_POOL_FILE_IDENTITY_H

/* Identifies a file and its contents: equal until somebody writes the file. */

#include "base/base.h"

struct tkb_file_identity {
	uint64_t device;
	uint64_t inode;
	uint64_t size;
	int64_t mtime_s;
	int64_t mtime_ns;
	int64_t ctime_s;
	int64_t ctime_ns;
};

/* Identify the file at `path`, following links. False if there is none. */
bool tkb_file_identify(const char *path, struct tkb_file_identity *out);

bool tkb_file_is_same(const struct tkb_file_identity *a,
                      const struct tkb_file_identity *b);

#endif
