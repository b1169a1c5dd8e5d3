/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_REPORT_H
#define TKBUNDLE_RUN_REPORT_H

#include "run/run.h"

/*
 * What standard error is told: lines, or with --json documents of a line each,
 * before the command starts, when there is news, and in the end:
 *
 *     tkbundle: emitted 252, starting
 *     tkbundle: emitted 252, used 251, compiled anew 3, pushed 3; push: ...
 *
 * Only the last one waits for its reader, if it has to.
 */
void run_report_start(const struct run *run);
void run_report_change(const struct run *run);

/* @param status  what we exit with */
void run_report_end(const struct run *run, int status);

/*
 * What the push that has ended, or is given up, comes to: what it pushed is
 * counted, or why it failed is kept.
 */
void run_report_push(struct run *run);

/*
 * Did the command find all that it needed? If not, say what it made anew; and if
 * nobody knows, say that.
 */
bool run_report_is_warm(const struct run *run);

#endif
