/* SPDX-License-Identifier: Apache-2.0 */
#include "why/explain.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/deadline.h"
#include "why/advice.h"
#include "why/match.h"
#include "why/start_changes.h"

#define NOWHERE SIZE_MAX

/* The state while entries are explained. */
struct work {
	const struct explain *explain;
	struct match_side side;
	size_t *indices; /* owned; of the made entries in the source, or
	                    NOWHERE */
	bool *is_made;   /* owned; by index in the source */
	/* Why a unit of this tree was made; used for units without parts. */
	const char *tree;
	enum reason tree_reason;
	char tree_detail[START_TEXT_SIZE];
	char tree_advice[START_TEXT_SIZE];
};

static void release_work(struct work *work)
{
	match_side_close(&work->side);
	free(work->indices);
	free(work->is_made);
}

static bool is_made_entry(const struct tkb_entry *entry,
                          const struct tkb_made *made)
{
	if (made->tree == NULL)
		return entry->kind != TKB_KIND_UNIT &&
		       strcmp(entry->key, made->name) == 0;
	return entry->kind == TKB_KIND_UNIT &&
	       strcmp(entry->tree, made->tree) == 0 &&
	       strcmp(entry->name, made->name) == 0;
}

static size_t find_made_entry(const struct source *source,
                              const struct tkb_made *made)
{
	for (size_t i = 0; i < source_entry_count(source); i++) {
		if (is_made_entry(source_entry(source, i), made))
			return i;
	}
	return NOWHERE;
}

static int open_work(struct work *work, struct tkb_error *err)
{
	const struct explain *const explain = work->explain;
	const size_t count = source_entry_count(explain->source);
	int rc;

	work->indices = calloc(explain->made_count + 1, sizeof(size_t));
	work->is_made = calloc(count + 1, sizeof(bool));
	if (work->indices == NULL || work->is_made == NULL)
		return cli_error_nomem(err);
	rc = match_side_open(&work->side, explain->source, explain->makers,
	                     err);
	for (size_t i = 0; i < explain->made_count && rc == 0; i++) {
		work->indices[i] =
			find_made_entry(explain->source, &explain->made[i]);
		if (work->indices[i] != NOWHERE)
			work->is_made[work->indices[i]] = true;
	}
	return rc;
}

static bool was_there(void *self, size_t candidate)
{
	const struct work *const work = self;

	return !work->is_made[candidate];
}

/*
 * Find the most similar entry among those that existed before, else among those
 * made in the same start.
 */
static int find_partner(struct work *work, size_t index, struct match *out,
                        struct tkb_error *err)
{
	TKB_AUTO(match_release) struct match twin = { .is_found = false };
	int rc;

	rc = match_find(&work->side, index, &work->side, was_there, work, out,
	                err);
	if (rc != 0 ||
	    (out->is_found && out->differences.cost < DIFFERENCES_OTHER_KERNEL))
		return rc;
	rc = match_find(&work->side, index, &work->side, NULL, NULL, &twin,
	                err);
	if (rc == 0 && twin.is_found && twin.differences.count != 0 &&
	    twin.differences.cost < DIFFERENCES_OTHER_KERNEL) {
		match_release(out);
		*out = twin;
		twin = (struct match){ .is_found = false };
	}
	return rc;
}

/* Write all differences, as far as there is room. */
static void show_all(const struct differences *differences,
                     const char *const where[2], char *out, size_t size)
{
	char text[2 * DIFFERENCE_TEXT_SIZE + 200];
	size_t length = 0;

	out[0] = '\0';
	for (size_t i = 0; i < differences->count; i++) {
		int added;

		differences_show(&differences->items[i], where, text,
		                 sizeof(text));
		added = snprintf(out + length, size - length, "%s%s",
		                 i != 0 ? "; " : "", text);
		if (added < 0 || (size_t)added >= size - length) {
			out[length] = '\0';
			return;
		}
		length += (size_t)added;
	}
}

static void advise_on_entry(const struct work *work, const struct start *start,
                            enum reason reason, const struct difference *first,
                            char out[START_TEXT_SIZE])
{
	const struct advice_case where = {
		.engine = work->explain->engine,
		.name = first != NULL ? first->name : NULL,
		.there = first != NULL ? first->a : "",
		.here = first != NULL ? first->b : "",
		.facts = &start->facts,
	};

	advice_write(reason, &where, out, START_TEXT_SIZE);
}

