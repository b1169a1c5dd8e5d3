/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_OUT_H
#define TKBUNDLE_COMPILE_OUT_H

#include "compile/compile_item.h"

/* What `compile` prints for each item when it ends, and at the end. */

/* It ended well; `compiled` may be NULL: an item with the same key did. */
void compile_out_done(struct compile_work *work,
                      const struct compile_item *item,
                      const struct tkb_compiled *compiled);

/* It failed: the reason, and below it the tools' whole output. */
void compile_out_failed(struct compile_work *work,
                        const struct compile_item *item);

/* It was not done. */
void compile_out_left(struct compile_work *work,
                      const struct compile_item *item);

/* Print what tools said, line by line. */
void compile_out_log(const struct cli *cli, struct tkb_bytes log);

/*
 * Note in `noted`, of `size` bytes, which tools took part, each once: "LLVM 22.1.8,
 * ptxas 13.0.88 (/...)". What does not fit is cut off.
 */
void compile_out_note_tools(char *noted, size_t size, const char *tools);

#endif
