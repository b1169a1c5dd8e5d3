/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/digest.h"
#include "collect/pack.h"

/* The keys of the kernels in the cache, sorted. */
struct keys {
	const char **items;
	size_t count;
};

/* Keep the launcher with those of its kernels that exist, or drop it. */
static int choose_launcher(struct tkb_pack *pack, const struct keys *keys,
                           const struct tkb_saving *saving,
                           struct tkb_error *err)
{
	const size_t count = saving->saved.need_count;
	const char **needs =
		tkb_arena_alloc(&pack->arena, count, sizeof(*needs));
	size_t there = 0;

	if (needs == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		if (tkb_is_among_sorted(saving->saved.needs[i], keys->items,
		                        keys->count))
			needs[there++] = saving->saved.needs[i];
	}
	if (there == 0 ||
	    (saving->saved.need == TKB_NEED_ALL && there != count)) {
		pack->dropped[pack->dropped_count++] = saving;
		return 0;
	}
	pack->launchers[pack->launcher_count] = saving->saved;
	pack->launchers[pack->launcher_count].needs = needs;
	pack->launchers[pack->launcher_count].need_count = there;
	pack->launcher_count++;
	return 0;
}

static int choose_launchers(struct tkb_pack *pack, struct tkb_error *err)
{
	const struct tkb_cache *cache = pack->cache;
	TKB_AUTO(tkb_free_at)
	const char **items =
		tkb_alloc_array(cache->found_count, sizeof(*items));
	struct keys keys = { .items = items };
	int rc = 0;

	pack->launcher_count = 0;
	pack->dropped_count = 0;
	pack->launchers =
		tkb_alloc_array(pack->saving_count, sizeof(*pack->launchers));
	pack->dropped =
		tkb_alloc_array(pack->saving_count, sizeof(*pack->dropped));
	if (items == NULL || pack->launchers == NULL || pack->dropped == NULL)
		return tkb_fail_nomem(err);
	if (pack->saving_count == 0)
		return 0;
	for (size_t i = 0; i < cache->found_count; i++) {
		if (cache->found[i].entry.kind == TKB_KIND_KERNEL)
			items[keys.count++] = cache->found[i].entry.key;
	}
	tkb_sort(items, keys.count, sizeof(*items), tkb_compare_texts);
	for (size_t i = 0; i < pack->saving_count && rc == 0; i++)
		rc = choose_launcher(pack, &keys, &pack->savings[i], err);
	return rc;
}

/* Note where the bytes of each payload are. */
static int find_payloads(struct tkb_pack *pack, const struct tkb_entry *items,
                         size_t count, struct tkb_error *err)
{
	pack->payloads = tkb_alloc_array(count, sizeof(*pack->payloads));
	if (pack->payloads == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < pack->saving_count; i++) {
		const struct tkb_saving *saving = &pack->savings[i];
		const size_t found =
			tkb_payload_find(items, count, &saving->saved.digest);

		if (found != count)
			pack->payloads[found] = saving->payload;
	}
	return 0;
}

int tkb_pack_choose(struct tkb_pack *pack, struct tkb_error *err)
{
	const size_t entry_count = pack->cache->found_count;
	struct tkb_entry *payloads = NULL;
	size_t payload_count = 0;
	int rc;

	rc = choose_launchers(pack, err);
	if (rc < 0)
		return rc;
	rc = tkb_payload_items(pack->launchers, pack->launcher_count,
	                       &pack->arena, &payloads, &payload_count, err);
	if (rc < 0)
		return rc;
	rc = find_payloads(pack, payloads, payload_count, err);
	if (rc < 0)
		return rc;
	pack->item_count = entry_count + payload_count;
	pack->items = tkb_alloc_array(pack->item_count, sizeof(*pack->items));
	if (pack->items == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < entry_count; i++)
		pack->items[i] = &pack->cache->found[i].entry;
	for (size_t i = 0; i < payload_count; i++)
		pack->items[entry_count + i] = &payloads[i];
	return 0;
}
