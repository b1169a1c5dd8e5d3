/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_EMIT_GC_H
#define TKB_EMIT_GC_H

/* What a gc works with: its entries, and which of them have to go. */

#include <tkbundle/maintain.h>

#include "cache/cache.h"
#include "emit/stage.h"

/* One entry, and what becomes of it. */
struct tkb_gc_item {
	const struct tkb_scanned_entry *found;
	struct tkb_use use;
	int64_t last_ns; /* used or written */
	bool is_chosen;
	bool is_hidden;
	bool is_done; /* with what follows */
	enum tkb_outcome outcome;
	enum tkb_reason reason;
	char *message; /* owned; NULL: none */
};

struct tkb_gc {
	const struct tkb_gc_options *options;
	struct tkb_cache *cache;  /* owned */
	bool *tells;              /* owned; does this root tell of use? */
	struct tkb_stage *stages; /* owned; one a root */
	size_t stage_count;
	struct tkb_gc_item *items; /* owned; the least recently used first */
	size_t item_count;
	struct tkb_watcher watcher;
	struct tkb_gc_report report;
};

/* The index of the root that `item` is in. */
size_t tkb_gc_root(const struct tkb_gc *gc, const struct tkb_gc_item *item);

/* Look when it was used. As tkb_use_look(), which see. */
TKB_NODISCARD int tkb_gc_look(const struct tkb_gc *gc,
                              const struct tkb_gc_item *item,
                              struct tkb_use *out, struct tkb_error *err);

/* List what was scanned in the order of its last use, and choose what goes. */
TKB_NODISCARD int tkb_gc_plan(struct tkb_gc *gc, struct tkb_error *err);

#endif
