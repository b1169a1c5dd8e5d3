/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TRITON_TRITON_DEPENDS_H
#define TKB_COMPILE_TRITON_TRITON_DEPENDS_H

/*
 * What an answer of triton_worker.py depends on, with the state in which it was:
 *
 *     files      by mode and contents, or that there is none
 *     folders    by the names in them; of those that were searched for modules,
 *                by the names that a module may have
 *     links      by where they lead
 *     variables  by value
 *
 * A file or folder whose identity is the same is taken to be unchanged; else its
 * contents are compared. The state is noted after the worker has read a file: what
 * was written since the worker began is not noted, and nor is the answer.
 *
 * Of /proc and /sys nothing is noted, of devices only the mode, and of files beyond
 * 4 MiB no contents: these must be the same files.
 */

#include "base/base.h"
#include "base/buf.h"

/*
 * Add the state of what the fields TKB_TRITON_READ, _SEARCHED, _LISTED, _VARIABLE
 * and _LINK of `answer` name. False if it is not that which the worker saw.
 */
bool tkb_depends_note(struct tkb_bytes answer, int64_t began_ns,
                      struct tkb_buf *out);

/* Add the state of the files in `folder`, an entry, as they are now. */
bool tkb_depends_note_entry(const char *folder, struct tkb_buf *out);

/*
 * Is all as it was noted? Fields of other kinds are passed over. What is to be noted
 * instead, now that the contents of some files were compared, goes to `renewed`.
 */
bool tkb_depends_hold(struct tkb_bytes noted, struct tkb_buf *renewed);

#endif
