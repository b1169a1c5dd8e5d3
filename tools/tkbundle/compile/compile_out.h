/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKBUNDLE_COMPILE_OUT_H
#define TKBUNDLE_COMPILE_OUT_H

#include "compile/compile_item.h"

/* Print the result of each item when it ends, and the summary. */

/*
 * Report a success; `compiled` is NULL if another item with the same key was
 * compiled.
 */
void compile_out_done(struct compile_work *work,
                      const struct compile_item *item,
                      const struct tkb_compiled *compiled);

/* Report a failure: the reason, and below it the tools' whole output. */
void compile_out_failed(struct compile_work *work,
                        const struct compile_item *item);

/* Report an item that was not done. */
void compile_out_left(struct compile_work *work,
                      const struct compile_item *item);

/* Print the output of the tools, line by line. */
void compile_out_log(const struct cli *cli, struct tkb_bytes log);

/*
 * Add to `noted`, of `size` bytes, the tools that took part, each once: "LLVM
 * 22.1.8, ptxas 13.0.88 (/...)". A text that does not fit is cut.
 */
void compile_out_note_tools(char *noted, size_t size, const char *tools);

#endif
