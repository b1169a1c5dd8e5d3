/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_COMPILE_FATAL_H
#define TKB_COMPILE_FATAL_H

/*
 * End the job at hand with LLVM's `reason`, and then the process, which LLVM does
 * not let go on. The job has failed, and is not tried again: it would end the
 * same. Does not return.
 */
void fatal_end(const char *reason);

#endif
