/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/key_notes.h"

#include <stdlib.h>
#include <string.h>

void tkb_key_notes_release(struct tkb_key_notes *notes)
{
	tkb_arena_release(&notes->arena);
	free(notes->items);
	*notes = (struct tkb_key_notes){ 0 };
}

/* The last note's text if it is equal, or a copy; NULL: out of memory. */
static const char *keep_text(struct tkb_key_notes *notes, const char *text)
{
	const char *last =
		notes->count != 0 ? notes->items[notes->count - 1].text : NULL;

	return last != NULL && strcmp(last, text) == 0
	               ? last
	               : tkb_arena_string(&notes->arena, tkb_text(text));
}

int tkb_key_notes_add(struct tkb_key_notes *notes, const char *key,
                      const char *text, uint32_t number, struct tkb_error *err)
{
	const struct tkb_key_note note = {
		.key = tkb_arena_string(&notes->arena, tkb_text(key)),
		.text = text == NULL ? NULL : keep_text(notes, text),
		.number = number,
		.order = notes->count,
	};

	if (note.key == NULL || (text != NULL && note.text == NULL))
		return tkb_fail_nomem(err);
	return tkb_append(&notes->items, &notes->count, &notes->capacity, &note,
	                  sizeof(note), err);
}

int tkb_key_note_compare(const void *a, const void *b)
{
	const struct tkb_key_note *left = a;
	const struct tkb_key_note *right = b;

	return strcmp(left->key, right->key);
}

static int compare_orders(const void *a, const void *b)
{
	const struct tkb_key_note *left = a;
	const struct tkb_key_note *right = b;
	const int order = tkb_key_note_compare(a, b);

	if (order != 0)
		return order;
	return (left->order > right->order) - (left->order < right->order);
}

void tkb_key_notes_sort(struct tkb_key_notes *notes)
{
	tkb_sort(notes->items, notes->count, sizeof(*notes->items),
	         compare_orders);
	notes->count = tkb_unique(notes->items, notes->count,
	                          sizeof(*notes->items), tkb_key_note_compare);
}

const struct tkb_key_note *tkb_key_notes_find(const struct tkb_key_notes *notes,
                                              const char *key)
{
	const struct tkb_key_note wanted = { .key = key };

	if (notes->count == 0)
		return NULL;
	return bsearch(&wanted, notes->items, notes->count, sizeof(wanted),
	               tkb_key_note_compare);
}
