/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "collect/recorder_set.h"

/* What there is to go by. */
struct evidence {
	const struct tkb_recorded_pair **notes; /* owned; by key, then device */
	size_t note_count;
	bool has_winners;
	const char **needs; /* owned; the keys that launchers need, sorted */
	size_t need_count;
	size_t pick_capacity;
};

static void evidence_release(struct evidence *evidence)
{
	free(evidence->notes);
	free(evidence->needs);
}

void tkb_collect_selection_release(struct tkb_collect_selection *wishes)
{
	free(wishes->picks);
	free(wishes->savings);
	*wishes = (struct tkb_collect_selection){ 0 };
}

static int list_needs(struct evidence *evidence,
                      const struct tkb_collect_selection *wishes,
                      struct tkb_error *err)
{
	size_t total = 0;

	for (size_t i = 0; i < wishes->saving_count; i++)
		total += wishes->savings[i].saved.need_count;
	evidence->needs = tkb_alloc_array(total, sizeof(*evidence->needs));
	if (evidence->needs == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < wishes->saving_count; i++) {
		const struct tkb_saved_launcher *saved =
			&wishes->savings[i].saved;

		for (size_t j = 0; j < saved->need_count; j++)
			evidence->needs[evidence->need_count++] =
				saved->needs[j];
	}
	qsort(evidence->needs, total, sizeof(*evidence->needs),
	      tkb_compare_texts);
	return 0;
}

static bool is_needed(const struct evidence *evidence, const char *key)
{
	return bsearch(&key, evidence->needs, evidence->need_count,
	               sizeof(*evidence->needs), tkb_compare_texts) != NULL;
}

static int compare_with_note(const void *key, const void *item)
{
	const struct tkb_recorded_pair *const *note = item;

	return strcmp(key, (*note)->key);
}

static bool is_noted(const struct evidence *evidence, const char *key)
{
	return bsearch(key, evidence->notes, evidence->note_count,
	               sizeof(struct tkb_recorded_pair *),
	               compare_with_note) != NULL;
}

static int add_pick(struct tkb_collect_selection *wishes,
                    struct evidence *evidence, const struct tkb_pick *pick,
                    struct tkb_error *err)
{
	int rc;

	rc = tkb_grow(&wishes->picks, &evidence->pick_capacity,
	              wishes->pick_count, sizeof(*pick), err);
	if (rc == 0)
		wishes->picks[wishes->pick_count++] = *pick;
	return rc;
}

/* Pick what notes `first` to `end`, which are of one key, say. */
static int pick_noted(struct tkb_collect_selection *wishes,
                      struct evidence *evidence, size_t first, size_t end,
                      struct tkb_error *err)
{
	const struct tkb_recorded_pair *const *notes = evidence->notes;
	const bool is_winner = notes[end - 1]->device == TKB_NOTE_WINNER;
	struct tkb_pick pick = { .key = notes[first]->key };
	int rc = 0;

	if (evidence->has_winners && !is_winner &&
	    !is_needed(evidence, pick.key))
		return 0;
	if (is_winner)
		end--;
	if (first == end) { /* it was never put */
		pick.any_device = true;
		return add_pick(wishes, evidence, &pick, err);
	}
	for (size_t i = first; i < end && rc == 0; i++) {
		pick.device = notes[i]->device;
		rc = add_pick(wishes, evidence, &pick, err);
	}
	return rc;
}

static int pick_all_noted(struct tkb_collect_selection *wishes,
                          struct evidence *evidence, struct tkb_error *err)
{
	size_t end;
	int rc;

	for (size_t i = 0; i < evidence->note_count; i = end) {
		end = i + 1;
		while (end < evidence->note_count &&
		       strcmp(evidence->notes[end]->key,
		              evidence->notes[i]->key) == 0)
			end++;
		rc = pick_noted(wishes, evidence, i, end, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* What a launcher needs and nobody put is taken wherever it is. */
static int pick_needed(struct tkb_collect_selection *wishes,
                       struct evidence *evidence, struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < evidence->need_count && rc == 0; i++) {
		const char *key = evidence->needs[i];
		const struct tkb_pick pick = { .key = key, .any_device = true };

		if ((i > 0 && strcmp(evidence->needs[i - 1], key) == 0) ||
		    is_noted(evidence, key))
			continue;
		rc = add_pick(wishes, evidence, &pick, err);
	}
	return rc;
}

static int compare_picks(const void *a, const void *b)
{
	const struct tkb_pick *left = a;
	const struct tkb_pick *right = b;
	const int order = strcmp(left->key, right->key);

	if (order != 0)
		return order;
	return (left->device > right->device) - (left->device < right->device);
}

/* Fill in picks; an array is there even if it is empty. */
static int pick_all(struct tkb_collect_selection *wishes,
                    struct evidence *evidence, struct tkb_error *err)
{
	const size_t capacity = evidence->note_count + 1;
	int rc;

	wishes->picks = tkb_alloc_array(capacity, sizeof(*wishes->picks));
	if (wishes->picks == NULL)
		return tkb_fail_nomem(err);
	evidence->pick_capacity = capacity;
	for (size_t i = 0; i < evidence->note_count; i++)
		evidence->has_winners |=
			evidence->notes[i]->device == TKB_NOTE_WINNER;
	rc = pick_all_noted(wishes, evidence, err);
	if (rc == 0)
		rc = pick_needed(wishes, evidence, err);
	if (rc == 0)
		qsort(wishes->picks, wishes->pick_count, sizeof(*wishes->picks),
		      compare_picks);
	return rc;
}

int tkb_collect_selection_of(const struct tkb_recorder_set *notes,
                             struct tkb_collect_selection *out,
                             struct tkb_error *err)
{
	TKB_AUTO(evidence_release) struct evidence evidence = { 0 };
	TKB_AUTO(tkb_collect_selection_release)
	struct tkb_collect_selection wishes = { 0 };
	int rc;

	rc = tkb_recorder_set_list(notes, &evidence.notes, &evidence.note_count,
	                           err);
	if (rc < 0)
		return rc;
	rc = tkb_recorder_set_saved(notes, &wishes.savings,
	                            &wishes.saving_count, err);
	if (rc < 0)
		return rc;
	rc = list_needs(&evidence, &wishes, err);
	if (rc < 0)
		return rc;
	rc = pick_all(&wishes, &evidence, err);
	if (rc < 0)
		return rc;
	*out = wishes;
	wishes = (struct tkb_collect_selection){ 0 };
	return 0;
}
