/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_CLOCK_H
#define TKB_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC, in nanoseconds. */
uint64_t tkb_now_ns(void);

#endif
