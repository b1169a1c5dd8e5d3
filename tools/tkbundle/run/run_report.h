/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_REPORT_H
#define TKBUNDLE_RUN_REPORT_H

#include "run/run.h"

/*
 * Print lines on standard error before the command starts, when there is news,
 * and at the end. With --json, each is a document of one line:
 *
 *     tkbundle: emitted 252, starting
 *     tkbundle: emitted 252, used 251, compiled anew 3, pushed 3; push: ...
 *
 * Only the last line waits for its reader, if necessary.
 */
void run_report_start(const struct run *run);
void run_report_change(const struct run *run);

/* @param status  our exit status */
void run_report_end(const struct run *run, int status);

/*
 * Note that a push has ended or was given up: count what it pushed, or keep the
 * reason of its failure.
 */
void run_report_push(struct run *run);

/*
 * Visit the failures so far. `of` is "" if the message itself says what failed.
 */
void run_report_failures(const struct run *run,
                         void (*visit)(void *self, const char *of,
                                       const char *message),
                         void *self);

/*
 * Did the command compile nothing? If it did, print what it compiled; if that
 * is unknown, print that.
 */
bool run_report_is_warm(const struct run *run);

#endif
