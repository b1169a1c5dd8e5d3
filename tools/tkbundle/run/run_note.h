/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_NOTE_H
#define TKBUNDLE_RUN_NOTE_H

#include "run/run.h"
#include "why/start.h"

/*
 * A task, given a struct run: write or update the note of the start, with the
 * entries that the command has compiled so far, and why. It fails silently:
 * only `why --last` reads the note.
 */
void run_note(void *self);

/*
 * A task, given a struct run: note in the cache what made the command's
 * entries, for the next push. It fails silently, too.
 */
void run_note_makers(void *self);

/*
 * Copy the numbers of the start into `start`, and the exit status if the
 * command has ended.
 */
void run_note_figures(const struct run *run, struct start *start);

#endif
