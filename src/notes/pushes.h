/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NOTES_PUSHES_H
#define TKB_NOTES_PUSHES_H

/*
 * Notes about pushes with labels. A record has the notes of all pushes that
 * were merged into its bundle, in a member:
 *
 *     "pushes":[[1763884800000,17,[["by","ci"],["commit","4f2a"]]],...]
 *
 * They are sorted, the oldest first, without duplicates.
 */

#include <tkbundle/fleet.h>

#include "base/base.h"
#include "base/buf.h"
#include "text/schema.h"

enum {
	TKB_LABELS_LIMIT = 16, /* of a push */
	TKB_PUSHES_LIMIT = 256 /* of a record; the newest ones stay */
};

/* A zeroed list is empty. */
struct tkb_pushes {
	struct tkb_push_note *items; /* owned, but not the texts */
	size_t count;
	size_t capacity;
};

void tkb_pushes_release(struct tkb_pushes *pushes);

/*
 * Check a caller's labels, and put them into `out`, sorted by name; their
 * strings are not copied. TKB_ERR_INVALID if one is malformed, or two have the
 * same name.
 */
TKB_NODISCARD int tkb_labels_read(const struct tkb_label *labels, size_t count,
                                  struct tkb_label out[TKB_LABELS_LIMIT],
                                  struct tkb_error *err);

/* Add a note of a push at this moment, if it has labels; borrows them. */
TKB_NODISCARD int tkb_pushes_begin(struct tkb_pushes *pushes,
                                   const struct tkb_label *labels, size_t count,
                                   uint64_t entry_count, struct tkb_error *err);

/* Add a note, unless the list has it; borrows its labels. */
TKB_NODISCARD int tkb_pushes_add(struct tkb_pushes *pushes,
                                 const struct tkb_push_note *note,
                                 struct tkb_error *err);

/* Sort the notes, the oldest first, and keep the newest TKB_PUSHES_LIMIT. */
void tkb_pushes_sort(struct tkb_pushes *pushes);

/* Append the list, which must be sorted. */
void tkb_pushes_write(const struct tkb_pushes *pushes, struct tkb_buf *out);

/* A list of struct tkb_push_note. */
extern const struct tkb_schema_list tkb_pushes_schema;

#endif
