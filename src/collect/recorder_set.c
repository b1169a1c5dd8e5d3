/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/recorder_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"

/* A launcher and everything that it points to, in one block of memory. */
struct tkb_recorded_launcher {
	struct tkb_recorded_launcher *next;
	size_t number; /* later launchers have higher numbers */
	bool is_replaced;
	struct tkb_saving saving;
	_Alignas(max_align_t) char memory[];
};

/* A hash table with open addressing, at most half full. */
struct tkb_recorded_table {
	size_t slot_count; /* a power of two */
	_Atomic size_t count;
	struct tkb_recorded_pair *_Atomic slots[];
};

enum {
	FIRST_SLOTS = 256,
	/* A purge pays only with more replaced launchers, or more bytes. */
	PURGE_COUNT = 64,
	PURGE_SIZE = 1024 * 1024
};

static void free_saved(struct tkb_recorded_launcher *saved)
{
	while (saved != NULL) {
		struct tkb_recorded_launcher *next = saved->next;

		free(saved);
		saved = next;
	}
}

static void free_table(struct tkb_recorded_table *table)
{
	for (size_t i = 0; table != NULL && i < table->slot_count; i++)
		free(atomic_load(&table->slots[i]));
	free(table);
}

void tkb_recorder_set_release(struct tkb_recorder_set *set)
{
	/* Unlink everything before freeing it: a forked child must not find
	   freed memory. */
	free_table(atomic_exchange(&set->table, NULL));
	free_saved(atomic_exchange(&set->saved, NULL));
	set->kept_count = set->new_count = 0;
	set->kept_size = set->new_size = 0;
}

void tkb_recorder_set_move(struct tkb_recorder_set *from,
                           struct tkb_recorder_set *to)
{
	tkb_recorder_set_release(to);
	atomic_store(&to->table, atomic_exchange(&from->table, NULL));
	atomic_store(&to->saved, atomic_exchange(&from->saved, NULL));
	tkb_recorder_set_release(from);
}

/* FNV-1a. A caller that makes keys collide only slows itself down. */
static size_t hash_of(const char *key, uint32_t device)
{
	uint64_t hash = 14695981039346656037u ^ device;

	for (; *key != '\0'; key++)
		hash = (hash ^ (unsigned char)*key) * 1099511628211u;
	return (size_t)(hash ^ (hash >> 32));
}

/* The slot that has the pair, or the free slot where it belongs. */
static size_t find_slot(const struct tkb_recorded_table *table, const char *key,
                        uint32_t device)
{
	size_t slot = hash_of(key, device) & (table->slot_count - 1);
	const struct tkb_recorded_pair *pair = atomic_load(&table->slots[slot]);

	while (pair != NULL &&
	       (pair->device != device || strcmp(pair->key, key) != 0)) {
		slot = (slot + 1) & (table->slot_count - 1);
		pair = atomic_load(&table->slots[slot]);
	}
	return slot;
}

static struct tkb_recorded_table *new_table(size_t slot_count)
{
	struct tkb_recorded_table *table = calloc(
		1, sizeof(*table) + slot_count * sizeof(table->slots[0]));

	if (table != NULL)
		table->slot_count = slot_count;
	return table;
}

/* Build a table with twice as many slots, and publish it. */
static int grow_table(struct tkb_recorder_set *set, struct tkb_error *err)
{
	struct tkb_recorded_table *old = atomic_load(&set->table);
	struct tkb_recorded_table *table =
		new_table(old == NULL ? FIRST_SLOTS : 2 * old->slot_count);

	if (table == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; old != NULL && i < old->slot_count; i++) {
		struct tkb_recorded_pair *pair = atomic_load(&old->slots[i]);

		if (pair != NULL)
			atomic_store(&table->slots[find_slot(table, pair->key,
			                                     pair->device)],
			             pair);
	}
	if (old != NULL)
		atomic_store(&table->count, atomic_load(&old->count));
	atomic_store(&set->table, table);
	free(old);
	return 0;
}

