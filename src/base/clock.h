/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_CLOCK_H
#define TKB_BASE_CLOCK_H

#include <stdint.h>

#define TKB_NS_PER_MS ((uint64_t)1000000)
#define TKB_NS_PER_S ((uint64_t)1000000000)

/* CLOCK_MONOTONIC, in nanoseconds. */
uint64_t tkb_now_ns(void);

/* CLOCK_REALTIME, in nanoseconds since 1970. */
int64_t tkb_wall_ns(void);

#endif
