/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_FLEET_PUSH_H
#define TKB_FLEET_PUSH_H

/* A push of a cache while it lasts: push_find.c finds what push.c pushes. */

#include <tkbundle/fleet.h>
#include <tkbundle/results.h>

#include "cache/cache.h"
#include "collect/collect.h"
#include "fleet/identity.h"
#include "records/records.h"
#include "remote/remote.h"

struct tkb_pusher {
	struct tkb_remote *remote;
	const char *ref;
	const char *root;
	const struct tkb_push_options *options;
	struct tkb_record_list records;
	struct tkb_identities held;
	struct tkb_record_list base; /* of options->base_ref */
	struct tkb_identities held_by_base;
	struct tkb_cache *cache; /* owned */
	struct tkb_pick *picks;  /* owned; the entries that the ref lacks */
	size_t pick_count;
	size_t pick_capacity;
	struct tkb_times *times;      /* owned; NULL: none is known */
	struct tkb_makers *makers;    /* owned; NULL: none is known */
	struct tkb_versions versions; /* versions of units tuned or made again
	                                 in this cache */
	bool *has_again; /* owned; is options->again[i] in the cache? */
	bool *is_told;   /* owned; is cache->found[i] left out, and told? */
	struct tkb_signer signer_room;
	const struct tkb_signer *signer; /* NULL: nobody signs */
	struct tkb_watcher watcher;      /* of the caller's watch */
	uint64_t done;                   /* bytes of finished steps */
	uint64_t doing;                  /* bytes of the current step */
	struct tkb_results *results;     /* owned; of the part that is packed */
	struct tkb_push_report report;
};

/* Report what became of an entry. */
void tkb_pusher_report(struct tkb_pusher *pusher,
                       const struct tkb_result *result);

/*
 * Find what the cache has, and neither the records of the ref nor the base ref, and
 * report what cannot be packed. If the push is strict, that is a failure.
 */
TKB_NODISCARD int tkb_pusher_find(struct tkb_pusher *pusher,
                                  struct tkb_error *err);

#endif