/*
 * If all recorded parts are equal, look for differences from the start before.
 */
static bool explain_by_start(const struct work *work, const struct start *start,
                             struct start_made *made,
                             char advice[START_TEXT_SIZE])
{
	static const char words[] = "what is recorded is equal; probably ";
	static const char *const where[2] = { "in the start before", "here" };
	TKB_AUTO(differences_release)
	struct differences changes = { .count = 0 };
	const struct facts *const before = work->explain->before;

	/* If out of memory, the cause is unknown. */
	if (before == NULL ||
	    start_changes_find(before, &start->facts, &changes, NULL) != 0 ||
	    changes.count == 0)
		return false;
	made->reason = differences_reason(&changes);
	(void)memcpy(made->detail, words, sizeof(words));
	show_all(&changes, where, made->detail + strlen(words),
	         START_TEXT_SIZE - strlen(words));
	advise_on_entry(work, start, made->reason, &changes.items[0], advice);
	return true;
}

/*
 * Explain an entry that has no similar one, or only one without recorded
 * differences.
 */
static void explain_unmatched(struct work *work, struct start *start,
                              const struct differences *like,
                              struct start_made *made,
                              char advice[START_TEXT_SIZE])
{
	const struct explain *const explain = work->explain;

	if (explain->is_pull_failed)
		made->reason = explain->is_pull_untrusted ? REASON_UNTRUSTED
		               : explain->is_pull_damaged ? REASON_DAMAGED
		                                          : REASON_NOT_PULLED;
	else if (like != NULL && explain_by_start(work, start, made, advice))
		return;
	else if (like != NULL)
		made->reason = REASON_UNKNOWN;
	else
		made->reason = REASON_NOT_IN_BUNDLE;
	if (made->reason == REASON_UNKNOWN)
		differences_left(like, made->detail, START_TEXT_SIZE);
	advise_on_entry(work, start, made->reason, NULL, advice);
}

/*
 * Explain a unit without recorded parts: it has the reason of the other units
 * of its tree.
 */
static bool tell_as_tree(struct work *work, const struct tkb_entry *entry,
                         struct start_made *made, char advice[START_TEXT_SIZE])
{
	if (entry->kind != TKB_KIND_UNIT || work->tree == NULL ||
	    strcmp(work->tree, entry->tree) != 0)
		return false;
	made->reason = work->tree_reason;
	made->detail = work->tree_detail;
	(void)memcpy(advice, work->tree_advice, START_TEXT_SIZE);
	return true;
}

static void keep_for_tree(struct work *work, const struct tkb_entry *entry,
                          const struct start_made *made, const char *advice)
{
	if (entry->kind != TKB_KIND_UNIT || work->tree != NULL)
		return;
	work->tree = entry->tree;
	work->tree_reason = made->reason;
	(void)snprintf(work->tree_detail, sizeof(work->tree_detail), "%s",
	               made->detail);
	(void)snprintf(work->tree_advice, sizeof(work->tree_advice), "%s",
	               advice);
}

static const char *known_fact(const struct start *start, const char *name)
{
	const char *const value = facts_find(&start->facts, name);

	return value != NULL ? value : "an unknown one";
}

/*
 * Explain a unit that the pull skipped, since it was tuned on another GPU or
 * driver.
 */
static bool explain_tuned(const struct work *work,
                          const struct tkb_entry *entry, struct start *start,
                          struct start_made *made, char detail[START_TEXT_SIZE],
                          char advice[START_TEXT_SIZE])
{
	const struct explain *const explain = work->explain;
	const char *const gpu = known_fact(start, "gpu");
	const struct explain_skipped *at = explain->skipped;
	size_t left = entry->kind == TKB_KIND_UNIT ? explain->skipped_count : 0;

	while (left != 0 && strcmp(at->name, entry->name) != 0) {
		at++;
		left--;
	}
	if (left == 0)
		return false;
	/* "gpu NVIDIA H200, driver 580" */
	made->reason = strncmp(at->platform + 4, gpu, strlen(gpu)) == 0 &&
	                               at->platform[4 + strlen(gpu)] == ','
	                       ? REASON_DRIVER
	                       : REASON_GPU;
	(void)snprintf(detail, START_TEXT_SIZE,
	               "tuned on %.160s there, gpu %.80s, driver %.40s here",
	               at->platform, gpu, known_fact(start, "driver"));
	advise_on_entry(work, start, made->reason, NULL, advice);
	return true;
}

