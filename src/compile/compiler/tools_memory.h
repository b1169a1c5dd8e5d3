/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_TOOLS_MEMORY_H
#define TKB_COMPILE_COMPILER_TOOLS_MEMORY_H

/*
 * Workers' answers about tools, remembered for later processes in the file
 * `tools` of the cache root's own folder. With them, a compile that hits the
 * cache starts no process.
 *
 *     is_known = tkb_tools_recall(root, &query, &answer);
 *     ...
 *     tkb_tools_note(&fresh, &query, answer);
 *     tkb_tools_remember(root, fresh);
 *
 * This only saves time. A damaged or foreign file is ignored and replaced; an
 * answer is used only while the files it depends on are unchanged. If two
 * processes write at the same time, one's answers are lost.
 */

#include <tkbundle/entry.h>

#include "base/base.h"
#include "base/buf.h"

/* Find a remembered answer to `query` that is still valid. */
bool tkb_tools_recall(const char *root, const struct tkb_digest *query,
                      struct tkb_buf *answer);

/* Add an answer to `fresh`, if it names the files that it depends on. */
void tkb_tools_note(struct tkb_buf *fresh, const struct tkb_digest *query,
                    struct tkb_bytes answer);

/*
 * Write the fresh answers before the remembered ones; if there are too many,
 * drop the oldest. Does nothing if `root` is NULL or not writable.
 */
void tkb_tools_remember(const char *root, struct tkb_bytes fresh);

/* Forget all answers, because one has proved wrong. */
void tkb_tools_forget(const char *root);

#endif
