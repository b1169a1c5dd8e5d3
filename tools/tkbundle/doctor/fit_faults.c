/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/fit_faults.h"

#include <stdlib.h>
#include <string.h>

#include "doctor/fit_maker.h"
#include "why/reason.h"

/* The entries that fit, by kind and name, and a tree with a graph that fits. */
struct fitting {
	const struct tkb_entry **entries; /* owned */
	size_t count;
	const char *tree; /* the last tree that was looked up; NULL: none */
	bool has_graph;   /* whether a graph of that tree fits */
};

static int compare_entry_names(const void *a, const void *b)
{
	const struct tkb_entry *const one = *(const struct tkb_entry *const *)a;
	const struct tkb_entry *const other =
		*(const struct tkb_entry *const *)b;

	if (one->kind != other->kind)
		return one->kind < other->kind ? -1 : 1;
	return strcmp(one->name, other->name);
}

static bool is_always_fault(const char *cause)
{
	return strcmp(cause, reason_word(REASON_PATH)) == 0 ||
	       strcmp(cause, reason_word(REASON_DAMAGED)) == 0 ||
	       strcmp(cause, "owner") == 0;
}

/*
 * Does another graph of the tree fit? Names of graphs are hashes, so after an
 * update the graphs that fit have other names.
 */
static bool has_other_graph(struct fitting *fitting,
                            const struct misfit *misfit)
{
	const struct tkb_entry *const entry = misfit->entry;

	if (!fit_maker_is_graph(entry) ||
	    (strcmp(misfit->cause, reason_word(REASON_ENGINE)) != 0 &&
	     strcmp(misfit->cause, reason_word(REASON_TORCH)) != 0 &&
	     strcmp(misfit->cause, reason_word(REASON_TRITON)) != 0))
		return false;
	if (fitting->tree != NULL && strcmp(fitting->tree, entry->tree) == 0)
		return fitting->has_graph;
	fitting->tree = entry->tree;
	fitting->has_graph = false;
	for (size_t i = 0; i < fitting->count && !fitting->has_graph; i++)
		fitting->has_graph =
			fit_maker_is_graph(fitting->entries[i]) &&
			strcmp(fitting->entries[i]->tree, entry->tree) == 0;
	return fitting->has_graph;
}

static bool is_fault(struct fitting *fitting, const struct misfit *misfit)
{
	if (strcmp(misfit->cause, "too-large") == 0)
		return false;
	return misfit->entry == NULL || is_always_fault(misfit->cause) ||
	       (bsearch(&misfit->entry, fitting->entries, fitting->count,
	                sizeof(struct tkb_entry *),
	                compare_entry_names) == NULL &&
	        !has_other_graph(fitting, misfit));
}

int fit_faults_find(const struct fit_facts *facts, struct fits *fits,
                    struct tkb_error *err)
{
	struct fitting fitting = {
		.entries = calloc(fits->count + 1, sizeof(struct tkb_entry *)),
	};

	if (fitting.entries == NULL)
		return cli_error_nomem(err);
	for (size_t i = 0; i < fits->count; i++) {
		if (fits->fits[i])
			fitting.entries[fitting.count++] =
				source_entry(facts->source, i);
	}
	qsort(fitting.entries, fitting.count, sizeof(struct tkb_entry *),
	      compare_entry_names);
	for (size_t i = 0; i < fits->misfit_count; i++) {
		struct misfit *const misfit = &fits->misfits[i];

		misfit->is_fault = is_fault(&fitting, misfit);
		/*
		 * If there is no GPU here, tunings for other GPUs are not
		 * faults.
		 */
		if (facts->gpus->count == 0 &&
		    strcmp(misfit->cause, reason_word(REASON_GPU)) == 0)
			misfit->is_fault = false;
		fits->fault_count += misfit->is_fault;
	}
	free(fitting.entries);
	return 0;
}
