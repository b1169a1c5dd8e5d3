/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_ARCHIVE_FIND_H
#define TKBUNDLE_ARCHIVE_FIND_H

#include "cli/args.h"
#include "config/root.h"

/*
 * The caches in what was unpacked.
 *
 * A root of kernels is known by its keys, Inductor's and vLLM's folder by the
 * folders that they alone have, and that of another engine with a profile by the
 * place where that engine looks for it.
 */
struct archive_found {
	char **kernels;      /* owned; roots of kernels, in order */
	size_t kernel_count; /* 0: only trees */
	struct trees trees;  /* of engines, or as --tree says */
};

/*
 * Find them below `folder`. With --engine, only those engines' count; with --tree,
 * those folders, which are relative to `folder`, count.
 *
 * @param out  released by the caller, also after a failure
 * @return 0, though there may be none; TKB_MISS (no such folder); TKB_ERR_INVALID (what is asked for makes no
 *         sense, or there are two of one name), TKB_ERR_IO or TKB_ERR_NOMEM
 */
TKB_NODISCARD int archive_find(const char *folder, const struct arguments *args,
                               struct archive_found *out,
                               struct tkb_error *err);

void archive_found_release(struct archive_found *found);

#endif
