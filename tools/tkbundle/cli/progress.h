/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PROGRESS_H
#define TKBUNDLE_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <tkbundle/entry.h>

/*
 * A progress bar on a terminal, with how fast it goes and how long it will take;
 * nothing at all elsewhere.
 *
 * It appears only when the work has taken a moment, is drawn a few times a
 * second, and leaves no trace. Erase it before anything else is printed; the
 * next update draws it again. Any thread may update it.
 */
struct progress {
	FILE *to;
	bool is_tty;
	bool is_count; /* of things, not of bytes; set by the caller */
	/* Shown by ticks until something is told; set by the caller, or NULL. */
	const char *waits_for;
	atomic_flag is_busy; /* a thread draws, or changes what follows */
	bool is_drawn;
	bool is_told;
	bool is_look; /* it only looks what there is to do */
	uint64_t done;
	uint64_t total;
	uint64_t begin_ms; /* when this part of the work began */
	uint64_t next_ms;  /* when it may be drawn again */
	uint64_t last_ms; /* when `rate` was measured, and what was done then */
	uint64_t last_done;
	double rate; /* a second */
	/* For work of the library that is only shown: it cancels nothing. */
	struct tkb_watch watch;
};

/* It must not move afterwards. */
void progress_init(struct progress *progress, FILE *to, bool is_tty);
void progress_update(struct progress *progress, uint64_t done, uint64_t total);

/* The same of things that it looks at before. */
void progress_look(struct progress *progress, uint64_t done, uint64_t total);

/* Nothing is new: what was told last is drawn again, or "asking the remote, 3s". */
void progress_tick(struct progress *progress);
void progress_erase(struct progress *progress);

#endif
