/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_TESTS_ORACLE_GPU_H
#define TKB_TESTS_ORACLE_GPU_H

/*
 * Kernels for tests/gpu/oracle.sh. `folder` gets NUMBER.ll, and NUMBER.io: for
 * each input the bytes that it is, and those that one thread leaves behind, as
 * gpu/oracle/oracle.c has them.
 */

#include "finalize_fixture.h"

/* The first `count` random kernels that say what each byte is. */
void oracle_write_kernels(const char *folder, unsigned count);

#endif
