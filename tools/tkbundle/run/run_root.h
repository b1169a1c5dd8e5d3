/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_RUN_ROOT_H
#define TKBUNDLE_RUN_ROOT_H

#include "run/run.h"

/*
 * Choose the cache root for the command. Done in children: reading the
 * configuration, a name service, or the root may hang.
 *
 * A root that cannot be written, or does not answer, is replaced by another:
 * <root>.tkbundle-<user> beside it, else tkbundle-<user>-<number> in $TMPDIR,
 * else in /tmp. It belongs to the user, is closed to others, and is kept: the
 * next run finds what was compiled there.
 *
 * The root of a mounted image (push --as image) is replaced in the same way:
 * `--cache` names the folder where the image is mounted, and nothing is written
 * in it. The engines' trees of the image are copied below such a folder, too,
 * and their variables name the copies.
 */

/* Fill in what the command line says; no file is read. */
void run_root_assume(const struct arguments *args, struct run_plan *out);

/* A task, given a struct run: fill in shared->plan. */
void run_root_plan(void *self);

/* The same without reading the configuration and the root. */
void run_root_flee(void *self);

#endif
