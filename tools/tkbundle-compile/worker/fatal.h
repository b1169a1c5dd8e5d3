/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FATAL_H
#define TKB_COMPILE_FATAL_H

/*
 * Fail the current job with LLVM's `reason`, and end the process, since LLVM
 * cannot continue. The job is not tried again, as it would end the same way.
 * Does not return.
 */
void fatal_end(const char *reason);

#endif
