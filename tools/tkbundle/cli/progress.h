/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_PROGRESS_H
#define TKBUNDLE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A progress bar on a terminal, with how fast it goes and how long it will take;
 * nothing at all elsewhere.
 *
 * It appears only when the work has taken a moment, is drawn a few times a
 * second, and leaves no trace. Erase it before anything else is printed; the
 * next update draws it again.
 */
struct progress {
	FILE *to;
	bool is_tty;
	bool is_drawn;
	bool is_count;     /* of things, not of bytes; set by the caller */
	uint64_t begin_ms; /* when the work began */
	uint64_t next_ms;  /* when it may be drawn again */
};

void progress_init(struct progress *progress, FILE *to, bool is_tty);
void progress_update(struct progress *progress, uint64_t done, uint64_t total);
void progress_erase(struct progress *progress);

#endif
