/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "collect/recorder_set.h"

/* What a selection is made from. */
struct evidence {
	const struct tkb_recorded_pair **pairs; /* owned; by key, then device */
	size_t pair_count;
	bool has_winners;
	const char **needs; /* owned; the keys that launchers need, sorted */
	size_t need_count;
	size_t pick_capacity;
};

static void evidence_release(struct evidence *evidence)
{
	free(evidence->pairs);
	free(evidence->needs);
}

void tkb_collect_selection_release(struct tkb_collect_selection *selection)
{
	free(selection->picks);
	free(selection->savings);
	*selection = (struct tkb_collect_selection){ 0 };
}

static int list_needs(struct evidence *evidence,
                      const struct tkb_collect_selection *selection,
                      struct tkb_error *err)
{
	size_t total = 0;

	for (size_t i = 0; i < selection->saving_count; i++)
		total += selection->savings[i].saved.need_count;
	evidence->needs = tkb_alloc_array(total, sizeof(*evidence->needs));
	if (evidence->needs == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < selection->saving_count; i++) {
		const struct tkb_saved_launcher *saved =
			&selection->savings[i].saved;

		for (size_t j = 0; j < saved->need_count; j++)
			evidence->needs[evidence->need_count++] =
				saved->needs[j];
	}
	tkb_sort(evidence->needs, total, sizeof(*evidence->needs),
	         tkb_compare_texts);
	return 0;
}

static int compare_with_pair(const void *key, const void *item)
{
	const struct tkb_recorded_pair *const *pair = item;

	return strcmp(key, (*pair)->key);
}

static bool is_recorded(const struct evidence *evidence, const char *key)
{
	return bsearch(key, evidence->pairs, evidence->pair_count,
	               sizeof(struct tkb_recorded_pair *),
	               compare_with_pair) != NULL;
}

static int add_pick(struct tkb_collect_selection *selection,
                    struct evidence *evidence, const struct tkb_pick *pick,
                    struct tkb_error *err)
{
	return tkb_append(&selection->picks, &selection->pick_count,
	                  &evidence->pick_capacity, pick, sizeof(*pick), err);
}

/* Pick the entries of pairs `first` up to `end`, which have the same key. */
static int pick_pairs(struct tkb_collect_selection *selection,
                      struct evidence *evidence, size_t first, size_t end,
                      struct tkb_error *err)
{
	const struct tkb_recorded_pair *const *pairs = evidence->pairs;
	const bool is_winner = pairs[end - 1]->device == TKB_DEVICE_WINNER;
	struct tkb_pick pick = { .key = pairs[first]->key };
	int rc = 0;

	if (evidence->has_winners && !is_winner &&
	    !tkb_is_among_sorted(pick.key, evidence->needs,
	                         evidence->need_count))
		return 0;
	if (is_winner)
		end--;
	if (first == end) { /* the only pair says that the key won */
		pick.any_device = true;
		return add_pick(selection, evidence, &pick, err);
	}
	for (size_t i = first; i < end && rc == 0; i++) {
		pick.device = pairs[i]->device;
		rc = add_pick(selection, evidence, &pick, err);
	}
	return rc;
}

static int pick_all_pairs(struct tkb_collect_selection *selection,
                          struct evidence *evidence, struct tkb_error *err)
{
	size_t end;
	int rc;

	for (size_t i = 0; i < evidence->pair_count; i = end) {
		end = i + 1;
		while (end < evidence->pair_count &&
		       strcmp(evidence->pairs[end]->key,
		              evidence->pairs[i]->key) == 0)
			end++;
		rc = pick_pairs(selection, evidence, i, end, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Pick kernels that a launcher needs and nobody put, on any device. */
static int pick_needed(struct tkb_collect_selection *selection,
                       struct evidence *evidence, struct tkb_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < evidence->need_count && rc == 0; i++) {
		const char *key = evidence->needs[i];
		const struct tkb_pick pick = { .key = key, .any_device = true };

		if ((i > 0 && strcmp(evidence->needs[i - 1], key) == 0) ||
		    is_recorded(evidence, key))
			continue;
		rc = add_pick(selection, evidence, &pick, err);
	}
	return rc;
}

int tkb_compare_picks(const void *a, const void *b)
{
	const struct tkb_pick *left = a;
	const struct tkb_pick *right = b;
	const int order = strcmp(left->key, right->key);

	if (order != 0)
		return order;
	return (left->device > right->device) - (left->device < right->device);
}

/* Fill in the picks; the array exists even if it is empty. */
static int pick_all(struct tkb_collect_selection *selection,
                    struct evidence *evidence, struct tkb_error *err)
{
	const size_t capacity = evidence->pair_count + 1;
	int rc;

	selection->picks = tkb_alloc_array(capacity, sizeof(*selection->picks));
	if (selection->picks == NULL)
		return tkb_fail_nomem(err);
	evidence->pick_capacity = capacity;
	for (size_t i = 0; i < evidence->pair_count; i++)
		evidence->has_winners |=
			evidence->pairs[i]->device == TKB_DEVICE_WINNER;
	rc = pick_all_pairs(selection, evidence, err);
	if (rc == 0)
		rc = pick_needed(selection, evidence, err);
	if (rc == 0)
		qsort(selection->picks, selection->pick_count,
		      sizeof(*selection->picks), tkb_compare_picks);
	return rc;
}

int tkb_collect_selection_of(const struct tkb_recorder_set *set,
                             struct tkb_collect_selection *out,
                             struct tkb_error *err)
{
	TKB_AUTO(evidence_release) struct evidence evidence = { 0 };
	TKB_AUTO(tkb_collect_selection_release)
	struct tkb_collect_selection selection = { 0 };
	int rc;

	rc = tkb_recorder_set_list(set, &evidence.pairs, &evidence.pair_count,
	                           err);
	if (rc < 0)
		return rc;
	rc = tkb_recorder_set_saved(set, &selection.savings,
	                            &selection.saving_count, err);
	if (rc < 0)
		return rc;
	rc = list_needs(&evidence, &selection, err);
	if (rc < 0)
		return rc;
	rc = pick_all(&selection, &evidence, err);
	if (rc < 0)
		return rc;
	*out = selection;
	selection = (struct tkb_collect_selection){ 0 };
	return 0;
}
