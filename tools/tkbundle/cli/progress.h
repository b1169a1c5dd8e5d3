/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PROGRESS_H
#define TKBUNDLE_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <tkbundle/entry.h>

/*
 * A progress bar on a terminal, with the rate and the time left. Elsewhere,
 * nothing is drawn.
 *
 * The bar appears only after the work has taken a moment, is drawn a few times
 * a second, and leaves no trace. Erase it before anything else is printed; the
 * next update draws it again. Any thread may update it.
 */
struct progress {
	FILE *to;
	bool is_tty;
	bool is_count; /* it counts things, not bytes; set by the caller */
	/*
	 * Shown by progress_tick() until the first update; set by the caller,
	 * or NULL.
	 */
	const char *waits_for;
	atomic_flag is_busy; /* a thread draws, or changes the members below */
	bool is_drawn;
	bool is_told;
	bool is_look; /* it still finds out what there is to do */
	uint64_t done;
	uint64_t total;
	uint64_t begin_ms; /* when this part of the work began */
	uint64_t next_ms;  /* when it may be drawn again */
	uint64_t last_ms;  /* when `rate` was measured; last_done: then */
	uint64_t last_done;
	double rate; /* per second */
	/*
	 * A watch for work of the library that only shows progress, and cancels
	 * nothing.
	 */
	struct tkb_watch watch;
};

/* The struct must not be moved afterwards. */
void progress_init(struct progress *progress, FILE *to, bool is_tty);
void progress_update(struct progress *progress, uint64_t done, uint64_t total);

/* Update while it finds out what there is to do. */
void progress_look(struct progress *progress, uint64_t done, uint64_t total);

/* Draw the last state again, or a line like "asking the remote, 3s". */
void progress_tick(struct progress *progress);
void progress_erase(struct progress *progress);

#endif
