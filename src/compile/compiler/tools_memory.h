/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_COMPILER_TOOLS_MEMORY_H
#define TKB_COMPILE_COMPILER_TOOLS_MEMORY_H

/*
 * What workers answered when they were asked for tools, kept for the next
 * process in the file `tools` of the cache root's own folder: the same compile
 * again is a hit without a process.
 *
 *     is_known = tkb_tools_recall(root, &question, &answer);
 *     ...
 *     tkb_tools_note(&fresh, &question, answer);
 *     tkb_tools_remember(root, fresh);
 *
 * It only saves time. A file that is damaged, or not ours, is as none, and is
 * replaced; an answer counts while all files that it stands on are as they were.
 * Of two processes that write at the same time one is forgotten.
 */

#include <tkbundle/entry.h>

#include "base/base.h"
#include "base/buf.h"

/* Is the answer to `question` known, and does it hold? */
bool tkb_tools_recall(const char *root, const struct tkb_digest *question,
                      struct tkb_buf *answer);

/* Add to `fresh` what is to be remembered, if it names what it stands on. */
void tkb_tools_note(struct tkb_buf *fresh, const struct tkb_digest *question,
                    struct tkb_bytes answer);

/*
 * Write what was noted, before what is there; the oldest is dropped where there
 * is too much. Does nothing where there is no root, or where that cannot be
 * written.
 */
void tkb_tools_remember(const char *root, struct tkb_bytes fresh);

/* Forget everything: something was not so. */
void tkb_tools_forget(const char *root);

#endif
