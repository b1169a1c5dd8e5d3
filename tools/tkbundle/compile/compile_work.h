/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_WORK_H
#define TKBUNDLE_COMPILE_WORK_H

#include "compile/compile_item.h"

/*
 * The work of `compile`: each input for each target, through one compiler.
 * Items are begun and ended in order, and some are begun ahead, so that the
 * output does not depend on which one is done first.
 */

/*
 * Make the items, and find the tools. A failure is printed; it does not belong
 * to a single input.
 *
 * @param operands  the inputs; borrowed until release
 */
enum status compile_work_begin(struct compile_work *work,
                               const char *const *operands, size_t count);

/* Compile all items. Failures are printed, and counted. */
void compile_work_do(struct compile_work *work);

/* For TKB_AUTO: end the workers. */
void compile_work_release(struct compile_work *work);

/* Convert "cuda:90" for the library. */
void compile_work_target(const struct tkb_target *target, char out[64]);

#endif
