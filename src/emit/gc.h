/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_GC_H
#define TKB_EMIT_GC_H

/* The entries of a gc, and which of them have to go. */

#include <tkbundle/maintain.h>

#include "cache/cache.h"
#include "emit/batch.h"

/* An entry and its last use. */
struct tkb_gc_item {
	const struct tkb_scanned_entry *found;
	struct tkb_use use;
	int64_t last_ns; /* when it was used or written */
	bool is_chosen;  /* it has to go */
	bool is_hidden;  /* its group file is removed */
};

struct tkb_gc {
	const struct tkb_gc_options *options;
	struct tkb_cache *cache; /* owned */
	bool *has_times;        /* owned; by root: does it keep access times? */
	struct tkb_batch batch; /* its jobs are the items */
	struct tkb_gc_item *items; /* owned; the least recently used first */
	size_t item_count;
	struct tkb_gc_report report;
};

/* Find out when the item was used. As tkb_use_look(), which see. */
TKB_NODISCARD int tkb_gc_look(const struct tkb_gc *gc,
                              const struct tkb_gc_item *item,
                              struct tkb_use *out, struct tkb_error *err);

/*
 * List what was scanned in the order of its last use, choose what goes, and give
 * each a job; the jobs of those that stay are never run.
 */
TKB_NODISCARD int tkb_gc_plan(struct tkb_gc *gc, struct tkb_error *err);

#endif
