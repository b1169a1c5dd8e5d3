/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_KEY_NOTES_H
#define TKB_COLLECT_KEY_NOTES_H

/* What is noted of entries, by their keys: times.h and makers.h. */

#include "base/arena.h"
#include "base/base.h"

struct tkb_key_note {
	const char *key;  /* of the entry, also of a unit */
	const char *text; /* or NULL */
	uint32_t number;
	size_t order; /* of two with one key, the first is used */
};

/*
 * Zeroed is empty. After tkb_key_notes_sort() by key, each once. Equal texts next to
 * each other are shared.
 */
struct tkb_key_notes {
	struct tkb_arena arena;     /* owns the keys and texts */
	struct tkb_key_note *items; /* owned */
	size_t count;
	size_t capacity;
};

void tkb_key_notes_release(struct tkb_key_notes *notes);

TKB_NODISCARD int tkb_key_notes_add(struct tkb_key_notes *notes,
                                    const char *key, const char *text,
                                    uint32_t number, struct tkb_error *err);

void tkb_key_notes_sort(struct tkb_key_notes *notes);

/* For qsort(). */
int tkb_key_note_compare(const void *a, const void *b);

/* NULL where they lack it. They must have been sorted. */
const struct tkb_key_note *tkb_key_notes_find(const struct tkb_key_notes *notes,
                                              const char *key);

#endif
