/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_TRITON_TRITON_DEPENDS_H
#define TKB_COMPILE_TRITON_TRITON_DEPENDS_H

/*
 * What an answer of triton_worker.py depends on, and the state of that at the time:
 *
 *     files      by mode and contents, or that there is none
 *     folders    by the names in them; of those that were searched for modules,
 *                by the names that a module may have
 *     links      by where they lead
 *     variables  by value
 *
 * A file or folder with the same identity counts as unchanged; else the contents
 * are compared. The state is noted after the worker has read a file, so if a file
 * was written since the worker began, the answer is not noted at all.
 *
 * For /proc and /sys nothing is noted, for devices only the mode. For files above 4
 * MiB, the contents are not compared: the identity must be the same.
 */

#include "base/base.h"
#include "base/buf.h"

/*
 * Add the state of everything that the fields TKB_TRITON_READ, _SEARCHED,
 * _LISTED, _VARIABLE and _LINK of `answer` name. False if it may differ from what
 * the worker saw.
 */
bool tkb_depends_note(struct tkb_bytes answer, int64_t began_ns,
                      struct tkb_buf *out);

/* Add the current state of the files in `folder`, which is an entry. */
bool tkb_depends_note_entry(const char *folder, struct tkb_buf *out);

/*
 * Is everything in the noted state? Fields of other kinds are ignored. If the
 * contents of some files had to be compared, the new state to note goes to
 * `renewed`.
 */
bool tkb_depends_hold(struct tkb_bytes noted, struct tkb_buf *renewed);

#endif
