/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_OPEN_H
#define TKBUNDLE_COMPILE_OPEN_H

#include "compile/compile_input.h"
#include "compile/compile_work.h"

/* Prepare what `compile` needs before it begins. Failures are printed. */

/* Start the workers that the options describe. */
enum status compile_open(struct compile_work *work);

/*
 * Choose where entries are written; *root_out owns the path that work->root
 * points to.
 */
enum status compile_open_root(struct compile_work *work, char **root_out);

/* Open the file of --log, if one is named. */
enum status compile_open_log_file(struct compile_work *work);

/* A sink for sources; its `write` is NULL if nothing is logged. */
struct tkb_sink compile_open_log(struct compile_work *work);

#endif
