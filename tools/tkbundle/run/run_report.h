/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_REPORT_H
#define TKBUNDLE_RUN_REPORT_H

#include "run/run.h"

/*
 * What is printed on standard error before the command starts, when there is
 * news, and at the end. These are lines, or with --json documents of one line:
 *
 *     tkbundle: emitted 252, starting
 *     tkbundle: emitted 252, used 251, compiled anew 3, pushed 3; push: ...
 *
 * Only the last one waits for its reader, if it must.
 */
void run_report_start(const struct run *run);
void run_report_change(const struct run *run);

/* @param status  our exit status */
void run_report_end(const struct run *run, int status);

/*
 * A push has ended or was given up: count what it pushed, or keep why it
 * failed.
 */
void run_report_push(struct run *run);

/* Visit what failed so far. `of` is "" where the message says it. */
void run_report_failures(const struct run *run,
                         void (*visit)(void *self, const char *of,
                                       const char *message),
                         void *self);

/*
 * Did the command find all that it needed? If not, print what it compiled; if
 * that is unknown, say so.
 */
bool run_report_is_warm(const struct run *run);

#endif
