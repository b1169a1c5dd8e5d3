/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_RECORDER_SET_H
#define TKB_COLLECT_RECORDER_SET_H

/*
 * What a recorder keeps: a set of pairs (key, device), and launchers.
 *
 * The set is consistent at every instruction: each change is prepared elsewhere
 * and then published by one atomic store. So a forked child can use its copy,
 * whatever another thread was doing to the set at that moment.
 */

#include <stdatomic.h>

#include <tkbundle/recorder.h>

#include "base/base.h"
#include "collect/collect.h"

enum {
	TKB_PAIRS_LIMIT = 100000
};

/* Stands for the device in a pair that says that its key won. */
#define TKB_DEVICE_WINNER UINT32_MAX

/* Never changes. */
struct tkb_recorded_pair {
	uint32_t device;
	char key[]; /* with a terminating zero */
};

struct tkb_recorded_table;

/* A zeroed set is empty. */
struct tkb_recorder_set {
	struct tkb_recorded_table *_Atomic table; /* owned */
	struct tkb_recorded_launcher
		*_Atomic saved; /* owned; the newest first */
	size_t kept_count;      /* launchers that the last purge left */
	uint64_t kept_size;     /* bytes of the payloads of those */
	size_t new_count;       /* launchers saved since the last purge */
	uint64_t new_size;
};

void tkb_recorder_set_release(struct tkb_recorder_set *set);

/* Move the contents of `from` to `to`; `from` becomes empty. */
void tkb_recorder_set_move(struct tkb_recorder_set *from,
                           struct tkb_recorder_set *to);

/*
 * Add the pair, unless the set has it. Returns 0, TKB_ERR_TOO_LARGE or
 * TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_recorder_set_put(struct tkb_recorder_set *set,
                                       const char *key, uint32_t device,
                                       struct tkb_error *err);

/*
 * Copy `launcher`, which must be valid, and hash its payload. The caller frees
 * the copy with free(), or passes it on to tkb_recorder_set_save().
 */
TKB_NODISCARD int tkb_recorded_launcher_new(
	const struct tkb_launcher_spec *launcher,
	struct tkb_recorded_launcher **out, struct tkb_error *err);
void tkb_recorder_set_save(struct tkb_recorder_set *set,
                           struct tkb_recorded_launcher *launcher);

/*
 * If there are many replaced launchers, free them, so that the set never has
 * much more than twice what it needs. A launcher is replaced by a newer one
 * with the same cache key.
 */
void tkb_recorder_set_purge(struct tkb_recorder_set *set);

/*
 * List all pairs, sorted by key, then device; the pair that says that a key won
 * is the key's last. The caller frees the list; the pairs belong to the set.
 */
TKB_NODISCARD int tkb_recorder_set_list(const struct tkb_recorder_set *set,
                                        const struct tkb_recorded_pair ***out,
                                        size_t *count_out,
                                        struct tkb_error *err);

/*
 * List the newest launcher of each cache key, sorted by cache key. The caller
 * frees the list; what it points to belongs to the set.
 */
TKB_NODISCARD int tkb_recorder_set_saved(const struct tkb_recorder_set *set,
                                         struct tkb_saving **out,
                                         size_t *count_out,
                                         struct tkb_error *err);

/*
 * Select everything that was put or, if winners were named, only them; and also
 * what launchers need. Pointers in the selection are into the set.
 */
TKB_NODISCARD int tkb_collect_selection_of(const struct tkb_recorder_set *set,
                                           struct tkb_collect_selection *out,
                                           struct tkb_error *err);

#endif