static int explain_entry(struct work *work, size_t number, struct start *start,
                         struct tkb_error *err)
{
	TKB_AUTO(match_release) struct match match = { .is_found = false };
	const struct tkb_made *const item = &work->explain->made[number];
	const size_t index = work->indices[number];
	const struct tkb_entry *const entry =
		source_entry(work->explain->source, index);
	char advice[START_TEXT_SIZE] = "";
	char detail[START_TEXT_SIZE] = "";
	static const char *const where[2] = { "there", "here" };
	struct start_made made = {
		.kind = (char *)(item->tree != NULL ? item->tree : "kernels"),
		.key = (char *)(item->tree != NULL ? "" : item->name),
		.name = (char *)entry->name,
		.detail = detail,
		.advice = advice,
	};
	int rc;

	if (explain_tuned(work, entry, start, &made, detail, advice)) {
		start_add_made(start, &made);
		return 0;
	}
	rc = find_partner(work, index, &match, err);
	if (rc != 0)
		return rc;
	if (match.is_found && match.differences.count != 0 &&
	    (!work->explain->is_pull_failed ||
	     match.differences.cost < DIFFERENCES_OTHER_KERNEL)) {
		made.reason = differences_reason(&match.differences);
		show_all(&match.differences, where, detail, sizeof(detail));
		advise_on_entry(work, start, made.reason,
		                &match.differences.items[0], advice);
		keep_for_tree(work, entry, &made, advice);
	} else if (!tell_as_tree(work, entry, &made, advice)) {
		explain_unmatched(work, start,
		                  match.is_found &&
		                                  entry->kind == TKB_KIND_KERNEL
		                          ? &match.differences
		                          : NULL,
		                  &made, advice);
	}
	start_add_made(start, &made);
	return 0;
}

static void add_unexplained(const struct tkb_made *item, const char *detail,
                            struct start *start)
{
	const struct start_made made = {
		.kind = (char *)(item->tree != NULL ? item->tree : "kernels"),
		.key = (char *)(item->tree != NULL ? "" : item->name),
		.name = (char *)(item->tree != NULL ? item->name : ""),
		.reason = REASON_UNKNOWN,
		.detail = (char *)detail,
		.advice = (char *)"",
	};

	start_add_made(start, &made);
}

/* First explain units that have parts: the others use their reason. */
static bool is_explained_first(const struct work *work, size_t number)
{
	const size_t index = work->indices[number];

	return index != NOWHERE &&
	       source_entry(work->explain->source, index)->kind ==
	               TKB_KIND_UNIT &&
	       strstr(source_entry(work->explain->source, index)->name,
	              "torch_compile_cache/") != NULL &&
	       parts_find(match_parts((struct match_side *)&work->side, index),
	                  "configuration (a hash)") != NULL;
}

static int explain_number(struct work *work, size_t number, struct start *start,
                          struct tkb_error *err)
{
	const struct explain *const explain = work->explain;

	if (work->indices[number] == NOWHERE) {
		add_unexplained(&explain->made[number], "it is not there whole",
		                start);
		return 0;
	}
	if (deadline_now_ms() > explain->deadline_ms) {
		add_unexplained(&explain->made[number],
		                "there was no time to look into it", start);
		return 0;
	}
	return explain_entry(work, number, start, err);
}

int explain_all(const struct explain *explain, struct start *start,
                struct tkb_error *err)
{
	TKB_AUTO(release_work) struct work work = { .explain = explain };
	int rc = 0;

	if (explain->source == NULL) {
		for (size_t i = 0; i < explain->made_count; i++)
			add_unexplained(&explain->made[i],
			                "the cache could not be read", start);
		return 0;
	}
	rc = open_work(&work, err);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < explain->made_count && rc == 0; i++) {
			if (is_explained_first(&work, i) == (pass == 0))
				rc = explain_number(&work, i, start, err);
		}
	}
	return rc;
}
