/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_SAME_KEY_H
#define TKBUNDLE_SAME_KEY_H

#include "diff/diff.h"
#include "why/reason.h"

/*
 * Compare two entries with the same key: do they differ only in lines for
 * debuggers, as when a program is in another folder?
 */

/* The names of the files that differ, separated by commas. */
#define SAME_KEY_SIZE 400

/*
 * Compare the files of a pair that differs.
 *
 * @param a  the source of one of the pair, `b` of the other
 * @param reason  REASON_DEBUG_LINES or REASON_BYTES
 * @return 0, or as of source_read()
 */
TKB_NODISCARD int same_key_compare(const struct source *a,
                                   const struct source *b,
                                   const struct diff_pair *pair,
                                   enum reason *reason, char out[SAME_KEY_SIZE],
                                   struct tkb_error *err);

#endif
