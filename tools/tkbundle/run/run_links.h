/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_LINKS_H
#define TKBUNDLE_RUN_LINKS_H

#include <stdbool.h>

/*
 * Link the entries of a root that we cannot write into one that we can.
 *
 * Each entry gets its own folder: a compiler may write there, and would fail in
 * a folder that is a link. The files in it are hard links where possible, else
 * symbolic ones. The group file is new: it names the files in the new folder,
 * and has a use stamp. It is written last, so that an entry appears in one
 * step.
 *
 * Existing entries are kept. If a link of an entry is dangling, its group file
 * is removed, so that the compiler takes the entry for a miss.
 *
 * The library takes hard links for files. It does not trust symbolic links:
 * emit replaces them by files, and collect leaves such an entry out.
 */
void run_links_make(const char *from, const char *to, bool is_inductor);

/*
 * Link the kernels in the engines' trees into the root, where the command looks
 * for them; see tkb_gather_kernels(). `self` is the struct run, with a plan.
 * The results are stored in the shared memory.
 */
void run_links_gather(void *self);

#endif
