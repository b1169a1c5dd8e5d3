/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_NOTES_PUSHES_H
#define TKB_NOTES_PUSHES_H

/*
 * Who pushed what, when: notes that a record keeps of the pushes with labels that
 * made its bundle. In a record, of which they are a member:
 *
 *     "pushes":[[1763884800000,17,[["by","ci"],["commit","4f2a"]]],...]
 *
 * The oldest stand first, and none is there twice.
 */

#include <tkbundle/fleet.h>

#include "base/base.h"
#include "base/buf.h"
#include "text/schema.h"

enum {
	TKB_LABELS_LIMIT = 16, /* of a push */
	TKB_PUSHES_LIMIT = 256 /* of a record: the newest stay */
};

/* Zeroed is empty. */
struct tkb_pushes {
	struct tkb_push_note *items; /* owned; what they name is not */
	size_t count;
	size_t capacity;
};

void tkb_pushes_release(struct tkb_pushes *pushes);

/*
 * Check a caller's labels, and sort them by name into `out`, where their texts are
 * kept by reference. TKB_ERR_INVALID where one is not allowed, or two have one name.
 */
TKB_NODISCARD int tkb_labels_read(const struct tkb_label *labels, size_t count,
                                  struct tkb_label out[TKB_LABELS_LIMIT],
                                  struct tkb_error *err);

/* Add a note of a push of now, if it has labels, which are kept by reference. */
TKB_NODISCARD int tkb_pushes_begin(struct tkb_pushes *pushes,
                                   const struct tkb_label *labels, size_t count,
                                   uint64_t entry_count, struct tkb_error *err);

/* Add a note, whose labels are kept by reference, unless it is there. */
TKB_NODISCARD int tkb_pushes_add(struct tkb_pushes *pushes,
                                 const struct tkb_push_note *note,
                                 struct tkb_error *err);

/* Sort them, the oldest first, and keep the newest. */
void tkb_pushes_sort(struct tkb_pushes *pushes);

/* Append the list, of pushes that are sorted. */
void tkb_pushes_write(const struct tkb_pushes *pushes, struct tkb_buf *out);

/* Of struct tkb_push_note. */
extern const struct tkb_schema_list tkb_pushes_schema;

#endif
