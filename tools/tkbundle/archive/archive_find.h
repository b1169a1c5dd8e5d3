/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_FIND_H
#define TKBUNDLE_ARCHIVE_FIND_H

#include "cli/args.h"
#include "config/root.h"

/*
 * Find the caches in an unpacked archive.
 *
 * A root of kernels is recognized by its keys, Inductor's and vLLM's folders by
 * folders that only they have, and the folder of another engine with a profile
 * by the place where that engine looks for it.
 */
struct archive_found {
	char **kernels;      /* owned; roots of kernels, in order */
	size_t kernel_count; /* 0: only trees */
	struct trees trees;  /* trees of engines, or those of --tree */
};

/*
 * Find the caches below `folder`: with --engine only those of these engines,
 * with --tree only these folders, which are relative to `folder`.
 *
 * @param out  released by the caller, also after a failure
 * @return 0, also if there are no caches; TKB_MISS (no such folder);
 *         TKB_ERR_INVALID (the options make no sense, or there are two caches
 *         with one name), TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_NODISCARD int archive_find(const char *folder, const struct arguments *args,
                               struct archive_found *out,
                               struct tkb_error *err);

void archive_found_release(struct archive_found *found);

#endif
