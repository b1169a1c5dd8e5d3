/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COLLECT_RECORDER_SET_H
#define TKB_COLLECT_RECORDER_SET_H

/*
 * What a recorder notes: a set of (key, device), and launchers.
 *
 * At every instruction the notes are whole: something new is made aside, and
 * appears by one store. So a child of fork() has notes that it can use,
 * whatever another thread was doing to them just then.
 */

#include <stdatomic.h>

#include <tkbundle/recorder.h>

#include "base/base.h"
#include "collect/pack.h"

enum {
	TKB_NOTES_LIMIT = 100000
};

/* Stands for a device where only the key is noted: of a winner. */
#define TKB_NOTE_WINNER UINT32_MAX

/* One note. It is never changed. */
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

void tkb_recorder_set_release(struct tkb_recorder_set *notes);

/* `to` becomes what `from` is, which becomes empty. */
void tkb_recorder_set_move(struct tkb_recorder_set *from,
                           struct tkb_recorder_set *to);

/*
 * Note `key` for `device`, once. Returns 0, TKB_ERR_TOO_LARGE or
 * TKB_ERR_NOMEM.
 */
TKB_NODISCARD int tkb_recorder_set_put(struct tkb_recorder_set *notes,
                                       const char *key, uint32_t device,
                                       struct tkb_error *err);

/*
 * Make a note of `launcher`, whose parts are as they must be: a copy, and its
 * digest. It is the caller's to free, until it is taken over by a save.
 */
TKB_NODISCARD int tkb_recorded_launcher_new(
	const struct tkb_launcher_spec *launcher,
	struct tkb_recorded_launcher **out, struct tkb_error *err);
void tkb_recorder_set_save(struct tkb_recorder_set *notes,
                           struct tkb_recorded_launcher *note);

/*
 * Free launchers that others of their cache key have replaced, once that is
 * worth it: never does this hold much more than twice of what counts.
 */
void tkb_recorder_set_purge(struct tkb_recorder_set *notes);

/*
 * All notes, by key, then device, which a winner's comes last in. The list is
 * the caller's to free; what it points to belongs to the notes.
 */
TKB_NODISCARD int tkb_recorder_set_list(const struct tkb_recorder_set *notes,
                                        const struct tkb_recorded_pair ***out,
                                        size_t *count_out,
                                        struct tkb_error *err);

/* The launchers, by cache key, the newest of each; likewise. */
TKB_NODISCARD int tkb_recorder_set_saved(const struct tkb_recorder_set *notes,
                                         struct tkb_saving **out,
                                         size_t *count_out,
                                         struct tkb_error *err);

/* What the notes come to. Pointers are into the notes. */
struct tkb_collect_selection {
	struct tkb_pick *picks; /* owned; by key, then device */
	size_t pick_count;
	struct tkb_saving *savings; /* owned; by cache key */
	size_t saving_count;
};

void tkb_collect_selection_release(struct tkb_collect_selection *wishes);

/*
 * Which entries are wanted: what was put, or of that only winners if there are
 * any; and what launchers need.
 */
TKB_NODISCARD int tkb_collect_selection_of(const struct tkb_recorder_set *notes,
                                           struct tkb_collect_selection *out,
                                           struct tkb_error *err);

#endif
