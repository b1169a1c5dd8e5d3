/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_CACHE_FOLDER_H
#define TKB_CACHE_FOLDER_H

/* The names in a folder of a cache root. */

#include "base/base.h"
#include "base/buf.h"
#include "base/fd.h"

struct tkb_folder {
	DIR *dir;                    /* owned */
	int fd;                      /* the descriptor of `dir` */
	const char *key;             /* kept by reference */
	const struct tkb_buf *names; /* by reference; each ends with a zero */
	size_t group_count;
	size_t module_count;
	size_t autotune_count;
	size_t name_count;
};

/*
 * Open folder `key` below `root_fd` and put the names in it into `names`. A
 * failure has the reason "unreadable".
 */
TKB_NODISCARD int tkb_folder_open(int root_fd, const char *key,
                                  struct tkb_buf *names, struct tkb_folder *out,
                                  struct tkb_error *err);
void tkb_folder_close(struct tkb_folder *folder);

/* The name after `name` (NULL: the first name); NULL after the last. */
const char *tkb_folder_next(const struct tkb_folder *folder, const char *name);

#endif