int tkb_recorder_set_put(struct tkb_recorder_set *set, const char *key,
                         uint32_t device, struct tkb_error *err)
{
	struct tkb_recorded_table *table = atomic_load(&set->table);
	const size_t length = strlen(key);
	struct tkb_recorded_pair *pair;
	size_t slot;
	int rc;

	if (table != NULL) {
		slot = find_slot(table, key, device);
		if (atomic_load(&table->slots[slot]) != NULL)
			return 0;
	}
	if (table == NULL ||
	    2 * (atomic_load(&table->count) + 1) > table->slot_count) {
		rc = grow_table(set, err);
		if (rc < 0)
			return rc;
		table = atomic_load(&set->table);
	}
	if (atomic_load(&table->count) >= TKB_PAIRS_LIMIT)
		return tkb_fail(err, TKB_ERR_TOO_LARGE,
		                "a recorder notes at most %d kernels",
		                TKB_PAIRS_LIMIT);
	pair = malloc(sizeof(*pair) + length + 1);
	if (pair == NULL)
		return tkb_fail_nomem(err);
	pair->device = device;
	memcpy(pair->key, key, length + 1);
	slot = find_slot(table, key, device);
	atomic_fetch_add(&table->count, 1);
	atomic_store(&table->slots[slot], pair);
	return 0;
}

static size_t saved_size(const struct tkb_launcher_spec *launcher)
{
	size_t size = launcher->need_count * sizeof(char *) +
	              strlen(launcher->cache_key) + 1 + strlen(launcher->name) +
	              1 + launcher->payload.size;

	for (size_t i = 0; i < launcher->need_count; i++)
		size += strlen(launcher->needs[i]) + 1;
	return size;
}

static const char *copy_text_to(const char *text, char **at)
{
	const size_t size = strlen(text) + 1;
	char *copy = *at;

	memcpy(copy, text, size);
	*at += size;
	return copy;
}

static void fill_saved(struct tkb_recorded_launcher *recorded,
                       const struct tkb_launcher_spec *launcher)
{
	const char **needs = (const char **)(void *)recorded->memory;
	char *at = recorded->memory + launcher->need_count * sizeof(*needs);
	struct tkb_saved_launcher *saved = &recorded->saving.saved;

	for (size_t i = 0; i < launcher->need_count; i++)
		needs[i] = copy_text_to(launcher->needs[i], &at);
	saved->cache_key = copy_text_to(launcher->cache_key, &at);
	saved->name = copy_text_to(launcher->name, &at);
	saved->need = launcher->need;
	saved->needs = needs;
	saved->need_count = launcher->need_count;
	saved->size = launcher->payload.size;
	if (launcher->payload.size != 0)
		memcpy(at, launcher->payload.data, launcher->payload.size);
	recorded->saving.payload =
		(struct tkb_bytes){ at, launcher->payload.size };
}

int tkb_recorded_launcher_new(const struct tkb_launcher_spec *launcher,
                              struct tkb_recorded_launcher **out,
                              struct tkb_error *err)
{
	struct tkb_recorded_launcher *recorded =
		calloc(1, sizeof(*recorded) + saved_size(launcher));
	int rc;

	if (recorded == NULL)
		return tkb_fail_nomem(err);
	fill_saved(recorded, launcher);
	rc = tkb_digest_of(recorded->saving.payload,
	                   &recorded->saving.saved.digest, err);
	if (rc < 0)
		free(recorded);
	else
		*out = recorded;
	return rc;
}

void tkb_recorder_set_save(struct tkb_recorder_set *set,
                           struct tkb_recorded_launcher *recorded)
{
	recorded->next = atomic_load(&set->saved);
	recorded->number =
		recorded->next == NULL ? 0 : recorded->next->number + 1;
	atomic_store(&set->saved, recorded);
	set->new_count++;
	set->new_size += recorded->saving.payload.size;
}

static int compare_recorded_pairs(const void *a, const void *b)
{
	const struct tkb_recorded_pair *const *left = a;
	const struct tkb_recorded_pair *const *right = b;
	const int order = strcmp((*left)->key, (*right)->key);

	if (order != 0)
		return order;
	return ((*left)->device > (*right)->device) -
	       ((*left)->device < (*right)->device);
}

