/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_OPEN_H
#define TKBUNDLE_COMPILE_OPEN_H

#include "compile/compile_input.h"
#include "compile/compile_work.h"

/* What `compile` needs before it begins. What fails is printed. */

/* Start the workers, as the options say. */
enum status compile_open(struct compile_work *work);

/* Choose where entries go; *root_out is what work->root points to. */
enum status compile_open_root(struct compile_work *work, char **root_out);

/* Open the file of --log, if one is named. */
enum status compile_open_log_file(struct compile_work *work);

/* A sink for sources; its `write` is NULL where nothing is logged. */
struct tkb_sink compile_open_log(struct compile_work *work);

#endif
