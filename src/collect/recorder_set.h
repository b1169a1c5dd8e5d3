/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_RECORDER_SET_H
#define TKB_COLLECT_RECORDER_SET_H

/*
 * What a recorder keeps: a set of pairs (key, device), and launchers.
 *
 * The set is consistent at every instruction: something new is built apart and
 * published by one atomic store. So a child of fork() can use its copy, whatever
 * another thread was doing to the set at that moment.
 */

#include <stdatomic.h>

#include <tkbundle/recorder.h>

#include "base/base.h"
#include "collect/collect.h"

enum {
	TKB_PAIRS_LIMIT = 100000
};

/* The device of a pair whose key is a winner. */
#define TKB_DEVICE_WINNER UINT32_MAX

/* Immutable. */
struct tkb_recorded_pair {
	uint32_t device;
	char key[]; /* with its zero */
};

struct tkb_recorded_table;

/* Zeroed is empty. */
struct tkb_recorder_set {
	struct tkb_recorded_table *_Atomic table; /* owned */
	struct tkb_recorded_launcher
		*_Atomic saved; /* owned; the newest first */
	size_t kept_count;      /* launchers that the last purge left */
	uint64_t kept_size;     /* bytes of their payloads */
	size_t new_count;       /* launchers that were saved since */
	uint64_t new_size;
};

void tkb_recorder_set_release(struct tkb_recorder_set *set);

/* Move the contents of `from` to `to`; `from` becomes empty. */
void tkb_recorder_set_move(struct tkb_recorder_set *from,
                           struct tkb_recorder_set *to);

/*
 * Add the pair, unless it is there. Returns 0, TKB_ERR_TOO_LARGE or
 * TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_recorder_set_put(struct tkb_recorder_set *set,
                                       const char *key, uint32_t device,
                                       struct tkb_error *err);

/*
 * Copy `launcher`, whose parts are valid, and hash its payload. The caller frees
 * the copy with free(), unless tkb_recorder_set_save() takes it over.
 */
TKB_NODISCARD int tkb_recorded_launcher_new(
	const struct tkb_launcher_spec *launcher,
	struct tkb_recorded_launcher **out, struct tkb_error *err);
void tkb_recorder_set_save(struct tkb_recorder_set *set,
                           struct tkb_recorded_launcher *launcher);

/*
 * Free launchers that newer ones of their cache key have replaced, if there are
 * many: the set never holds much more than twice what it needs.
 */
void tkb_recorder_set_purge(struct tkb_recorder_set *set);

/*
 * All pairs by key, then device; a winner's pair is the last of its key. The
 * caller frees the list; what it points to belongs to the set.
 */
TKB_NODISCARD int tkb_recorder_set_list(const struct tkb_recorder_set *set,
                                        const struct tkb_recorded_pair ***out,
                                        size_t *count_out,
                                        struct tkb_error *err);

/* The newest launcher of each cache key, sorted by it; likewise. */
TKB_NODISCARD int tkb_recorder_set_saved(const struct tkb_recorder_set *set,
                                         struct tkb_saving **out,
                                         size_t *count_out,
                                         struct tkb_error *err);

/*
 * Select what was put, or only the winners of that if there are any; and what
 * launchers need. Pointers are into the set.
 */
TKB_NODISCARD int tkb_collect_selection_of(const struct tkb_recorder_set *set,
                                           struct tkb_collect_selection *out,
                                           struct tkb_error *err);

#endif
