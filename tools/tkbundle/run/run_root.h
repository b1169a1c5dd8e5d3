/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_ROOT_H
#define TKBUNDLE_RUN_ROOT_H

#include "run/run.h"

/*
 * Which cache root the command gets. All of this is done in children: the
 * configuration, a name service, and the root may hang.
 *
 * A root that cannot be written, or that does not answer, is replaced by
 * another: <root>.tkbundle-<user>, beside it, else tkbundle-<user>-<number> in
 * $TMPDIR, else in /tmp. It is ours and closed to others, and it stays: what
 * is compiled there is there the next time.
 */

/* Fill in what the command line says, without reading any file. */
void run_root_assume(const struct arguments *args, struct run_plan *out);

/* A task, given a struct run: fill in shared->plan. */
void run_root_plan(void *self);

/* The same without a look at the configuration and at the root. */
void run_root_flee(void *self);

#endif
