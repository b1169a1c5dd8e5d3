/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_PACK_H
#define TKB_COLLECT_PACK_H

/*
 * Read, check and pack what a cache holds into frames.
 *
 * Items (entries, then payloads of launchers) are cut into frames by their
 * order and size. Then each frame is read and checked by one thread, and packed, a
 * large one by all that have nothing else to do. If
 * an entry turns out to be bad, everything is cut and packed again without it
 * and without the launchers that need it: the bytes of a bundle must not depend
 * on an entry that it does not have.
 *
 *     tkb_pack_init(&pack, &watcher, folder);
 *     pack.cache = cache;
 *     rc = tkb_pack(&pack, err);
 *     rc = tkb_pack_send(&pack, index, sink, err);     // each frame
 *     tkb_pack_close(&pack);
 */

#include "base/blob_buffer.h"
#include "cache/cache.h"
#include "format/launcher_payload.h"
#include "format/writer.h"

/* A launcher to pack, with its payload. */
struct tkb_saving {
	struct tkb_saved_launcher saved;
	struct tkb_bytes payload;
};

struct tkb_packing;

struct tkb_pack {
	struct tkb_cache *cache; /* by reference */
	struct tkb_watcher *watcher;
	const struct tkb_saving *savings; /* by reference; by cache key */
	size_t saving_count;
	bool is_dry_run; /* read and check, but pack nothing */
	int level;       /* of compression */

	struct tkb_blob_buffer hold;  /* the packed frames */
	struct tkb_packing *packings; /* owned; one for each loader */
	size_t packing_count;
	struct tkb_parallel_team *team; /* of the threads that pack */
	struct tkb_arena arena;         /* owns the items of the payloads */
	const struct tkb_entry **items; /* owned */
	size_t item_count;
	struct tkb_bytes *payloads; /* owned; one per item after the entries */
	struct tkb_saved_launcher *launchers; /* owned; those that are kept */
	size_t launcher_count;
	const struct tkb_saving **dropped; /* owned; those that are dropped */
	size_t dropped_count;
	struct tkb_error **faults; /* owned; one per item, or NULL */
	size_t fault_count;
	struct tkb_cut *cuts;     /* owned */
	size_t *order;            /* owned; frames, the largest first */
	struct tkb_frame *frames; /* owned */
	size_t frame_count;
	uint64_t *offsets; /* owned; of each frame in `hold` */
	uint32_t *indices; /* owned; the frames' `entries` point here */
};

/*
 * `folder` is for the file of frames that do not fit into memory; it is kept by
 * reference.
 */
void tkb_pack_init(struct tkb_pack *pack, struct tkb_watcher *watcher,
                   const char *folder);

TKB_NODISCARD int tkb_pack(struct tkb_pack *pack, struct tkb_error *err);

TKB_NODISCARD int tkb_pack_send(void *pack, size_t index,
                                const struct tkb_sink *sink,
                                struct tkb_error *err);

void tkb_pack_close(struct tkb_pack *pack);

/*
 * Choose the launchers whose kernels the cache has. Fills in `launchers`,
 * `dropped` and `items`. A launcher that needs any of several kernels keeps
 * those that exist.
 */
TKB_NODISCARD int tkb_pack_choose(struct tkb_pack *pack, struct tkb_error *err);

#endif
