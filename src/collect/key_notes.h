/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_KEY_NOTES_H
#define TKB_COLLECT_KEY_NOTES_H

/* Notes about entries, by their keys, for times.h and makers.h. */

#include "base/arena.h"
#include "base/base.h"

struct tkb_key_note {
	const char *key;  /* of an entry or a unit */
	const char *text; /* or NULL */
	uint32_t number;
	size_t order; /* of two notes with one key, the first is kept */
};

/*
 * A zeroed list is empty. tkb_key_notes_sort() sorts it by key and keeps one
 * note per key. Notes that were added one after another share equal texts.
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

/* Compare two notes, for qsort(). */
int tkb_key_note_compare(const void *a, const void *b);

/* The note for `key`, or NULL. The notes must have been sorted. */
const struct tkb_key_note *tkb_key_notes_find(const struct tkb_key_notes *notes,
                                              const char *key);

#endif
