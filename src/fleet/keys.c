/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/keys.h"

#include <stdlib.h>
#include <string.h>

#include "cache/watch.h"
#include "text/select.h"
#include "fleet/identity.h"

void tkb_keys_release(struct tkb_keys *keys)
{
	free(keys->items);
	*keys = (struct tkb_keys){ 0 };
}

static const char *key_at(const void *list, size_t index)
{
	const struct tkb_identity *items = list;

	return items[index].key;
}

int tkb_keys_find(const struct tkb_record_list *records,
                  const struct tkb_emit_options *options,
                  const struct tkb_watch *watch, struct tkb_keys *out,
                  struct tkb_error *err)
{
	TKB_AUTO(tkb_identities_release) struct tkb_identities all = { 0 };
	TKB_AUTO(tkb_keys_release) struct tkb_keys keys = { 0 };
	int missed = 0;
	int rc;

	rc = tkb_identities_list(records, &all, err);
	if (rc < 0)
		return rc;
	keys.items = tkb_alloc_array(options->key_count, sizeof(*keys.items));
	if (keys.items == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < options->key_count; i++) {
		const char *key = options->keys[i];
		size_t index = 0;

		rc = tkb_select_key(all.items, all.count, key_at, key, &index,
		                    err);
		if (rc < 0)
			return rc;
		if (rc == TKB_MISS)
			missed = tkb_watch_missing(
				watch, key, "no key begins with '%s'", key);
		else
			keys.items[keys.count++] = all.items[index].key;
	}
	if (missed != 0)
		return missed;
	*out = keys;
	keys = (struct tkb_keys){ 0 };
	return 0;
}

static bool has_key(const struct tkb_record *record, const char *key)
{
	for (size_t i = 0; i < record->entry_count; i++) {
		if (strcmp(record->entries[i].key, key) == 0)
			return true;
	}
	return false;
}

int tkb_keys_in(const struct tkb_keys *keys, const struct tkb_record *record,
                struct tkb_keys *out, struct tkb_error *err)
{
	struct tkb_keys found = { 0 };

	found.items = tkb_alloc_array(keys->count, sizeof(*found.items));
	if (found.items == NULL)
		return tkb_fail_nomem(err);
	for (size_t i = 0; i < keys->count; i++) {
		if (has_key(record, keys->items[i]))
			found.items[found.count++] = keys->items[i];
	}
	*out = found;
	return 0;
}
