/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_FIGURES_H
#define TKBUNDLE_RUN_FIGURES_H

#include "cli/metrics.h"
#include "run/run.h"
#include "why/start.h"

/* Figures that are not known are START_UNKNOWN. */
struct run_figures {
	uint64_t emitted;
	uint64_t used;
	uint64_t compiled;
	uint64_t pushed;
	uint64_t left_out; /* by the last push */
	uint64_t saved_ms; /* known if `used` is */
	uint64_t gone;     /* blobs */
	uint64_t ready_ms; /* from the start of the command */
};

void run_figures_take(const struct run *run, struct run_figures *out);

/*
 * Write the figures, and those that every verb has, to the file of --metrics.
 */
void run_figures_name(const struct run *run, struct metrics *metrics);

/*
 * Tasks, given a struct run. The first writes the figures to the file of
 * --metrics; the second counts first.
 */
void run_figures_measure(void *self);
void run_figures_renew(void *self);

#endif
