/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TEXT_SELECT_H
#define TKB_TEXT_SELECT_H

/* Find a key by its first characters, as a user types it. */

#include "base/base.h"

/*
 * Find the index of the only key among `count` that begins with `prefix`; if
 * that key occurs several times, the index of its first occurrence.
 * key_at(list, index) gives a key. Returns 0, TKB_MISS or TKB_ERR_INVALID
 * (several different keys begin with `prefix`).
 */
TKB_NODISCARD int tkb_select_key(const void *list, size_t count,
                                 const char *(*key_at)(const void *list,
                                                       size_t index),
                                 const char *prefix, size_t *out,
                                 struct tkb_error *err);

#endif
