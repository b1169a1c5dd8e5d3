/* SPDX-License-Identifier: Apache-2.0 */
#include "notes/pushes.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "text/json.h"

enum {
	NAME_LIMIT = 32,  /* bytes of a label's name */
	VALUE_LIMIT = 200 /* bytes of a label's value */
};

void tkb_pushes_release(struct tkb_pushes *pushes)
{
	free(pushes->items);
	*pushes = (struct tkb_pushes){ 0 };
}

static bool name_is_valid(const char *name)
{
	const size_t length =
		strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.-");

	return name[0] >= 'a' && name[0] <= 'z' && name[length] == '\0' &&
	       length <= NAME_LIMIT;
}

static bool value_is_valid(const char *value)
{
	return tkb_utf8_is_shown(value) && strlen(value) <= VALUE_LIMIT;
}

static int compare_labels(const void *a, const void *b)
{
	const struct tkb_label *left = a;
	const struct tkb_label *right = b;

	return strcmp(left->name, right->name);
}

static int check_label(const struct tkb_label *label, struct tkb_error *err)
{
	if (!name_is_valid(label->name))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "'%.60s' is not a valid name of a label: use "
		                "up to %d of a-z, 0-9, '_', '.' and '-', "
		                "beginning with a letter",
		                label->name, NAME_LIMIT);
	if (!value_is_valid(label->value))
		return tkb_fail(err, TKB_ERR_INVALID,
		                "the value of label '%s' must be 1 to %d bytes "
		                "of UTF-8 without control characters",
		                label->name, VALUE_LIMIT);
	return 0;
}

int tkb_labels_read(const struct tkb_label *labels, size_t count,
                    struct tkb_label out[TKB_LABELS_LIMIT],
                    struct tkb_error *err)
{
	int rc = 0;

	if (count > TKB_LABELS_LIMIT)
		return tkb_fail(err, TKB_ERR_INVALID,
		                "a push can have at most %d labels, not %zu",
		                TKB_LABELS_LIMIT, count);
	for (size_t i = 0; i < count && rc == 0; i++) {
		rc = check_label(&labels[i], err);
		out[i] = labels[i];
	}
	if (rc < 0)
		return rc;
	tkb_sort(out, count, sizeof(*out), compare_labels);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(out[i - 1].name, out[i].name) == 0)
			return tkb_fail(err, TKB_ERR_INVALID,
			                "label '%s' is given twice",
			                out[i].name);
	}
	return 0;
}

/* Sort by time, then by contents. */
static int compare_notes(const void *a, const void *b)
{
	const struct tkb_push_note *left = a;
	const struct tkb_push_note *right = b;
	int order = (left->time_ms > right->time_ms) -
	            (left->time_ms < right->time_ms);

	if (order == 0)
		order = (left->entry_count > right->entry_count) -
		        (left->entry_count < right->entry_count);
	if (order == 0)
		order = (left->label_count > right->label_count) -
		        (left->label_count < right->label_count);
	for (size_t i = 0; order == 0 && i < left->label_count; i++) {
		order = strcmp(left->labels[i].name, right->labels[i].name);
		if (order == 0)
			order = strcmp(left->labels[i].value,
			               right->labels[i].value);
	}
	return order;
}

int tkb_pushes_add(struct tkb_pushes *pushes, const struct tkb_push_note *note,
                   struct tkb_error *err)
{
	for (size_t i = 0; i < pushes->count; i++) {
		if (compare_notes(&pushes->items[i], note) == 0)
			return 0;
	}
	return tkb_append(&pushes->items, &pushes->count, &pushes->capacity,
	                  note, sizeof(*note), err);
}

int tkb_pushes_begin(struct tkb_pushes *pushes, const struct tkb_label *labels,
                     size_t count, uint64_t entry_count, struct tkb_error *err)
{
	struct tkb_push_note note = { .entry_count = entry_count,
		                      .labels = labels,
		                      .label_count = count };

	if (count == 0)
		return 0;
	note.time_ms = (uint64_t)tkb_wall_ns() / TKB_NS_PER_MS;
	return tkb_pushes_add(pushes, &note, err);
}

void tkb_pushes_sort(struct tkb_pushes *pushes)
{
	const size_t surplus = pushes->count > TKB_PUSHES_LIMIT
	                               ? pushes->count - TKB_PUSHES_LIMIT
	                               : 0;

	tkb_sort(pushes->items, pushes->count, sizeof(*pushes->items),
	         compare_notes);
	if (surplus > 0)
		memmove(pushes->items, pushes->items + surplus,
		        TKB_PUSHES_LIMIT * sizeof(*pushes->items));
	pushes->count -= surplus;
}

void tkb_pushes_write(const struct tkb_pushes *pushes, struct tkb_buf *out)
{
	for (size_t i = 0; i < pushes->count; i++) {
		const struct tkb_push_note *note = &pushes->items[i];

		tkb_json_add_number(out, i == 0 ? "[[" : ",[", note->time_ms);
		tkb_json_add_number(out, ",", note->entry_count);
		for (size_t k = 0; k < note->label_count; k++) {
			tkb_json_add_text(out, k == 0 ? ",[[" : ",[",
			                  note->labels[k].name);
			tkb_json_add_text(out, ",", note->labels[k].value);
			tkb_buf_add_byte(out, ']');
		}
		tkb_buf_add_text(out, "]]");
	}
	tkb_buf_add_byte(out, ']');
}

static const struct tkb_schema_field label_fields[] = {
	TKB_FIELD_TEXT(NULL, struct tkb_label, name, name_is_valid,
	               "a label's name is not allowed"),
	TKB_FIELD_TEXT(NULL, struct tkb_label, value, value_is_valid,
	               "a label's value is not allowed"),
};

static const struct tkb_schema_list labels_schema = {
	TKB_ITEMS_TUPLE(
		struct tkb_label,
		TKB_TUPLE_OF(label_fields, "a label has too many parts"),
		"a label is not a list"),
	.limit = TKB_LABELS_LIMIT,
	.none = "a push without labels",
	.too_many = "too many labels",
	.compare = compare_labels,
	.unsorted = "labels are not sorted by name",
};

static const struct tkb_schema_field note_fields[] = {
	TKB_FIELD_NUMBER(NULL, struct tkb_push_note, time_ms, UINT64_MAX),
	TKB_FIELD_NUMBER(NULL, struct tkb_push_note, entry_count, UINT64_MAX),
	TKB_FIELD_LIST(NULL, struct tkb_push_note, labels, label_count,
	               &labels_schema, "labels are not a list"),
};

const struct tkb_schema_list tkb_pushes_schema = {
	TKB_ITEMS_TUPLE(struct tkb_push_note,
	                TKB_TUPLE_OF(note_fields, "a push has too many parts"),
	                "a push is not a list"),
	.limit = TKB_PUSHES_LIMIT,
	.none = "no pushes",
	.too_many = "too many pushes",
	.compare = compare_notes,
	.unsorted = "pushes are not in order",
};