int tkb_recorder_set_list(const struct tkb_recorder_set *set,
                          const struct tkb_recorded_pair ***out,
                          size_t *count_out, struct tkb_error *err)
{
	const struct tkb_recorded_table *table = atomic_load(&set->table);
	const size_t slots = table == NULL ? 0 : table->slot_count;
	const struct tkb_recorded_pair **list =
		tkb_alloc_array(slots, sizeof(*list));
	size_t count = 0;

	if (list == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < slots; i++) {
		const struct tkb_recorded_pair *pair =
			atomic_load(&table->slots[i]);

		if (pair != NULL)
			list[count++] = pair;
	}
	qsort(list, count, sizeof(*list), compare_recorded_pairs);
	*out = list;
	*count_out = count;
	return 0;
}

/* Sort by cache key, the newest launcher of each key first. */
static int compare_saved(const void *a, const void *b)
{
	const struct tkb_recorded_launcher *const *left = a;
	const struct tkb_recorded_launcher *const *right = b;
	const int order = strcmp((*left)->saving.saved.cache_key,
	                         (*right)->saving.saved.cache_key);

	if (order != 0)
		return order;
	return ((*left)->number < (*right)->number) -
	       ((*left)->number > (*right)->number);
}

static bool is_newest(struct tkb_recorded_launcher *const *sorted, size_t index)
{
	return index == 0 || strcmp(sorted[index - 1]->saving.saved.cache_key,
	                            sorted[index]->saving.saved.cache_key) != 0;
}

/* All launchers, sorted, in a list that the caller frees. NULL: no memory. */
static struct tkb_recorded_launcher **sort_saved(
	const struct tkb_recorder_set *set, size_t *count_out)
{
	struct tkb_recorded_launcher *const newest = atomic_load(&set->saved);
	struct tkb_recorded_launcher **sorted;
	size_t count = 0;

	for (struct tkb_recorded_launcher *at = newest; at != NULL;
	     at = at->next)
		count++;
	sorted = tkb_alloc_array(count, sizeof(*sorted));
	if (sorted == NULL)
		return NULL;
	*count_out = count;
	count = 0;
	for (struct tkb_recorded_launcher *at = newest; at != NULL;
	     at = at->next)
		sorted[count++] = at;
	qsort(sorted, count, sizeof(*sorted), compare_saved);
	return sorted;
}

/* A child that is forked between two steps must find a consistent list. */
static void free_replaced(struct tkb_recorder_set *set)
{
	struct tkb_recorded_launcher *kept = atomic_load(&set->saved);

	set->kept_count = set->new_count = 0;
	set->kept_size = set->new_size = 0;
	/* The first launcher is the newest, so nothing can have replaced it. */
	while (kept != NULL) {
		struct tkb_recorded_launcher *next = kept->next;

		while (next != NULL && next->is_replaced) {
			kept->next = next->next;
			free(next);
			next = kept->next;
		}
		set->kept_count++;
		set->kept_size += kept->saving.payload.size;
		kept = next;
	}
}

void tkb_recorder_set_purge(struct tkb_recorder_set *set)
{
	TKB_AUTO(tkb_free_at) struct tkb_recorded_launcher **sorted = NULL;
	size_t count = 0;

	if (set->new_count <= set->kept_count + PURGE_COUNT &&
	    set->new_size <= set->kept_size + PURGE_SIZE)
		return;
	sorted = sort_saved(set, &count);
	if (sorted == NULL)
		return; /* there may be memory at a later purge */
	for (size_t i = 0; i < count; i++)
		sorted[i]->is_replaced = !is_newest(sorted, i);
	free_replaced(set);
}

int tkb_recorder_set_saved(const struct tkb_recorder_set *set,
                           struct tkb_saving **out, size_t *count_out,
                           struct tkb_error *err)
{
	size_t count = 0;
	TKB_AUTO(tkb_free_at)
	struct tkb_recorded_launcher **sorted = sort_saved(set, &count);
	struct tkb_saving *list = tkb_alloc_array(count, sizeof(*list));
	size_t used = 0;

	if (sorted == NULL || list == NULL) {
		free(list);
		return tkb_fail_nomem(err);
	}
	for (size_t i = 0; i < count; i++) {
		if (is_newest(sorted, i))
			list[used++] = sorted[i]->saving;
	}
	*count_out = used;
	*out = list;
	return 0;
}
