/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/push.h"

#include <string.h>

#include "fleet/push_session.h"
#include "tree/unit_names.h"

void tkb_pusher_report(struct tkb_pusher *pusher,
                       const struct tkb_result *result)
{
	tkb_watcher_result(&pusher->watcher, result);
	pusher->report.left_out_count +=
		result->outcome == TKB_OUTCOME_LEFT_OUT;
}

/* List the entries that need not be pushed. */
static int list_held(struct tkb_pusher *pusher, struct tkb_error *err)
{
	int rc;

	rc = tkb_identities_list(&pusher->records, &pusher->held, err);
	if (rc == 0)
		rc = tkb_push_base_read(pusher->remote, pusher->options,
		                        &pusher->base, err);
	if (rc == 0)
		rc = tkb_identities_list(&pusher->base, &pusher->held_by_base,
		                         err);
	return rc;
}

/*
 * Is the entry a unit of options->again, by its name in a bundle or by its path
 * here? Note each of them that is found.
 */
static bool is_made_again(struct tkb_pusher *pusher,
                          const struct tkb_scanned_entry *found)
{
	const struct tkb_entry *entry = &found->entry;
	const char *here;
	bool is_made = false;

	if (entry->kind != TKB_KIND_UNIT || pusher->options->again_count == 0)
		return false;
	here = tkb_unit_names_here(found->root->names, entry->name, NULL);
	for (size_t i = 0; i < pusher->options->again_count; i++) {
		const struct tkb_unit_name *unit = &pusher->options->again[i];

		if (strcmp(unit->tree, entry->tree) != 0 ||
		    (strcmp(unit->name, entry->name) != 0 &&
		     strcmp(unit->name, here) != 0))
			continue;
		pusher->has_again[i] = true;
		is_made = true;
	}
	return is_made;
}

/* Find the version of a unit in the cache that was tuned or made again. */
static int find_unit_version(struct tkb_pusher *pusher,
                             const struct tkb_scanned_entry *found,
                             struct tkb_identity *identity,
                             struct tkb_error *err)
{
	const bool is_tuned = tkb_unit_is_tuned(&found->entry);
	int rc;

	identity->is_made_again = is_made_again(pusher, found) && !is_tuned;
	if (!identity->is_made_again && !is_tuned)
		return 0;
	rc = tkb_identity_read_version(identity, &pusher->cache->loaders[0],
	                               found, err);
	return rc == 0 && !tkb_version_is_none(&identity->version)
	               ? tkb_versions_add(&pusher->versions, &identity->version,
	                                  err)
	               : rc;
}

/* Does the ref, or the base ref, have it? */
static bool is_held(const struct tkb_pusher *pusher,
                    const struct tkb_identity *identity)
{
	struct tkb_identity any = *identity;

	any.version = (struct tkb_version){ 0 };
	if (tkb_identities_have(&pusher->held, identity))
		return true;
	/* A version in the ref hides those of the base. */
	if (identity->is_made_again && tkb_identities_have(&pusher->held, &any))
		return false;
	return tkb_identities_have(&pusher->held_by_base, identity);
}

static int pick_devices(struct tkb_pusher *pusher,
                        const struct tkb_scanned_entry *found,
                        struct tkb_error *err)
{
	const struct tkb_entry *entry = &found->entry;
	struct tkb_identity identity = { .key = entry->key,
		                         .platform = entry->platform };
	size_t picked = 0;
	int rc;

	rc = find_unit_version(pusher, found, &identity, err);
	if (rc < 0)
		return rc;

	for (size_t i = 0; i < entry->device_count; i++) {
		const struct tkb_pick wanted = {
			.key = entry->key,
			.device = entry->devices[i],
			.is_unit = entry->kind == TKB_KIND_UNIT,
			.found = found,
		};

		identity.device = entry->devices[i];
		if (is_held(pusher, &identity))
			continue;
		rc = tkb_append(&pusher->picks, &pusher->pick_count,
		                &pusher->pick_capacity, &wanted, sizeof(wanted),
		                err);
		if (rc < 0)
			return rc;
		picked++;
	}
	if (picked == 0)
		pusher->report.present_count++;
	return 0;
}

/* Is there a unit of this name that cannot be packed? */
static bool is_left_out(const struct tkb_cache *cache, const char *name)
{
	for (size_t i = 0; i < tkb_cache_left_out_count(cache); i++) {
		if (strcmp(tkb_cache_left_out(cache, i)->key, name) == 0)
			return true;
	}
	return false;
}

/* Report units of options->again that the cache does not have. */
static void report_gone(struct tkb_pusher *pusher)
{
	for (size_t i = 0; i < pusher->options->again_count; i++) {
		const char *name = pusher->options->again[i].name;
		const struct tkb_result result = {
			.root = pusher->root,
			.key = name,
			.name = "",
			.outcome = TKB_OUTCOME_LEFT_OUT,
			.reason = TKB_REASON_MISSING,
			.message = "it is not in the cache",
		};

		if (!pusher->has_again[i] && !is_left_out(pusher->cache, name))
			tkb_pusher_report(pusher, &result);
	}
}

/* Report the entries that cannot be packed, as collect does. */
static int report_left_out(struct tkb_pusher *pusher, struct tkb_error *err)
{
	size_t count;

	for (size_t i = 0; i < tkb_cache_left_out_count(pusher->cache); i++) {
		const struct tkb_result result = tkb_left_out_result(
			tkb_cache_left_out(pusher->cache, i),
			TKB_OUTCOME_LEFT_OUT);

		tkb_pusher_report(pusher, &result);
	}
	report_gone(pusher);
	count = pusher->report.left_out_count;
	if (count > 0 && pusher->options->collect->is_strict)
		return tkb_fail(err, TKB_ERR_LEFT_OUT,
		                count == 1 ? "%zu entry would be left out"
		                           : "%zu entries would be left out",
		                count);
	return 0;
}

int tkb_pusher_find(struct tkb_pusher *pusher, struct tkb_error *err)
{
	const struct tkb_cache_options choices =
		tkb_collect_cache_options(pusher->options->collect);
	const struct tkb_scan scan = { .options = &choices };
	int rc;

	rc = list_held(pusher, err);
	if (rc < 0)
		return rc;
	rc = tkb_cache_scan(pusher->root, &scan, &pusher->cache, err);
	for (size_t i = 0; rc == 0 && i < tkb_cache_entry_count(pusher->cache);
	     i++)
		rc = pick_devices(pusher, &pusher->cache->found[i], err);
	if (rc != 0)
		return rc;
	pusher->is_told = tkb_alloc_array(tkb_cache_entry_count(pusher->cache),
	                                  sizeof(*pusher->is_told));
	if (pusher->is_told == NULL)
		return tkb_fail_nomem(err);
	tkb_sort(pusher->picks, pusher->pick_count, sizeof(*pusher->picks),
	         tkb_compare_picks);
	return report_left_out(pusher, err);
}
