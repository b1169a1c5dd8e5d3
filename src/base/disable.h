/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TKB_BASE_DISABLE_H
#define TKB_BASE_DISABLE_H

#include <stdbool.h>

/*
 * Has whoever started this process turned tkbundle off, by TKBUNDLE_DISABLE in
 * the environment: set, and neither empty nor "0"? It is asked by the functions
 * of the library that do a whole work, where it begins; a caller that knows
 * better says so by `is_enabled` in its options.
 */
bool tkb_is_disabled(void);

#endif
