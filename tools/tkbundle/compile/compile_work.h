/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_WORK_H
#define TKBUNDLE_COMPILE_WORK_H

#include "compile/compile_item.h"

/*
 * The work of `compile`: each input for each target, through one compiler. They
 * are begun in their order, some ahead, and end in it, so that what is printed
 * does not depend on which is done first.
 */

/*
 * Make the items, and find out which tools there are. A failure, which is about
 * no single input, is printed.
 *
 * @param operands  the inputs; borrowed until release
 */
enum status compile_work_begin(struct compile_work *work,
                               const char *const *operands, size_t count);

/* Do it all. What fails is printed, and counted. */
void compile_work_do(struct compile_work *work);

/* For TKB_AUTO: end the workers. */
void compile_work_release(struct compile_work *work);

/* "cuda:90", as the library wants it. */
void compile_work_target(const struct tkb_target *target, char out[64]);

#endif
