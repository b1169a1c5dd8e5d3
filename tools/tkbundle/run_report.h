/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_REPORT_H
#define TKBUNDLE_RUN_REPORT_H

#include "run.h"

/*
 * Print the last line:
 *
 *     tkbundle: emitted 252, used 251, compiled anew 3, pushed 3; pull: ...
 */
void run_report_print(const struct run *run);

/* A task, given a struct run: write the figures to the file of --metrics. */
void run_report_measure(void *self);

/*
 * What the push that has ended, or is given up, comes to: what it pushed is
 * counted, or why it failed is kept.
 */
void run_report_push(struct run *run);

#endif
