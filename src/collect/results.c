/* SPDX-License-Identifier: Apache-2.0 */
#include <tkbundle/results.h>

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"

struct tkb_results {
	struct tkb_arena arena;   /* owns the texts */
	struct tkb_result *items; /* owned */
	size_t count;
	size_t capacity;
	struct tkb_watch watch;
	bool is_cut;
};

int tkb_results_new(struct tkb_results **out, struct tkb_error *err)
{
	struct tkb_results *results = tkb_alloc_array(1, sizeof(*results));

	if (results == NULL)
		return tkb_fail_nomem(err);
	*out = results;
	return 0;
}

void tkb_results_free(struct tkb_results *results)
{
	if (results == NULL)
		return;
	tkb_arena_release(&results->arena);
	free(results->items);
	free(results);
}

static const char *copy_result_text(struct tkb_results *results,
                                    const char *text)
{
	return tkb_arena_string(&results->arena, tkb_text(text));
}

static bool add_to_results(struct tkb_results *results,
                           const struct tkb_result *result)
{
	struct tkb_result kept = *result;

	kept.root = copy_result_text(results, result->root);
	kept.key = copy_result_text(results, result->key);
	kept.name = copy_result_text(results, result->name);
	kept.message = copy_result_text(results, result->message);
	return kept.root != NULL && kept.key != NULL && kept.name != NULL &&
	       kept.message != NULL &&
	       tkb_append(&results->items, &results->count, &results->capacity,
	                  &kept, sizeof(kept), NULL) == 0;
}

static void keep_result(void *self, const struct tkb_result *result)
{
	struct tkb_results *results = self;

	if (!add_to_results(results, result))
		results->is_cut = true;
}

const struct tkb_watch *tkb_results_watch(struct tkb_results *results)
{
	results->watch =
		(struct tkb_watch){ .struct_size = sizeof(results->watch),
		                    .self = results,
		                    .on_result = keep_result };
	return &results->watch;
}

size_t tkb_results_count(const struct tkb_results *results)
{
	return results->count;
}

const struct tkb_result *tkb_results_at(const struct tkb_results *results,
                                        size_t index)
{
	return &results->items[index];
}

bool tkb_results_is_cut(const struct tkb_results *results)
{
	return results->is_cut;
}
